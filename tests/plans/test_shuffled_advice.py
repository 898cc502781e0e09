"""Advice about shuffled histograms: what it promises is what the chooser and accountant say."""

import json
from math import sqrt

import pytest

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.targets import CentralTarget, default_against_users
from sottovoce.errors import ParameterError
from sottovoce.plans.shuffled_advice import advise_shuffled
from sottovoce.plans.shuffled_choice import Yardsticks, choose_shuffled

USERS, SIZE, EPSILON = 100_000, 1_024, 0.5


def test_it_is_the_choice_with_its_guarantee_and_error():
    advice = advise_shuffled(USERS, SIZE, EPSILON, fakes=2_000, delta=1e-8, local=5.0)
    target = CentralTarget(EPSILON, 1e-8)
    chosen = choose_shuffled(SIZE, target, ShuffledBatch(USERS, 2_000), 5.0)
    assert advice.guarantee == chosen.guarantee
    assert advice.error == pytest.approx(sqrt(chosen.mse))
    assert (advice.mechanism, advice.buckets) == (chosen.mechanism.kind, chosen.mechanism.buckets)
    beside = Yardsticks.of(SIZE, target, USERS)
    errors = [row.error**2 for row in advice.errors]
    expected = [chosen.mse, beside.gaussian, beside.laplace, beside.local]
    assert errors == pytest.approx(expected)


@pytest.mark.parametrize("local", [6.0, 8.0])
def test_the_advised_fakes_protect_from_all_other_users(local):
    advice = advise_shuffled(USERS, SIZE, EPSILON, local=local)
    guarantee = advice.guarantee
    print(advice.fakes, guarantee)
    assert advice.fakes > 0
    assert guarantee.against_users <= default_against_users(guarantee.local) * (1 + 1e-6)
    assert guarantee.central <= EPSILON * (1 + 1e-6)
    assert guarantee.local <= local


def test_it_says_where_the_cap_binds():
    assert advise_shuffled(USERS, SIZE, EPSILON, fakes=0).is_capped
    free = advise_shuffled(USERS, SIZE, EPSILON, fakes=0, local=8.0)
    assert not free.is_capped
    assert "held at" in str(advise_shuffled(USERS, SIZE, EPSILON, fakes=0))
    assert "held at" not in str(free)


def test_the_three_epsilons_are_always_shown_together():
    advice = advise_shuffled(USERS, SIZE, EPSILON, fakes=2_000)
    text = str(advice)
    for epsilon in (
        advice.guarantee.central,
        advice.guarantee.against_users,
        advice.guarantee.local,
    ):
        assert f"epsilon {epsilon:.3g}" in text
    assert "1e-09" in text


def test_it_is_plain_data():
    advice = advise_shuffled(1_000, 8, 0.5, fakes=10)
    read = json.loads(advice.to_json())
    assert read["guarantee"] == advice.guarantee.to_dict()
    assert [row["trust"] for row in advice.rows()] == [row.trust for row in advice.errors]
    assert advice.facts()["fakes"] == 10


@pytest.mark.parametrize(
    ("wishes", "named"),
    [({"delta": 0.0}, "delta"), ({"local": -1.0}, "local"), ({"fakes": -1}, "fakes")],
)
def test_wishes_out_of_range_are_refused_by_name(wishes, named):
    with pytest.raises(ParameterError, match=f"`{named}` must be"):
        advise_shuffled(USERS, SIZE, EPSILON, **wishes)
