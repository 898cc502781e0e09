"""Plans that search for items give the same advice, and the same choice of post-processing."""

import pytest

import sottovoce as sv
from sottovoce.plans.itemsets.advice import advise_items

PLANS = {
    "items": sv.TopItems(range(40), 5),
    "sets": sv.Itemsets(range(40), 5),
    "adaptive": sv.AdaptiveTopItems(range(40), 10_000, 5),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_shares_of_candidates_are_not_made_to_sum_to_one(plan):
    assert plan.methods[0] == "none"
    assert "base-pos" in plan.methods
    assert "norm-sub" not in plan.methods


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_advice_is_about_its_items_and_how_many_are_sought(plan):
    given = plan.advise(20_000, 2.0, basket=3.0, share=0.1)
    assert given == advise_items(20_000, 40, 2.0, top=5, basket=3.0, share=0.1)
