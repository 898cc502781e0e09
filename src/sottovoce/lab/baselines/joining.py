"""Whole values from pairs of segments: rows of patterns of which every two are frequent together.

Pairs of patterns are taken in descending order of the share of users who have both.  After each
pair, all rows are listed that contain it and of which every pair was taken, until enough rows
exist.

Source: Wang 2021, section 4.1.1.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from sottovoce.arrays import Floats, Values
from sottovoce.errors import NoDataError

MAX_ROWS = 4096
MAX_STEPS = 1 << 20  # of the search for rows, which then ends with the rows it has

SegmentPair: TypeAlias = tuple[int, int]
PatternRow: TypeAlias = tuple[int, ...]

# segment, pattern, second segment: a mask with a bit for every pattern of the second that was taken
_Taken: TypeAlias = list[list[list[int]]]


class PatternVotes(NamedTuple):
    """The subjects who reported a segment, and (patterns, subjects) votes for its patterns."""

    subjects: Values
    votes: Floats


class PatternPair(NamedTuple):
    """A pattern of one segment and a pattern of another."""

    segment: int
    pattern: int
    second_segment: int
    second_pattern: int


@dataclass(frozen=True)
class JoinedRows:
    """Rows with one pattern for each segment, and the number of pairs that they were made from.

    ``cut`` tells that the search was ended before all rows were listed.
    """

    rows: tuple[PatternRow, ...]
    pairs: int
    cut: bool


def shares_of_pairs(first: PatternVotes, second: PatternVotes) -> Floats:
    """Return (patterns, patterns): the share of users with both, the mean product of their votes.

    A user's two reports are randomised independently, so the product of two unbiased votes is
    unbiased. Reports are joined by subject; a report without its second half is left out.
    """
    common, in_first, in_second = np.intersect1d(
        first.subjects, second.subjects, return_indices=True
    )
    if not len(common):
        raise NoDataError("nobody reported both segments of a pair")
    return np.asarray(first.votes[:, in_first] @ second.votes[:, in_second].T / len(common))


def join(
    shares: Mapping[SegmentPair, Floats],
    wanted: int,
    possible: Callable[[PatternRow], bool],
) -> JoinedRows:
    """Return rows all of whose pairs are frequent, ``wanted`` of them or a few more."""
    taken = _nothing_taken(shares)
    rows: list[PatternRow] = []
    steps = 0
    pairs = 0
    cut = False
    for pair in _descending(shares):
        if len(rows) >= wanted or cut:
            break
        pairs += 1
        taken[pair.segment][pair.pattern][pair.second_segment] |= 1 << pair.second_pattern
        taken[pair.second_segment][pair.second_pattern][pair.segment] |= 1 << pair.pattern
        for row in _rows_with(taken, pair):
            steps += 1
            cut = steps >= MAX_STEPS or len(rows) >= MAX_ROWS
            if cut:
                break
            if row and possible(row):
                rows.append(row)
    return JoinedRows(tuple(rows), pairs, cut)


def _nothing_taken(shares: Mapping[SegmentPair, Floats]) -> _Taken:
    pattern_counts: dict[int, int] = {}
    for pair, table in shares.items():
        pattern_counts.update(zip(pair, table.shape, strict=True))
    segment_count = len(pattern_counts)
    return [
        [[0] * segment_count for _ in range(pattern_counts[segment])]
        for segment in sorted(pattern_counts)
    ]


def _descending(shares: Mapping[SegmentPair, Floats]) -> Iterator[PatternPair]:
    """Yield all pairs of patterns, the most frequent first; of equal ones the first."""
    pairs = []
    for (segment, second_segment), table in shares.items():
        for pattern, second_pattern in np.ndindex(*table.shape):
            pairs.append(PatternPair(segment, pattern, second_segment, second_pattern))
    flat = np.concatenate([table.ravel() for table in shares.values()])
    return (pairs[index] for index in np.argsort(-flat, kind="stable").tolist())


def _rows_with(taken: _Taken, pair: PatternPair) -> Iterator[PatternRow | None]:
    """Yield the rows that contain a pair, and None for every step of the search in between."""
    chosen = {pair.segment: pair.pattern, pair.second_segment: pair.second_pattern}
    first_masks = taken[pair.segment][pair.pattern]
    second_masks = taken[pair.second_segment][pair.second_pattern]
    open_masks = {
        segment: first_masks[segment] & second_masks[segment]
        for segment in range(len(taken))
        if segment not in chosen
    }
    return _extended(taken, chosen, open_masks) if all(open_masks.values()) else iter(())


def _extended(
    taken: _Taken, chosen: dict[int, int], open_masks: dict[int, int]
) -> Iterator[PatternRow | None]:
    """Yield the rows that extend the chosen patterns by one that each open segment still allows."""
    if not open_masks:
        yield tuple(chosen[segment] for segment in range(len(taken)))
        return
    yield None
    # The segment with the fewest patterns goes first, so that dead ends show early.
    segment = min(open_masks, key=lambda index: open_masks[index].bit_count())
    for pattern in range(open_masks[segment].bit_length()):
        if not open_masks[segment] >> pattern & 1:
            continue
        masks = taken[segment][pattern]
        rest = {
            index: mask & masks[index] for index, mask in open_masks.items() if index != segment
        }
        if all(rest.values()):
            yield from _extended(taken, {**chosen, segment: pattern}, rest)
