"""Covering designs: few blocks of attributes that together contain every set of some size.

Greedy, the block with the most sets still uncovered first: once with ties to the first block, which finds the perfect
designs that are lexicodes, then with ties to others; the fewest blocks of all tries.  Where all blocks are too many to
list, blocks are grown one attribute at a time.

Source: Wang 2021, section 6.2.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from math import ceil, comb
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Longs, Words
from sottovoce.errors import ParameterError
from sottovoce.maths.hashing import mix

TRIES = 20
_LISTED = 40_000  # blocks that are compared all at once
_PAIRS = 1 << 26  # of blocks and sets
_SETS = 1 << 20  # that are told apart
_WORK = 1 << 24  # sets looked at while blocks grow, over all tries but the first three

Blocks = tuple[tuple[int, ...], ...]


def fewest(attributes: int, covered: int, size: int) -> int:
    """Return a lower bound on the blocks of a covering (Schönheim).

    >>> fewest(16, 3, 4), fewest(8, 2, 4)
    (140, 6)
    """
    _check(attributes, covered, size)
    bound = 1
    for step in range(covered, 0, -1):
        bound = ceil(bound * (attributes - step + 1) / (size - step + 1))
    return bound


def cover(attributes: int, covered: int, size: int, most: int = 0) -> Blocks | None:
    """Return blocks of ``size`` attributes that contain every set of ``covered``; nothing if ``most`` do not suffice.

    The same arguments give the same blocks.

    >>> len(cover(8, 2, 4)), len(cover(8, 3, 4))
    (6, 14)
    """
    if most and fewest(attributes, covered, size) > most:
        return None
    found = _covering(attributes, covered, size)
    return None if most and len(found) > most else found


def covers(blocks: Iterable[Iterable[int]], attributes: int, covered: int) -> bool:
    """Return whether every set of ``covered`` attributes lies in some block."""
    seen = {one for block in blocks for one in combinations(sorted(block), covered)}
    return len(seen) == comb(attributes, covered)


@lru_cache(maxsize=256)
def _covering(attributes: int, covered: int, size: int) -> Blocks:
    bound = fewest(attributes, covered, size)
    if size == attributes:
        return (tuple(range(attributes)),)
    if comb(attributes, covered) > _SETS:
        raise ParameterError(f"a covering is of at most {_SETS:,} sets")
    return tuple(combinations(range(attributes), size)) if size == covered else _best(attributes, covered, size, bound)


def _best(attributes: int, covered: int, size: int, bound: int) -> Blocks:
    listed = comb(attributes, size) <= _LISTED and comb(attributes, size) * comb(attributes, covered) <= _PAIRS
    best: Blocks = ()
    attempt, tries = 0, TRIES
    while attempt < tries and len(best) != bound:
        found = (_listed if listed else _grown)(attributes, covered, size, attempt)
        if not best or len(found) < len(best):
            best = found
        if not listed:
            tries = max(3, min(TRIES, _WORK // (len(found) * size * comb(attributes, covered))))
        attempt += 1
    return best


def _listed(attributes: int, covered: int, size: int, attempt: int) -> Blocks:
    """Return a covering taken from the list of all blocks."""
    blocks, held = _incidence(attributes, covered, size)
    ranks = _ranks(len(blocks), attempt)
    gains, left = held.sum(axis=0, dtype=np.int64), np.ones(len(held), bool)
    chosen = []
    while left.any():
        block = _first(gains, ranks)
        chosen.append(tuple(int(one) for one in blocks[block]))
        new = np.flatnonzero(held[:, block] & left)
        left[new] = False
        gains -= held[new].sum(axis=0, dtype=np.int64)
    return tuple(chosen)


@lru_cache(maxsize=4)
def _incidence(attributes: int, covered: int, size: int) -> tuple[Ints, Bools]:
    """Return all blocks, and (sets, blocks): which contain each of all sets."""
    blocks = np.array(list(combinations(range(attributes), size)), np.int64)
    sets = _masks(np.array(list(combinations(range(attributes), covered)), np.int64))
    return blocks, (sets[:, None] & _masks(blocks)) == sets[:, None]


def _grown(attributes: int, covered: int, size: int, attempt: int) -> Blocks:
    """Return a covering of blocks that grow from a set still uncovered by the attribute that covers most."""
    sets = np.array(list(combinations(range(attributes), covered)), np.int64)
    left = sets[np.argsort(_ranks(len(sets), attempt))]
    holds = np.zeros((len(left), attributes))
    np.put_along_axis(holds, left, 1.0, axis=1)
    ranks = _ranks(attributes, attempt)
    chosen = []
    while len(holds):
        block = _block(holds, size, ranks)
        holds = holds[holds[:, block].sum(axis=1) < covered]
        chosen.append(tuple(sorted(block)))
    return tuple(chosen)


def _block(holds: Floats, size: int, ranks: Words) -> list[int]:
    """Return the block that grows from the first of the sets, ``holds`` being which attributes each has."""
    block = np.flatnonzero(holds[0]).tolist()
    missing = len(block) - holds[:, block].sum(axis=1).astype(np.int64)
    # A set that lacks one attribute counts most; sums of powers of two are exact, so that ties are the same everywhere.
    worth = np.append(0.0, 8.0 ** -np.arange(1.0, len(block) + 1))
    while len(block) < size:
        gains = worth[missing] @ holds  # how much closer each attribute brings the block to the sets that are left
        gains[block] = -1.0
        block.append(_first(gains, ranks))
        missing -= holds[:, block[-1]].astype(np.int64)
    return block


def _ranks(count: int, attempt: int) -> Words:
    """Return an order of so many things: their own the first time, then another with every attempt."""
    places = np.arange(count, dtype=np.uint32)
    return places if not attempt else mix(places + np.uint32(attempt * 0x9E3779B1 & 0xFFFFFFFF))


def _first(gains: Any, ranks: Words) -> int:
    ties = np.flatnonzero(gains == gains.max())
    return int(ties[np.argmin(ranks[ties])])


def _masks(sets: Ints) -> Longs:
    return np.asarray(np.bitwise_or.reduce(np.uint64(1) << sets.astype(np.uint64), axis=1), np.uint64)


def _check(attributes: int, covered: int, size: int) -> None:
    if not 1 <= covered <= size <= attributes <= 63:
        raise ParameterError("a covering needs 1 <= covered <= size of a block <= attributes <= 63")
