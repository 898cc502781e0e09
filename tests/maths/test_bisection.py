"""Bisection against boundaries that are known."""

import numpy as np
import pytest

from sottovoce.maths.bisection import bisect, bisect_rows, bisect_to_width, bisect_whole


@pytest.mark.parametrize("boundary", [0.0, 0.3, 1.0])
def test_the_interval_contains_the_boundary_and_halves_every_time(boundary):
    for halvings in range(1, 12):
        bracket = bisect(lambda number: number < boundary, 0.0, 1.0, halvings=halvings)
        assert bracket.low <= boundary <= bracket.high
        assert bracket.high - bracket.low == 2.0**-halvings


def test_the_ends_are_never_evaluated():
    seen = []
    bisect(lambda number: seen.append(number) or number < 0.5, 0.0, 1.0, halvings=20)
    assert 0.0 not in seen
    assert 1.0 not in seen


def test_a_width_is_reached_and_not_undercut():
    bracket = bisect_to_width(lambda number: number < 0.3, 0.0, 1.0, 0.01)
    assert 0.005 < bracket.high - bracket.low <= 0.01
    assert bracket.low <= 0.3 <= bracket.high
    assert bracket.middle == (bracket.low + bracket.high) / 2


def test_an_interval_that_is_narrow_enough_stays_as_it_is():
    assert bisect_to_width(lambda number: True, 0.0, 0.05, 0.1) == (0.0, 0.05)


def test_every_row_is_bisected_as_if_it_were_alone():
    boundaries = np.array([0.1, 0.5, 0.93])
    low, high = bisect_rows(lambda middle: middle < boundaries, np.zeros(3), np.ones(3), halvings=9)
    for row, boundary in enumerate(boundaries.tolist()):
        alone = bisect(lambda number, edge=boundary: number < edge, 0.0, 1.0, halvings=9)
        assert (low[row], high[row]) == alone


@pytest.mark.parametrize("boundary", [513, 700, 1024])
def test_a_whole_number_is_above_the_boundary_by_at_most_one_part(boundary):
    exact = bisect_whole(lambda number: number < boundary, 512, 1024, parts=1 << 20)
    assert exact == boundary
    rough = bisect_whole(lambda number: number < boundary, 512, 1024, parts=100)
    assert boundary <= rough <= boundary + rough // 100
