"""Advice about searches for frequent items: which plan, and what it would find."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets.advice import advise_items


def test_large_sets_of_few_items_are_asked_about_one_by_one_and_small_sets_of_many_are_sampled():
    assert advise_items(10_000, 100, 2.0, top=30, basket=15).plan == "AdaptiveTopItems"
    assert advise_items(515_000, 1_657, 2.0, top=64, basket=6).plan == "TopItems"


@pytest.mark.parametrize(
    ("items", "top", "basket", "rounds"),
    [(10, 5, 1.0, 2), (11, 5, 1.0, 3), (100, 10, 60.0, 11), (101, 10, 60.0, 12)],
)
def test_rounds_are_those_of_the_plan(items, top, basket, rounds):
    """Sampling prunes to twice the sought items, asking one by one to ten times."""
    assert advise_items(1_000_000, items, 2.0, top=top, basket=basket).rounds == rounds


def test_a_hopeless_search_says_so():
    advice = advise_items(100_000, 10_000, 1.0, top=30, basket=535)
    assert advice.findable is None
    assert "nothing" in str(advice)
    assert "would find nothing" in advice.reason


def test_the_users_needed_make_the_share_findable():
    needed = advise_items(100_000, 900, 2.0, share=0.05).users_needed
    plan = advise_items(100_000, 900, 2.0, share=0.05).plan
    enough, too_few = advise_items(needed, 900, 2.0), advise_items(int(0.98 * needed), 900, 2.0)
    assert enough.plan == too_few.plan == plan
    assert enough.findable <= 0.05 < too_few.findable


@pytest.mark.parametrize(
    ("name", "setting"), [("users", 10), ("share", 1.0), ("basket", 0.0), ("epsilon", -1.0)]
)
def test_an_impossible_setting_is_refused_by_its_name(name, setting):
    settings = {"users": 10_000, "items": 100, "epsilon": 1.0, name: setting}
    with pytest.raises(ParameterError, match=f"`{name}`"):
        advise_items(**settings)
