"""Hiders and seekers: how many corrupted shufflers a shuffle tolerates."""

from itertools import combinations
from math import comb

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.peos.hider_sets import HiderSets


@pytest.mark.parametrize(
    ("shufflers", "hiders", "rounds", "tolerated"), [(3, 2, 3, 1), (5, 3, 10, 2), (7, 4, 35, 3)]
)
def test_the_published_numbers(shufflers, hiders, rounds, tolerated):
    sets = HiderSets(shufflers)
    assert (sets.hiders, len(sets.rounds), sets.tolerated) == (hiders, rounds, tolerated)
    assert len(set(sets.rounds)) == comb(shufflers, hiders)


@pytest.mark.parametrize("shufflers", [2, 3, 4, 5, 6, 7])
def test_the_threshold_is_exact(shufflers):
    """Every coalition up to r - t misses a round; every larger one is in all of them."""
    sets = HiderSets(shufflers, even=True)
    for size in range(shufflers + 1):
        missed = [sets.hides_from(set(some)) for some in combinations(range(shufflers), size)]
        assert all(missed) if size <= sets.tolerated else not any(missed)


@pytest.mark.parametrize(("even", "odd"), [(4, 3), (6, 5)])
def test_an_even_number_tolerates_no_more_than_one_less(even, odd):
    """The published threshold floor(r / 2) is one too many for an even r."""
    assert HiderSets(even, even=True).tolerated == HiderSets(odd).tolerated == even // 2 - 1


def test_an_even_number_is_refused():
    with pytest.raises(ParameterError, match="`shufflers` must be odd, not 4"):
        HiderSets(4)
    with pytest.raises(ParameterError, match="from 3 to 9"):
        HiderSets(2)
