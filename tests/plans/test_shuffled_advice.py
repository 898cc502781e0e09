"""Advice about shuffled histograms: what it promises is what the chooser and accountant say."""

import json
from math import sqrt

import pytest

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.targets import CentralTarget, default_against_users
from sottovoce.errors import ParameterError
from sottovoce.plans.shuffled_advice import NO_CAP, advise_shuffled
from sottovoce.plans.shuffled_choice import Yardsticks, choose_shuffled

USERS, SIZE, EPSILON = 100_000, 1_024, 0.5


@pytest.fixture(scope="module")
def capped():
    """Return advice where the default cap of 6 binds."""
    return advise_shuffled(USERS, SIZE, EPSILON, fakes=0)


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


def test_it_says_what_a_cap_costs_and_which_one_costs_nothing(capped):
    target = CentralTarget(EPSILON, 1e-9)
    free = choose_shuffled(SIZE, target, ShuffledBatch(USERS), NO_CAP)
    gaussian = Yardsticks.of(SIZE, target, USERS).gaussian
    cost = capped.cap_cost
    assert cost.of_uncapped == pytest.approx(capped.error**2 / free.mse)
    assert cost.of_gaussian == pytest.approx(capped.error**2 / gaussian)
    assert cost.uncapped_of_gaussian == pytest.approx(free.mse / gaussian)
    assert 0 <= cost.free_cap - free.mechanism.epsilon < 0.01
    text = str(capped)
    assert "6 on the local epsilon binds" in text
    assert f"{cost.of_uncapped:.3g} times the mean squared error of the best choice" in text
    assert f"{cost.of_gaussian:.3g} times that of a curator" in text
    assert f"{cost.free_cap:g}: if all shufflers lie" in text


def test_the_cap_that_it_names_costs_nothing_and_a_smaller_one_does(capped):
    named = capped.cap_cost.free_cap
    assert advise_shuffled(USERS, SIZE, EPSILON, fakes=0, local=named).cap_cost is None
    below = advise_shuffled(USERS, SIZE, EPSILON, fakes=0, local=named - 0.1).cap_cost
    print(below)
    assert 1 < below.of_uncapped < 1.5


def test_a_cap_that_does_not_bind_is_not_mentioned():
    advice = advise_shuffled(USERS, SIZE, 0.1, fakes=0)
    assert advice.guarantee.local < 6
    assert advice.cap_cost is None
    assert "cap" not in str(advice)
    assert advice.to_dict()["cap_cost"] is None


def test_the_cost_of_a_cap_is_data_too(capped):
    assert capped.to_dict()["cap_cost"]["free_cap"] == capped.cap_cost.free_cap


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
