"""Whole values from pairs of segments: how often two patterns go together, and which rows of patterns all do.

Source: Wang 2021, section 4.1.1.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sottovoce.arrays import Floats, Values
from sottovoce.errors import NoDataError

MOST_ROWS = 4096
MOST_STEPS = 1 << 20  # of the search for rows, after which it ends with what it has found

Pair: TypeAlias = tuple[int, int]
Row: TypeAlias = tuple[int, ...]
Scored: TypeAlias = tuple[Values, Floats]  # subjects, and (patterns, users) votes
_Near: TypeAlias = list[list[list[int]]]  # segment, pattern, other segment: a bit for every pattern it goes with


@dataclass(frozen=True)
class Joined:
    """Rows of one pattern for each segment, from so many pairs; ``cut`` if there may be more from these pairs."""

    rows: tuple[Row, ...]
    pairs: int
    cut: bool


def joint(first: Scored, second: Scored) -> Floats:
    """Return (patterns, patterns): the share of users with both, the mean product of their votes.

    A user's two reports are randomised independently, so a product of unbiased votes is unbiased itself.  Reports are
    joined by their subject; one without its other half says nothing.
    """
    common, here, there = np.intersect1d(first[0], second[0], return_indices=True)
    if not len(common):
        raise NoDataError("nobody reported both segments of a pair")
    return np.asarray(first[1][:, here] @ second[1][:, there].T / len(common))


def join(shares: Mapping[Pair, Floats], wanted: int, possible: Callable[[Row], bool]) -> Joined:
    """Return the rows all of whose pairs are selected; the most frequent pairs are, until ``wanted`` rows exist."""
    near, rows, steps, pairs, cut = _nothing(shares), list[Row](), 0, 0, False
    for i, a, j, b in _descending(shares):
        if len(rows) >= wanted or cut:
            break
        pairs += 1
        near[i][a][j] |= 1 << b
        near[j][b][i] |= 1 << a
        for row in _completed(near, {i: a, j: b}):
            steps += 1
            cut = steps >= MOST_STEPS or len(rows) >= MOST_ROWS
            if cut:
                break
            if row and possible(row):
                rows.append(row)
    return Joined(tuple(rows), pairs, cut)


def _nothing(shares: Mapping[Pair, Floats]) -> _Near:
    patterns = {
        segment: count for pair, table in shares.items() for segment, count in zip(pair, table.shape, strict=True)
    }
    return [[[0] * len(patterns) for _ in range(patterns[segment])] for segment in sorted(patterns)]


def _descending(shares: Mapping[Pair, Floats]) -> Iterator[tuple[int, int, int, int]]:
    """Yield segment, pattern, segment, pattern; of equal shares the first."""
    places = [(i, a, j, b) for (i, j), table in shares.items() for a, b in np.ndindex(*table.shape)]
    flat = np.concatenate([table.ravel() for table in shares.values()])
    return (places[index] for index in np.argsort(-flat, kind="stable").tolist())


def _completed(near: _Near, chosen: dict[int, int]) -> Iterator[Row | None]:
    """Yield the rows that hold these patterns, and nothing for every step in between."""
    ways = [[near[segment][place][other] for segment, place in chosen.items()] for other in range(len(near))]
    free = {other: one & two for other, (one, two) in enumerate(ways) if other not in chosen}
    return _extended(near, chosen, free) if all(free.values()) else iter(())


def _extended(near: _Near, chosen: dict[int, int], free: dict[int, int]) -> Iterator[Row | None]:
    if not free:
        yield tuple(chosen[segment] for segment in range(len(near)))
        return
    yield None
    segment = min(free, key=lambda other: free[other].bit_count())  # the fewest ways first: dead ends show early
    for place in range(free[segment].bit_length()):
        if free[segment] >> place & 1:
            rest = {other: mask & near[segment][place][other] for other, mask in free.items() if other != segment}
            if all(rest.values()):
                yield from _extended(near, {**chosen, segment: place}, rest)
