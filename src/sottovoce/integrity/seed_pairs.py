"""Counting pairs of equal seeds of any number of reports, in bounded memory.

A few million seeds stay in memory.  More are spread over temporary files by a random hash, so that
equal seeds come into the same file, and each file is counted by itself.  The files have no names: a
process that is killed leaves none behind.
"""

from contextlib import ExitStack
from functools import cached_property
from tempfile import TemporaryFile
from typing import IO
from weakref import finalize

import numpy as np

from sottovoce.arrays import Ints, Longs, Values
from sottovoce.core.rng import SystemRng

MAX_SEEDS = 1 << 21  # in memory
FILES = 64
_SHIFT = np.uint64(64 - 6)  # the highest bits of a product choose one of 64 files


class SeedPairs:
    """Seeds to be compared with each other."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: list[Longs] = []
        self._waiting_count = 0
        self._spilled = False

    def add(self, seeds: Values) -> None:
        """Add the seeds of some reports."""
        self.count += len(seeds)
        self._waiting.append(np.asarray(seeds, np.uint64))
        self._waiting_count += len(seeds)
        if self._waiting_count > MAX_SEEDS:
            self._spill()

    def equal(self) -> int:
        """Return how many pairs of seeds are equal."""
        if not self._spilled:
            seeds = np.concatenate(self._waiting) if self._waiting else np.zeros(0, np.uint64)
            return _pairs(np.unique(seeds, return_counts=True)[1])
        self._spill()
        return sum(_equal_in(file) for file in self._files)

    @cached_property
    def _files(self) -> list[IO[bytes]]:
        stack = ExitStack()
        finalize(self, stack.close)  # with this object the seeds go, too
        return [stack.enter_context(TemporaryFile()) for _ in range(FILES)]

    @cached_property
    def _multiplier(self) -> np.uint64:
        # Random: whoever chose seeds could otherwise send all of them to one file.
        return np.uint64(int.from_bytes(SystemRng().bytes(8), "little") | 1)

    def _spill(self) -> None:
        seeds = np.concatenate([*self._waiting, np.zeros(0, np.uint64)])
        self._waiting = []
        self._waiting_count = 0
        self._spilled = True
        chosen = (seeds * self._multiplier) >> _SHIFT
        order = np.argsort(chosen, kind="stable")
        ends = np.searchsorted(chosen[order], np.arange(FILES + 1, dtype=np.uint64))
        for number, file in enumerate(self._files):
            file.write(seeds[order[ends[number] : ends[number + 1]]].tobytes())


def _equal_in(file: IO[bytes]) -> int:
    """Return how many pairs of seeds in a file are equal.

    It holds the distinct seeds of the file and some more, however often they come.
    """
    seeds = np.zeros(0, np.uint64)
    counts = np.zeros(0, np.int64)
    file.seek(0)
    while block := file.read(8 * MAX_SEEDS):
        more, times = np.unique(np.frombuffer(block, np.uint64), return_counts=True)
        distinct, positions = np.unique(np.concatenate([seeds, more]), return_inverse=True)
        merged = np.zeros(len(distinct), np.int64)
        np.add.at(merged, positions, np.concatenate([counts, times]))
        seeds, counts = distinct, merged
    file.seek(0, 2)  # more seeds go behind these
    return _pairs(counts)


def _pairs(repeats: Ints) -> int:
    # A float: the product of two counts may exceed 64 bits.
    wide = repeats.astype(np.float64)
    return int((wide * (wide - 1) / 2).sum())
