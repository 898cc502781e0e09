"""Intervals by likelihood: equal to those found by trying every edge, and nested in the level."""

from functools import partial

import numpy as np
import pytest

from sottovoce.maths.em import Iteration, change_below, in_proportion
from sottovoce.maths.normal import quantile
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.likelihood_intervals import LikelihoodIntervals

SIZE = 12
WAVE = SquareWave(2.0, SIZE)
SHARES = np.array([0, 1, 4, 6, 9, 3, 1, 0, 0, 0, 2, 4]) / 30


def intervals(users=300, seed=1):
    chances = WAVE.sliding.forward(SHARES)
    counts = np.random.default_rng(seed).multinomial(users, chances / chances.sum())
    return LikelihoodIntervals(counts.astype(float), WAVE.sliding)


def climbed(counts, marked=None, share=None):
    """Return the fit of EM whose M-step keeps a share of people in some buckets."""

    def m_step(before, expected):
        if marked is None:
            return in_proportion(expected)
        kept = np.zeros(expected.shape)
        kept[:, marked] = share * in_proportion(expected[:, marked])
        kept[:, ~marked] = (1 - share) * in_proportion(expected[:, ~marked])
        return kept

    shares = counts[None] / counts.sum()
    start = m_step(None, np.full((1, SIZE), 1 / SIZE))
    return Iteration(WAVE.sliding, change_below(1e-7), 5_000, m_step).run(shares, start)


def most_likely(counts, marked=None, share=None):
    """Return the largest log-likelihood, given a share of people in some buckets."""
    return float(climbed(counts, marked, share).log_likelihood[0] * counts.sum())


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_quantiles_lie_between_the_edges_that_are_not_rejected(share):
    found = intervals()
    least = most_likely(found.counts) - quantile(0.95) ** 2 / 2
    below = [0, *climbed(found.counts).frequencies[0].cumsum()]
    equal = [
        most_likely(found.counts, np.arange(SIZE) < edge, share) >= least for edge in range(1, SIZE)
    ]
    at_least = [edge for edge in range(1, SIZE) if below[edge] >= share or equal[edge - 1]]
    at_most = [edge for edge in range(1, SIZE) if below[edge] <= share or equal[edge - 1]]
    first, last = found.quantile(share, 0.95)
    print(share, first, last, at_least, at_most)
    assert first == min([*at_least, SIZE]) - 1
    assert last == max([0, *at_most]) + 1
    assert first < last - 1  # there is something to find


def test_shares_are_rejected_beyond_their_bounds_and_not_within():
    found = intervals()
    least = most_likely(found.counts) + np.log(0.05)  # chi-squared with two degrees
    marked = np.isin(np.arange(SIZE), (2, 3, 4))
    low, high = found.share(marked, 0.95)
    for bound, outwards in ((low, -0.002), (high, 0.002)):
        assert most_likely(found.counts, marked, bound - outwards) >= least
        assert most_likely(found.counts, marked, bound + outwards) < least


def test_a_share_may_reach_the_ends_and_all_buckets_hold_everybody():
    found = intervals()
    nobody = np.isin(np.arange(SIZE), (7, 8))
    low, high = found.share(nobody, 0.95)
    assert low == 0
    assert 0 < high < 0.3
    assert found.share(np.ones(SIZE, bool), 0.95) == (1, 1)
    assert found.share(np.zeros(SIZE, bool), 0.95) == (0, 0)


def test_a_higher_level_gives_a_longer_interval():
    found = intervals()
    marked = np.arange(SIZE) < 5
    for read in (partial(found.quantile, 0.5), partial(found.share, marked)):
        narrow, wide = read(0.5), read(0.9999)
        assert wide[0] <= narrow[0] < narrow[1] <= wide[1]
        assert wide[1] - wide[0] > narrow[1] - narrow[0]
