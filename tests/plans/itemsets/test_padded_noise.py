"""The errors of counts of items: what padding loses, and estimates side by side."""

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise, SetNoise
from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets.padded_noise import JoinedNoise, PaddedNoise

RAW = Estimate(np.array([400.0, 20.0, -30.0]), SetNoise.sampled(0.5, 0.1, 2), 1000, 1.0)


def corrected(highest):
    noise = PaddedNoise(RAW.votes, RAW.noise, whole=False, highest=highest)
    return Estimate(1.1 * RAW.votes, noise, 1000, 1.0, raw=RAW)


def test_bounds_reach_from_the_raw_counts_to_the_highest_factor():
    low, high = RAW.interval()
    wide_low, wide_high = corrected(1.3).interval()
    assert wide_low == pytest.approx(np.minimum(low, np.minimum(1.3 * low, 1.1 * RAW.votes)))
    assert wide_high == pytest.approx(np.maximum(high, 1.3 * high))
    assert corrected(1.3).picked(np.array([1])).noise.highest == 1.3


def test_what_stands_out_is_what_stood_out_before():
    assert corrected(1.3).significant().tolist() == RAW.significant().tolist()
    unprocessed = Estimate(RAW.votes, corrected(1.3).noise, 1000, 1.0)
    assert unprocessed.threshold() == RAW.threshold()


def joined():
    """Two groups of one population, with different mechanisms and numbers of users."""
    first = Estimate(np.array([50.0, 10.0]), IndependentNoise.of(0.5, 0.1), 300, 1.0, 1000)
    second = Estimate(np.array([40.0]), IndependentNoise.of(0.6, 0.2), 500, 1.0, 1000)
    totals = np.concatenate([first.totals, second.totals])
    noise = JoinedNoise((first, second), np.arange(3))
    return first, second, Estimate(totals, noise, 1000, 1.0)


def test_cells_of_joined_estimates_keep_their_own_laws():
    first, second, both = joined()
    assert both.variance == pytest.approx(np.concatenate([first.variance, second.variance]))
    bounds = both.interval(0.9)
    for part, cells in ((first, slice(0, 2)), (second, slice(2, 3))):
        for bound, own in zip(bounds, part.interval(0.9), strict=True):
            assert bound[cells] == pytest.approx(own)
    limits = both.noise.unheld_votes(both.votes, 1000, 0.01)
    assert limits[2] == pytest.approx(second.threshold(0.01, 1))
    assert limits[:2] == pytest.approx(first.threshold(0.01, 1))


def test_picked_cells_of_joined_estimates_are_those_cells():
    _, second, both = joined()
    picked = both.picked(np.array([2, 0]))
    assert picked.variance[0] == pytest.approx(second.variance[0])
    assert picked.weighted(np.array([1.0, 0.0])).variance == pytest.approx(second.variance[0])


def test_counts_of_several_items_do_not_add_up():
    with pytest.raises(ParameterError, match="several items"):
        joined()[2].sum(np.array([0, 1]))
