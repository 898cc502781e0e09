"""The arithmetic of prefix extension."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sottovoce.errors import ParameterError
from sottovoce.plans.heavy_hitters.prefixes import (
    QUERY_BUDGET,
    fewest_groups,
    lengths,
    queries,
    sensitivity,
)


@pytest.mark.parametrize(
    ("bits", "kept", "groups", "expected"),
    [
        (64, 16, 6, (4, 14, 24, 34, 44, 54, 64)),
        (128, 256, 6, (8, 28, 48, 68, 88, 108, 128)),
        (128, 256, 12, tuple(range(8, 129, 10))),
        (128, 256, 4, (8, 38, 68, 98, 128)),
        (48, 16, 3, (4, 19, 34, 48)),
        (8, 1, 1, (0, 8)),
    ],
)
def test_lengths_are_the_published_ones(bits, kept, groups, expected):
    assert lengths(bits, kept, groups) == expected


@given(some.integers(1, 200), some.integers(1, 5000), some.integers(1, 200))
def test_lengths_grow_by_at_least_a_bit_to_the_whole_value(bits, kept, groups):
    first = (kept - 1).bit_length()
    if first > bits or groups > max(1, bits - first):
        with pytest.raises(ParameterError):
            lengths(bits, kept, groups)
        return
    found = lengths(bits, kept, groups)
    assert (found[0], found[-1], len(found)) == (first, bits, groups + 1)
    steps = [longer - shorter for shorter, longer in pairwise(found)]
    assert max(steps) - min(steps) <= 1
    assert min(steps) >= 1 or first == bits


@pytest.mark.parametrize(
    ("bits", "kept", "groups"),
    [(64, 16, 5), (48, 16, 4), (32, 16, 2), (160, 16, 13), (128, 256, 15), (10, 16, 1)],
)
def test_the_fewest_groups_within_the_published_budget(bits, kept, groups):
    assert fewest_groups(bits, kept) == groups
    assert queries(bits, kept, groups) <= QUERY_BUDGET
    assert groups == 1 or queries(bits, kept, groups - 1) > QUERY_BUDGET


def test_a_budget_that_cannot_work_is_refused():
    with pytest.raises(ParameterError, match="must be larger"):
        fewest_groups(64, 16, budget=31)


@pytest.mark.parametrize(("bits", "kept"), [(8, 0), (3, 9), (8, -1)])
def test_more_or_fewer_than_can_be_kept_are_refused(bits, kept):
    with pytest.raises(ParameterError):
        lengths(bits, kept, 1)


def test_more_candidates_need_more_users():
    assert sensitivity(1.0, 1 << 20, 10_000) < sensitivity(1.0, 1 << 128, 10_000)
    assert sensitivity(1.0, 1 << 20, 40_000) == pytest.approx(sensitivity(1.0, 1 << 20, 10_000) / 2)
    for wrong in ((1.0, 1, 10), (1.0, 4, 0)):
        with pytest.raises(ParameterError):
            sensitivity(*wrong)
