"""The published closed forms: golden values, ranges, and that the accountant is below them."""

import pytest

from sottovoce.accounting.blanket import Blanket
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import closed_forms

GOLDEN = [
    (closed_forms.erlingsson, (0.4, 10**5, 1e-6), 0.05641891201),
    (closed_forms.cheu, (3.0, 10**5, 1e-6), 0.3202689964),
    (closed_forms.balle, (5.0, 100, 10**6, 1e-9), 0.2723635581),
    (closed_forms.local_hashing, (5.0, 100, 10**6, 1e-9), 0.2723635581),
    (closed_forms.unary, (8.0, 10**6, 1e-9), 0.2623701678),
    (closed_forms.removal, (4.0, 10**6, 1e-9), 0.1291123460),
]


@pytest.mark.parametrize(("bound", "settings", "expected"), GOLDEN)
def test_the_golden_values(bound, settings, expected):
    assert bound(*settings) == pytest.approx(expected, rel=1e-9)


def test_direct_response_is_the_binomial_mechanism_of_its_blanket():
    """Each value gets Bin(n - 1, 1 / (E + d - 1)) reports of the blanket."""
    users, odds, size = 10**6, 2.718281828459045**5, 100
    chance = 1 / (odds + size - 1)
    expected = closed_forms.balle(5.0, size, users, 1e-9)
    found = closed_forms.binomial_mechanism(users - 1, chance, 1e-9)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("local", "users", "first", "second"),
    [(1.0, 10**5, 0.0726, 0.0604), (4.0, 10**6, 0.2010, 0.1473)],
)
def test_the_closed_forms_for_any_mechanism(local, users, first, second):
    assert closed_forms.clones(local, users, 1e-6) == pytest.approx(first, abs=5e-5)
    assert closed_forms.stronger_clones(local, users, 1e-6) == pytest.approx(second, abs=5e-5)


@pytest.mark.parametrize(
    ("published", "blanket", "users"),
    [
        (closed_forms.erlingsson(0.4, 10**5, 1e-6), Blanket.generic(0.4), 10**5),
        (closed_forms.cheu(3.0, 10**5, 1e-6), Blanket(3.0, 0.5), 10**5),
        (closed_forms.balle(2.0, 16, 10**5, 1e-6), Blanket(2.0, 1 / 16), 10**5),
        (closed_forms.clones(2.0, 10**5, 1e-6), Blanket.generic(2.0), 10**5),
        (closed_forms.stronger_clones(2.0, 10**5, 1e-6), Blanket.generic(2.0), 10**5),
    ],
)
def test_the_accountant_is_below_every_valid_bound(published, blanket, users):
    found = blanket.epsilon(users, 0, 1e-6)
    print("published", published, "ours", found)
    assert found < 0.7 * published


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: closed_forms.erlingsson(0.6, 10**5, 1e-6),
            "`local` must be above 0 and below 0.5",
        ),
        (lambda: closed_forms.cheu(1.0, 10**5, 1e-6), "`local` is too small"),
        (lambda: closed_forms.balle(8.0, 100, 10**4, 1e-9), "up to a central epsilon of 1"),
        (lambda: closed_forms.balle(1.0, 4, 10**5, 0.3), "`delta` must be above 0 and below 0.29"),
        (lambda: closed_forms.balle(1.0, 4, 1, 1e-6), "`users` must be"),
        (lambda: closed_forms.unary(8.0, 10**6, 1e-9, "vectors"), "`shuffled` must be 'bits'"),
        (lambda: closed_forms.unary(8.0, 10**6, 1e-9, "rows"), "`shuffled` must be one of"),
        (lambda: closed_forms.clones(9.0, 10**5, 1e-6), "`local` is too large"),
        (lambda: closed_forms.stronger_clones(9.0, 10**5, 1e-6), "`local` is too large"),
    ],
)
def test_a_formula_is_refused_where_it_could_be_false(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
