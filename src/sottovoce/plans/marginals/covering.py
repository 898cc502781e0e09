"""Covering designs: few blocks of attributes that together contain every set of a given size.

Greedy search: the next block is the one that contains the most sets that are still uncovered.
Several attempts break ties differently, and the attempt with the fewest blocks wins.  In the first
attempt ties go to the first block, which finds the perfect designs that are lexicodes.  Where all
blocks are too many to list, blocks are grown one attribute at a time.  The search is deterministic.

Source: Wang 2021, section 6.2.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from math import ceil, comb
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Longs, Words
from sottovoce.core.settings import whole
from sottovoce.errors import ParameterError
from sottovoce.maths.hashing import mix

MAX_ATTRIBUTES = 1024
_MAX_MASKED = 63  # attributes of a block that is a mask of bits
MAX_ATTEMPTS = 20
MIN_GROWN_ATTEMPTS = 3
_MAX_LISTED_BLOCKS = 40_000  # compared all at once
_MAX_PAIRS = 1 << 26  # of blocks and sets
_MAX_SETS = 1 << 20
_MAX_GROWN_WORK = 1 << 24  # sets looked at while blocks grow, in all attempts but the first three

Blocks = tuple[tuple[int, ...], ...]


def fewest_blocks(attributes: int, covered: int, size: int) -> int:
    """Return a lower bound on the blocks of a covering (Schönheim).

    >>> fewest_blocks(16, 3, 4), fewest_blocks(8, 2, 4)
    (140, 6)
    """
    whole("attributes", attributes, 1, MAX_ATTRIBUTES)
    whole("size", size, 1, attributes)
    whole("covered", covered, 1, size)
    bound = 1
    for step in range(covered, 0, -1):
        bound = ceil(bound * (attributes - step + 1) / (size - step + 1))
    return bound


def cover(attributes: int, covered: int, size: int, max_blocks: int = 0) -> Blocks | None:
    """Return blocks of ``size`` attributes that contain every set of ``covered`` attributes.

    Returns None if more than ``max_blocks`` are needed; 0 allows any number.  The same arguments
    give the same blocks.

    >>> len(cover(8, 2, 4)), len(cover(8, 3, 4))
    (6, 14)
    """
    if max_blocks and fewest_blocks(attributes, covered, size) > max_blocks:
        return None
    blocks = compute_covering(attributes, covered, size)
    return None if max_blocks and len(blocks) > max_blocks else blocks


def covers(blocks: Iterable[Iterable[int]], attributes: int, covered: int) -> bool:
    """Return whether every set of ``covered`` attributes lies in some block."""
    contained: set[tuple[int, ...]] = set()
    for block in blocks:
        contained.update(combinations(sorted(block), covered))
    return len(contained) == comb(attributes, covered)


@lru_cache(maxsize=256)
def compute_covering(attributes: int, covered: int, size: int) -> Blocks:
    """Return the blocks of ``cover``, of any number; a covering is computed once."""
    bound = fewest_blocks(attributes, covered, size)
    if size == attributes:
        return (tuple(range(attributes)),)
    if comb(attributes, covered) > _MAX_SETS:
        raise ParameterError(f"a covering must be of at most {_MAX_SETS:,} sets")
    if size == covered:
        return tuple(combinations(range(attributes), size))
    return _best_attempt(attributes, covered, size, bound)


def _best_attempt(attributes: int, covered: int, size: int, bound: int) -> Blocks:
    block_count = comb(attributes, size)
    set_count = comb(attributes, covered)
    listed = attributes <= _MAX_MASKED and block_count <= _MAX_LISTED_BLOCKS
    listed = listed and block_count * set_count <= _MAX_PAIRS
    search = _search_listed if listed else _search_grown
    best: Blocks = ()
    attempt = 0
    attempts = MAX_ATTEMPTS
    while attempt < attempts and len(best) != bound:
        blocks = search(attributes, covered, size, attempt)
        if not best or len(blocks) < len(best):
            best = blocks
        if not listed:
            affordable = _MAX_GROWN_WORK // (len(blocks) * size * set_count)
            attempts = max(MIN_GROWN_ATTEMPTS, min(MAX_ATTEMPTS, affordable))
        attempt += 1
    return best


def _search_listed(attributes: int, covered: int, size: int, attempt: int) -> Blocks:
    """Return a covering whose blocks are taken from the list of all blocks."""
    blocks, contains = _incidence(attributes, covered, size)
    ranks = _ranks(len(blocks), attempt)
    gains = contains.sum(axis=0, dtype=np.int64)
    uncovered = np.ones(len(contains), bool)
    chosen = []
    while uncovered.any():
        block = _first_of_largest(gains, ranks)
        chosen.append(tuple(int(attribute) for attribute in blocks[block]))
        newly_covered = np.flatnonzero(contains[:, block] & uncovered)
        uncovered[newly_covered] = False
        gains -= contains[newly_covered].sum(axis=0, dtype=np.int64)
    return tuple(chosen)


@lru_cache(maxsize=4)
def _incidence(attributes: int, covered: int, size: int) -> tuple[Ints, Bools]:
    """Return all blocks, and (sets, blocks): which block contains which set."""
    blocks = np.array(list(combinations(range(attributes), size)), np.int64)
    sets = _masks(np.array(list(combinations(range(attributes), covered)), np.int64))
    return blocks, (sets[:, None] & _masks(blocks)) == sets[:, None]


def _search_grown(attributes: int, covered: int, size: int, attempt: int) -> Blocks:
    """Return a covering whose blocks grow from sets that are still uncovered."""
    sets = np.array(list(combinations(range(attributes), covered)), np.int64)
    uncovered = sets[np.argsort(_ranks(len(sets), attempt))]
    contains = np.zeros((len(uncovered), attributes))
    np.put_along_axis(contains, uncovered, 1.0, axis=1)
    ranks = _ranks(attributes, attempt)
    chosen = []
    while len(contains):
        block = _grow_block(contains, size, ranks)
        contains = contains[contains[:, block].sum(axis=1) < covered]
        chosen.append(tuple(sorted(block)))
    return tuple(chosen)


def _grow_block(contains: Floats, size: int, ranks: Words) -> list[int]:
    """Return a block that grows from the first set by the attribute that covers most.

    ``contains`` is (sets, attributes): which attributes each uncovered set has.
    """
    block = np.flatnonzero(contains[0]).tolist()
    missing = len(block) - contains[:, block].sum(axis=1).astype(np.int64)
    # A set that lacks one attribute counts most.  Sums of powers of two are exact, so ties are the
    # same on every machine.
    worth = np.append(0.0, 8.0 ** -np.arange(1.0, len(block) + 1))
    while len(block) < size:
        gains = worth[missing] @ contains
        gains[block] = -1.0
        block.append(_first_of_largest(gains, ranks))
        missing -= contains[:, block[-1]].astype(np.int64)
    return block


def _ranks(count: int, attempt: int) -> Words:
    """Return the order in which ties are broken: first the natural one, then one per attempt."""
    numbers = np.arange(count, dtype=np.uint32)
    if not attempt:
        return numbers
    return mix(numbers + np.uint32(attempt * 0x9E3779B1 & 0xFFFFFFFF))


def _first_of_largest(gains: Any, ranks: Words) -> int:
    ties = np.flatnonzero(gains == gains.max())
    return int(ties[np.argmin(ranks[ties])])


def _masks(sets: Ints) -> Longs:
    bits = np.uint64(1) << sets.astype(np.uint64)
    return np.asarray(np.bitwise_or.reduce(bits, axis=1), np.uint64)
