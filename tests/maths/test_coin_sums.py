"""Tails of sums of coins: against the convolution of binomial laws."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from sottovoce.maths.coin_sums import Coins

# Coins of two kinds, their chances, and how far a tail may be off in proportion.
SUMS = [
    ((0, 100), (0.5, 0.018), 0.01),
    ((5, 95), (0.98, 0.001), 0.12),
    ((30, 970), (0.5, 0.12), 1e-3),
    ((2, 3), (0.7, 0.3), 0.04),
    ((0, 10), (0.5, 0.018), 0.06),
]


def law(numbers, chances):
    """The probability of every sum."""
    parts = [
        binom.pmf(np.arange(number + 1), number, chance)
        for number, chance in zip(numbers, chances, strict=True)
    ]
    return np.convolve(*parts)


def coins(numbers, chances, count):
    weights = np.repeat(np.array(numbers, float)[:, None], count, axis=1)
    return Coins(weights, np.array(chances)[:, None])


@pytest.mark.parametrize(("numbers", "chances", "off"), SUMS)
def test_tails_are_those_of_the_convolution(numbers, chances, off):
    probabilities = law(numbers, chances)
    tails = probabilities[::-1].cumsum()[::-1]
    least = np.arange(1, sum(numbers) + 1)
    scores = coins(numbers, chances, len(least)).scores(least - 0.5)
    seen = tails[1:] > 1e-13
    assert norm.sf(scores)[seen] == pytest.approx(tails[1:][seen], rel=off)


def test_a_normal_law_is_wrong_by_factors_where_supports_are_rare():
    """The broken twin: 100 coins that show 1 with chance 0.018, and an event of one in 5,000."""
    numbers, chances = (0, 100), (0.5, 0.018)
    tail = law(numbers, chances)[9:].sum()
    sums = coins(numbers, chances, 1)
    twin = norm.sf((8.5 - sums.mean()) / np.sqrt(sums.variance()))[0]
    assert tail > 100 * twin
    assert norm.sf(sums.scores(np.array([8.5])))[0] == pytest.approx(tail, rel=0.01)


def test_the_score_is_continuous_at_the_mean():
    sums = coins((20, 80), (0.6, 0.1), 3)
    border = sums.mean()[0]
    below, at, above = sums.scores(border + np.array([-0.02, 0.0, 0.02]))
    assert below < at < above
    assert at == pytest.approx((below + above) / 2, abs=1e-4)


def test_borders_beyond_all_sums_are_certain():
    scores = coins((1, 2), (0.5, 0.2), 3).scores(np.array([-0.5, 1.5, 3.5]))
    assert scores[0] == -np.inf
    assert np.isfinite(scores[1])
    assert scores[2] == np.inf


def test_kinds_with_no_coins_change_nothing():
    with_none = Coins(np.array([[10.0], [0.0]]), np.array([[0.3], [0.9]]))
    alone = Coins(np.array([[10.0]]), np.array([[0.3]]))
    border = np.array([5.5])
    assert with_none.scores(border) == pytest.approx(alone.scores(border))
