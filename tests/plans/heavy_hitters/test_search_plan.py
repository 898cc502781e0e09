"""What searches have in common, whether they keep a prefix length that needs no question or not."""

import pytest

from sottovoce.domains.bits import Bits
from sottovoce.lab.baselines.pem import PrefixExtending
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task

PLANS = [kind(Bits(12), 4, groups=2) for kind in (HeavyHitters, PrefixExtending)]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kind)
def test_a_cell_is_a_value_in_the_last_group_and_a_prefix_before(plan):
    asked = Task("values", plan, 2.0).opening
    assert plan.lengths[-2:] == (7, 12)
    assert plan.cell_label(asked, Address(0, 0), 5) == "prefix 0000101"
    assert plan.cell_label(asked, Address(0, 1), 5) == Bits(12).shown(5)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kind)
def test_every_group_is_asked_about_its_prefix(plan):
    asked = Task("values", plan, 2.0).opening
    expected = tuple(plan.question_about(2.0, length) for length in (7, 12))
    assert asked.ask.members == expected


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kind)
def test_shares_of_candidates_are_not_made_to_sum_to_one(plan):
    assert plan.methods[0] == "none"
    assert "base-pos" in plan.methods
    assert "norm-sub" not in plan.methods


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kind)
def test_the_most_frequent_values_are_sought(plan):
    values = [number for number in range(6) for _ in range(10 - number)]
    assert list(plan.sought(values).values()) == [10, 9, 8, 7]
    assert plan.takes_fakes
