"""Tallying packed bits on one core, against one plain read of them."""

from collections.abc import Iterator

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.kernels.unary import bit_counts
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled

SIZE = 1024


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield reports that fit the last level of the cache, and ten times as many."""
    for users in (100_000, 1_000_000):
        yield _tallied(drawn(scaled(users, scale), SIZE))


def drawn(users: int, size: int) -> Bytes:
    """Return random packed rows."""
    return np.random.default_rng([users, size]).integers(0, 256, (users, size // 8), dtype=np.uint8)


def _tallied(packed: Bytes) -> BenchmarkRow:
    words = packed.reshape(-1).view(np.uint64)
    ours, read = race(
        lambda: bit_counts(packed, SIZE, threads=1), lambda: np.bitwise_xor.reduce(words)
    )
    name = f"tally {len(packed):,} x {SIZE} bits"
    speed = packed.nbytes / ours.cpu / 1e9
    return BenchmarkRow(
        "unary", name, speed, "GB/s", "plain read", ours.cpu / read.cpu, Goal("ratio", "<=", 2.0)
    )
