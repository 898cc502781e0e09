"""What graded groups answer: details, the raw estimate, means with bounds, and every shell."""

import json
from functools import cache

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.biased_numbers import BiasedNumbers
from sottovoce.plans.numbers.graded_answer import NO_ATTACK

PEOPLE = np.random.default_rng(4).beta(2, 5, 6_000) * 10
ATTACK = {"attack": BiasedNumbers(8, 1, chosen=(7,)), "share": 0.25}
ENROLLED = sv.Collection(enrolment=True)


def task(plan, collection=ENROLLED):
    return sv.Task("hours", plan, 1.0, collection=collection)


@cache
def shape(attacked):
    plan = sv.Distribution(0, 10, 32, defence="graded", probe=0.125)
    return sv.simulate(task(plan), PEOPLE, seed=3, **(ATTACK if attacked else {}))


@cache
def mean(attacked):
    plan = sv.Mean(0, 10, defence="graded", probe=0.125)
    return sv.simulate(task(plan), PEOPLE, seed=3, **(ATTACK if attacked else {}))


def test_without_an_attack_the_answer_is_the_raw_one_and_says_so():
    answer = shape(attacked=False)
    assert answer.details["remark"] == NO_ATTACK
    assert not answer.details["attack_seen"]
    assert answer.estimate.raw is None
    assert answer.estimate.steps == ("graded groups", "ems", "bootstrap")
    assert NO_ATTACK in str(answer)
    low, high = answer.mean().interval(0.9999)
    assert low < PEOPLE.mean() < high


def test_an_attack_is_removed_and_what_it_did_stays_retrievable():
    answer = shape(attacked=True)
    assert answer.details["attack_seen"]
    assert answer.details["false_share"] == pytest.approx(0.25, abs=0.05)
    assert answer.estimate.steps == ("graded groups", "de-remf*", "bootstrap")
    raw = answer.raw
    assert raw.estimate.steps == ("graded groups", "ems", "bootstrap")
    defended = abs(answer.mean().total - PEOPLE.mean())
    undefended = abs(raw.mean().total - PEOPLE.mean())
    print(f"mean off by {defended:.3f} with the defence, {undefended:.3f} without it")
    assert defended < undefended / 2
    assert "An attack was seen" in str(answer)


def test_the_details_say_what_each_group_was_worth():
    details = shape(attacked=True).details
    rows = details["graded_groups"]
    assert [(row["epsilon"], row["reports"]) for row in rows] == [
        (1.0, 1),
        (0.5, 2),
        (0.25, 4),
        (0.125, 8),
    ]
    assert sum(row["users"] for row in rows) == 8_000
    assert sum(row["weight"] for row in rows) == pytest.approx(1)
    assert any(low >= 0.4 and high == 1 for low, high in rows[-1]["poisoned"])
    assert details["likelihood_gain"] > 0
    assert details["misfit"] > details["misfit_threshold"]
    assert json.loads(shape(attacked=True).to_json())["graded_groups"] == rows


def test_the_mean_is_that_of_the_distribution_and_keeps_the_undefended_one():
    answer = mean(attacked=True)
    assert answer.about["attack_seen"]
    error = abs(answer["mean"].total - PEOPLE.mean())
    undefended = answer.about["undefended_mean"]
    assert error < abs(undefended - PEOPLE.mean()) / 2
    assert abs(answer["mean"].total - shape(attacked=True).mean().total) < 0.5
    low, high = answer.about["undefended_interval"]
    assert low < undefended < high
    assert "An attack was seen" in str(answer)
    assert NO_ATTACK in str(mean(attacked=False))


@pytest.mark.parametrize("answer", [shape, mean])
def test_bounds_that_allow_for_false_reports_contain_the_truth(answer):
    found = answer(attacked=True)
    figure = found.mean() if answer is shape else found["mean"]
    low, high = figure.attacked(0.95, 0.25)
    assert low < PEOPLE.mean() < high
    assert low < figure.interval()[0]


def test_where_attackers_choose_their_group_no_bound_is_known():
    plan = sv.Distribution(0, 10, 16, defence="graded", probe=0.5)
    with pytest.warns(match="attackers choose their group"):
        answer = sv.simulate(task(plan, None), PEOPLE[:500], seed=3)
    assert answer.mean().attacked(0.95, 0.25) is None


def test_a_few_people_are_enough_for_an_answer():
    """Groups that nobody is in are left out."""
    plan = sv.Distribution(0, 10, 8, defence="graded")
    answer = sv.simulate(task(plan), PEOPLE[:3], seed=3)
    assert answer.users == 3
    assert len(answer.details["graded_groups"]) <= 3


def test_a_mechanism_beside_a_defence_is_refused():
    with pytest.raises(ParameterError, match="`mechanism` must be left out"):
        sv.Mean(0, 1, "hybrid", defence="graded")


def test_the_answer_says_whether_the_groups_disagree():
    assert shape(attacked=False).details["groups_disagree"] is False
    assert shape(attacked=True).details["groups_disagree"] in (True, False)
