"""How sure a top k is."""

from math import erfc, exp, expm1, sqrt

import numpy as np
import pytest

from sottovoce.plans.itemsets.adaptive_sampling import ItemReports
from sottovoce.plans.itemsets.confidence import doubt, p_values, pruning_odds


def asked(rates, times, sought):
    times = np.broadcast_to(np.asarray(times), len(rates)).copy()
    return ItemReports(times, np.round(np.array(rates) * times).astype(np.int64), sought)


def tail(high, low, times_high, times_low):
    """The chance of such a lead by the normal law, written out."""
    error = sqrt(high * (1 - high) / times_high + low * (1 - low) / times_low)
    return erfc((high - low) / error / sqrt(2)) / 2


def test_leads_are_judged_against_the_other_side_of_the_boundary():
    known = asked([0.3, 0.7, 0.5, 0.4], [100, 50, 200, 100], 2)
    expected = [
        tail(0.7, 0.4, 50, 100),
        tail(0.5, 0.4, 200, 100),
        tail(0.5, 0.4, 200, 100),
        tail(0.5, 0.3, 200, 100),
    ]
    assert p_values(known) == pytest.approx(expected, rel=1e-12)
    assert doubt(known) == pytest.approx(-np.log10(np.prod(1 - np.array(expected))), rel=1e-9)


def test_equal_rates_are_a_toss_and_clear_ones_are_none():
    assert p_values(asked([0.5, 0.5, 0.5], 10, 1)) == pytest.approx([0.5, 0.5, 0.5])
    assert p_values(asked([1.0, 0.0, 0.0], 10, 1)).tolist() == [0, 0, 0]
    assert p_values(asked([1.0, 1.0, 0.0], 10, 1)).tolist() == [0.5, 0.5, 0]


def test_an_item_nobody_was_asked_about_is_a_toss():
    assert p_values(ItemReports(np.array([50, 50, 0]), np.array([40, 10, 0]), 1))[2] == 0.5


def test_doubt_does_not_saturate():
    many = asked(np.full(200, 0.5), 10, 100)
    assert doubt(many) == pytest.approx(200 * np.log10(2))


@pytest.mark.parametrize(("epsilon", "error"), [(1.0, 429), (2.0, 190), (3.0, 105)])
def test_a_hundredth_of_sets_of_five_hundred_drowns(epsilon, error):
    """Everybody has an item, but sets of 535: 93 of 50,000 users name it; the errors are the
    published case's.
    """
    odds = pruning_odds(50_000, epsilon, 1 / 535, 300 / 10_000)
    assert round(odds.count) == 93
    assert odds.error == pytest.approx(error, abs=0.6)
    assert odds.error == pytest.approx(sqrt(50_000 * 4 * exp(epsilon)) / expm1(epsilon))
    assert odds.count < odds.lead * odds.error
