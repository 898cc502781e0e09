from itertools import combinations

import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.covering import compute_covering, cover, covers, fewest_blocks


@pytest.mark.parametrize(
    ("attributes", "covered", "size", "blocks"),
    [(8, 2, 4, 6), (8, 3, 4, 14), (16, 3, 4, 140), (16, 2, 8, 6)],
)
def test_known_optimal_coverings_are_reached(attributes, covered, size, blocks):
    found = cover(attributes, covered, size)
    assert len(found) == blocks == fewest_blocks(attributes, covered, size)
    assert covers(found, attributes, covered)
    assert all(len(set(block)) == size and sorted(block) == list(block) for block in found)


@pytest.mark.parametrize(
    ("attributes", "covered", "size"), [(5, 1, 2), (7, 2, 3), (9, 3, 5), (12, 2, 5), (26, 2, 9)]
)
def test_every_set_lies_in_some_block(attributes, covered, size):
    found = cover(attributes, covered, size)
    assert covers(found, attributes, covered)
    assert fewest_blocks(attributes, covered, size) <= len(found)
    assert not covers(found[1:], attributes, covered) or len(found) > fewest_blocks(
        attributes, covered, size
    )


def test_a_missing_block_is_noticed():
    assert not covers(cover(8, 3, 4)[1:], 8, 3)


def test_blocks_as_large_as_the_sets_are_all_of_them_and_one_block_of_everything_is_enough():
    assert cover(6, 2, 2) == tuple(combinations(range(6), 2))
    assert cover(6, 2, 6) == (tuple(range(6)),)


def test_too_many_blocks_are_refused_without_looking_for_them():
    assert cover(32, 3, 4, max_blocks=262) is None  # at least 1,240 are needed
    assert cover(63, 8, 9, max_blocks=1_000) is None


@pytest.mark.parametrize(("size", "blocks"), [(8, 171), (6, 388)])
def test_many_attributes_are_covered_by_blocks_that_grow(size, blocks):
    """Blocks are too many to list; these numbers are what more tries reached as well."""
    found = cover(32, 3, size)
    assert covers(found, 32, 3)
    assert fewest_blocks(32, 3, size) <= len(found) <= blocks


def test_more_than_63_attributes_are_covered():
    found = cover(70, 1, 4)
    assert covers(found, 70, 1)
    assert len(found) == fewest_blocks(70, 1, 4) == 18


def test_more_sets_than_can_be_told_apart_are_refused():
    with pytest.raises(ParameterError, match="sets"):
        cover(40, 8, 20)
    assert cover(40, 8, 40) == (tuple(range(40)),)


def test_the_same_request_gives_the_same_blocks():
    first = cover(13, 2, 4)
    compute_covering.cache_clear()
    assert cover(13, 2, 4) == first


@pytest.mark.parametrize("wrong", [(4, 0, 2), (4, 3, 2), (4, 2, 5), (1025, 2, 3)])
def test_impossible_coverings_are_refused(wrong):
    with pytest.raises(ParameterError):
        cover(*wrong)
