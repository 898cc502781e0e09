"""The bound in plain floats: what devices compute, against SciPy and against exact fractions."""

import subprocess
import sys
from fractions import Fraction
from math import log

import numpy as np
import pytest

from sottovoce.accounting import amplification
from sottovoce.accounting.blanket import Blanket
from sottovoce.errors import ParameterError
from sottovoce.lab.truth import shuffled
from sottovoce.lab.truth.shuffled import RationalBlanket

MAX_DEVIATION = 0.02  # of delta
PARAMETER_SETS = 200


def random_sets():
    """Return seeded blankets, batches and epsilons with deltas of practical use."""
    generator = np.random.default_rng(10)
    found = []
    while len(found) < PARAMETER_SETS:
        buckets = int(generator.integers(2, 600))
        overlap = float(generator.choice([0.0, 1 / buckets]))
        blanket = Blanket(float(generator.uniform(0.5, 7)), 1 / buckets, overlap)
        users = int(10 ** generator.uniform(1, 4))
        fakes = int(generator.choice([0, users // 5]))
        epsilon = blanket.epsilon_local * float(generator.uniform(0, 0.9)) ** 2
        with_scipy = blanket.delta(users, fakes, epsilon, 1)
        if 1e-12 < with_scipy < 0.1:
            found.append((blanket, blanket.batch(users, fakes), epsilon, with_scipy))
    return found


def test_a_limit_is_compared_as_delta_would_be():
    for blanket, batch, epsilon, _ in random_sets()[::10]:
        exact = amplification.delta(blanket, batch, epsilon)
        below = float(np.nextafter(exact, 0))
        for limit, is_within in ((2 * exact, True), (exact, True), (below, False), (0.0, False)):
            assert amplification.is_within(blanket, batch, epsilon, limit) is is_within


def test_devices_and_scipy_agree():
    worst = 0.0
    for blanket, batch, epsilon, with_scipy in random_sets():
        plain = amplification.delta(blanket, batch, epsilon)
        worst = max(worst, abs(plain / with_scipy - 1))
        assert plain == pytest.approx(with_scipy, rel=MAX_DEVIATION), (blanket, batch, epsilon)
    print("largest relative deviation of delta:", worst)


@pytest.mark.parametrize(
    "blanket", [Blanket(2.0, 0.25), Blanket(4.0, 1 / 16, 1 / 16), Blanket.generic(1.0)]
)
def test_epsilon_is_that_of_scipy_with_one_block(blanket):
    plain = amplification.epsilon(blanket, blanket.batch(5000), 1e-8)
    assert plain == pytest.approx(blanket.epsilon(5000, 0, 1e-8, 1), rel=1e-3)
    assert amplification.delta(blanket, blanket.batch(5000), plain) <= 1e-8 * 1.01


@pytest.mark.parametrize(
    ("blanket", "epsilon"), [(Blanket(5.0, 1 / 64, 1 / 64), 2e-3), (Blanket(1.0, 0.5, 0.5), 3e-4)]
)
def test_the_largest_batches_are_accounted_for_as_well(blanket, epsilon):
    """A hundred million people: blocks grow with the batch, so that the work does not."""
    plain = amplification.delta(blanket, blanket.batch(10**8), epsilon)
    assert plain == pytest.approx(blanket.delta(10**8, 0, epsilon, 1), rel=MAX_DEVIATION)
    assert 1e-12 < plain < 0.1


@pytest.mark.parametrize("users", [1, 2, 9])
@pytest.mark.parametrize(
    "rational",
    [
        RationalBlanket(Fraction(7), Fraction(1, 4), Fraction(0)),
        RationalBlanket(Fraction(5, 2), Fraction(1, 2), Fraction(1, 2)),
        RationalBlanket(Fraction(4), Fraction(3, 4), Fraction(2, 3)),
    ],
)
def test_the_bound_is_never_below_the_exact_blanket(rational, users):
    blanket = Blanket(log(rational.odds), float(rational.share), float(rational.overlap))
    for central_odds in (Fraction(1), Fraction(11, 10), Fraction(3, 2)):
        exact = shuffled.blanket_delta(rational, users, 3, central_odds)
        found = amplification.delta(blanket, blanket.batch(users, 3), log(central_odds))
        assert found >= exact


def test_without_other_users_the_fakes_alone_are_exact():
    rational = RationalBlanket(Fraction(7), Fraction(1, 4), Fraction(1, 5))
    blanket = Blanket(log(7), 0.25, 0.2)
    exact = float(shuffled.blanket_delta(rational, 1, 12, Fraction(6, 5)))
    found = amplification.delta(blanket, blanket.batch(1, 12), log(1.2))
    assert found == pytest.approx(exact, rel=1e-7)


def test_at_the_local_epsilon_nothing_is_left():
    blanket = Blanket(2.0, 0.25)
    assert amplification.delta(blanket, blanket.batch(10), 2.0) == 0.0
    assert amplification.epsilon(blanket, blanket.batch(1), 1e-6) <= 2.0


def test_settings_out_of_range_are_refused_by_name():
    blanket = Blanket(2.0, 0.25)
    with pytest.raises(ParameterError, match="`epsilon` must be a number of at least 0"):
        amplification.delta(blanket, blanket.batch(10), -1.0)
    with pytest.raises(ParameterError, match="`delta` must be a number above 0 and below 1"):
        amplification.epsilon(blanket, blanket.batch(10), 0.0)


def test_devices_need_neither_scipy_nor_numpy():
    script = """
import sys
from sottovoce.accounting import amplification
from sottovoce.accounting.blanket import Blanket
blanket = Blanket(2.0, 0.25)
assert 0 < amplification.epsilon(blanket, blanket.batch(1000), 1e-6) < 0.41
assert not {"numpy", "scipy"} & set(sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
