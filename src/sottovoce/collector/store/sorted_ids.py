"""Report ids in order, in two columns: which of some are among many others is a binary search.

An id is 16 bytes, here two numbers: sorting and searching numbers is several times faster than
sorting and searching bytes.  The columns are arrays in memory, or a file that is mapped: one
column after the other, as little-endian numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from sottovoce.arrays import Bools, Bytes, Longs
from sottovoce.wire.envelope import ID_BYTES

_COLUMN_TYPE = np.dtype("<u8")
_HALF_OF_ID = np.dtype(">u8")  # so that numbers have the order of bytes


@dataclass(frozen=True, eq=False)
class SortedIds:
    """Ids in the order of their bytes: their first halves, and their second halves."""

    first_halves: Longs
    second_halves: Longs

    @classmethod
    def of(cls, ids: Bytes) -> Self:
        """Return ids, an array of bytes of any shape, in order."""
        first_halves, second_halves = _halves(np.ascontiguousarray(ids).reshape(-1))
        return cls._sorted(first_halves, second_halves)

    @classmethod
    def from_bytes(cls, blob: bytes) -> Self:
        """Return ids that ``to_bytes`` has written."""
        return cls(*_halves(np.frombuffer(blob, np.uint8)))

    @classmethod
    def mapped(cls, path: Path) -> Self:
        """Return the ids in a file, which are read when they are looked at."""
        columns = np.asarray(np.memmap(path, _COLUMN_TYPE, mode="r")).reshape(2, -1)
        return cls(columns[0], columns[1])

    @classmethod
    def together(cls, parts: Sequence["SortedIds"]) -> Self:
        """Return the ids of several parts."""
        if len(parts) == 1:
            return cls(parts[0].first_halves, parts[0].second_halves)
        return cls._sorted(
            np.concatenate([part.first_halves for part in parts]),
            np.concatenate([part.second_halves for part in parts]),
        )

    @classmethod
    def _sorted(cls, first_halves: Longs, second_halves: Longs) -> Self:
        order = np.argsort(first_halves, kind="stable")  # fast for parts that are in order
        in_order = first_halves[order]
        if bool(np.any(in_order[1:] == in_order[:-1])):  # hardly ever: devices draw ids at random
            order = np.lexsort((second_halves, first_halves))
            in_order = first_halves[order]
        return cls(in_order, second_halves[order])

    def __len__(self) -> int:
        return len(self.first_halves)

    def to_bytes(self) -> bytes:
        """Return the ids one after another."""
        halves = np.stack([self.first_halves, self.second_halves], axis=1)
        return halves.astype(_HALF_OF_ID).tobytes()

    def chosen(self, which: Bools) -> "SortedIds":
        """Return some of the ids."""
        return SortedIds(self.first_halves[which], self.second_halves[which])

    def has_copies(self) -> bool:
        """Return whether an id is here twice."""
        same_first = self.first_halves[1:] == self.first_halves[:-1]
        same_second = self.second_halves[1:] == self.second_halves[:-1]
        return bool(np.any(same_first & same_second))

    def among(self, others: "SortedIds") -> Bools:
        """Return which of these ids are among others, of which there is at least one."""
        places = np.searchsorted(others.first_halves, self.first_halves)
        places[places == len(others)] = 0
        alike: Bools = others.first_halves[places] == self.first_halves
        if not alike.any():
            return alike
        same: Bools = alike & (others.second_halves[places] == self.second_halves)
        # Further ids with the same first half: nobody has them who draws ids at random.
        for index in np.flatnonzero(alike & ~same).tolist():
            end = np.searchsorted(others.first_halves, self.first_halves[index], side="right")
            candidates = others.second_halves[places[index] : end]
            place = int(np.searchsorted(candidates, self.second_halves[index]))
            if place < len(candidates):
                same[index] = candidates[place] == self.second_halves[index]
        return same


def merged(parts: Sequence[SortedIds], at_once: int) -> Iterator[SortedIds]:
    """Yield the ids of all parts in order, of each part about ``at_once`` at a time."""
    starts = [0] * len(parts)
    while True:
        # Every part is read as far as that one goes whose next ids are the smallest.
        limits = [
            int(part.first_halves[start + at_once])
            for part, start in zip(parts, starts, strict=True)
            if start + at_once < len(part)
        ]
        ends = _ends(parts, starts, limits)
        pieces = [
            SortedIds(part.first_halves[start:end], part.second_halves[start:end])
            for part, start, end in zip(parts, starts, ends, strict=True)
            if end > start
        ]
        if not pieces:
            return
        yield SortedIds.together(pieces)
        starts = ends


def write(path: Path, count: int, ids: Iterator[SortedIds]) -> None:
    """Write so many ids to a new file that ``SortedIds.mapped`` reads."""
    with path.open("xb") as file:
        file.truncate(count * ID_BYTES)
        start = 0
        for part in ids:
            file.seek(start * _COLUMN_TYPE.itemsize)
            file.write(part.first_halves.astype(_COLUMN_TYPE).tobytes())
            file.seek((count + start) * _COLUMN_TYPE.itemsize)
            file.write(part.second_halves.astype(_COLUMN_TYPE).tobytes())
            start += len(part)
        assert start == count, "the file would end with ids that nobody sent"


def _ends(parts: Sequence[SortedIds], starts: list[int], limits: list[int]) -> list[int]:
    """Return up to where each part is read next."""
    if not limits:
        return [len(part) for part in parts]
    limit = np.uint64(min(limits))
    ends = [int(np.searchsorted(part.first_halves, limit)) for part in parts]
    if ends != starts:
        return ends
    # So many ids with the same first half are not cut, or their second halves lost their order.
    return [int(np.searchsorted(part.first_halves, limit, side="right")) for part in parts]


def _halves(ids: Bytes) -> tuple[Longs, Longs]:
    numbers = ids.view(_HALF_OF_ID).astype(np.uint64).reshape(-1, 2)
    return np.ascontiguousarray(numbers[:, 0]), np.ascontiguousarray(numbers[:, 1])
