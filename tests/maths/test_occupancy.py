"""The mean of the fullest bin equals that of all ways to place the balls, one by one."""

from fractions import Fraction
from itertools import product

import pytest

from sottovoce.maths.occupancy import mean_largest


@pytest.mark.parametrize(
    ("balls", "bins"), [(balls, bins) for balls in range(1, 6) for bins in range(1, 6)]
)
def test_the_mean_is_that_of_all_ways(balls, bins):
    ways = list(product(range(bins), repeat=balls))
    largest = [max(way.count(place) for place in range(bins)) for way in ways]
    assert mean_largest(balls, bins) == float(Fraction(sum(largest), len(ways)))


def test_the_extremes():
    assert mean_largest(0, 7) == 0
    assert mean_largest(1, 1 << 20) == 1
    assert mean_largest(12, 1) == 12
    # 2 balls meet with probability 1 / bins
    assert mean_largest(2, 1 << 20) == 1 + 2.0**-20


def test_more_balls_and_fewer_bins_fill_a_bin_more():
    means = [mean_largest(balls, 4) for balls in range(1, 16)]
    assert means == sorted(means)
    assert all(balls / 4 <= mean <= balls for balls, mean in enumerate(means, 1))
    by_bins = [mean_largest(10, bins) for bins in (1, 2, 4, 8, 64, 4096)]
    assert by_bins == sorted(by_bins, reverse=True)
