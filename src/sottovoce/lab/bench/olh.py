"""Counting the supports of classical local hashing, against the same sums in blocked NumPy.

Source: Wang 2021, section 3.3.3; xxHash specification 0.1.1.
"""

from collections.abc import Iterator

import numpy as np

from sottovoce.arrays import Ints, Longs, Words
from sottovoce.kernels import olh
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled

USERS = 100_000
SIZE = 1024
BUCKETS = 4
TILE = 64  # reports at a time: words and scratch of a tile stay in the second level of the cache


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield pairs per second and the ratio to the twin."""
    seeds, reported, candidates = drawn(scaled(USERS, scale), SIZE, BUCKETS)
    pairs = len(seeds) * SIZE
    ours, plain = race(
        lambda: olh.support_counts(seeds, reported, candidates, BUCKETS, threads=1),
        lambda: twin(seeds, reported, candidates, BUCKETS),
        repeats=5,
    )
    name = f"count {len(seeds):,} reports, size {SIZE}, {BUCKETS} buckets"
    yield BenchmarkRow("olh", name, pairs / ours.cpu, "pairs/s", goal=Goal("figure", ">=", 1.5e9))
    speed_up = plain.cpu / ours.cpu
    yield BenchmarkRow(
        "olh",
        f"{name}, speed-up",
        speed_up,
        "times",
        "NumPy twin",
        speed_up,
        Goal("ratio", ">=", 5.0),
    )


def drawn(users: int, size: int, buckets: int) -> tuple[Words, Words, Words]:
    """Return random seeds and buckets, and the whole domain as candidates."""
    rng = np.random.default_rng([users, size, buckets])
    seeds = rng.integers(0, 1 << 32, users, dtype=np.uint32)
    return (
        seeds,
        rng.integers(0, buckets, users, dtype=np.uint32),
        np.arange(size, dtype=np.uint32)[:, None],
    )


def twin(seeds: Words, reported: Words, candidates: Words, buckets: int) -> Ints:
    """Return the counts of ``olh.support_counts`` for candidates of one word.

    They are counted block by block and in place.
    """
    starts = candidates[:, 0] * olh.PRIME_3 + np.uint32(olh.PRIME_5 + np.uint32(4))
    low, span = _ranges(reported, buckets)
    counts = np.zeros(len(candidates), np.int64)
    for start in range(0, len(seeds), TILE):
        tile = slice(start, start + TILE)
        hashes = _hashes(seeds[tile, None] + starts)
        hashes -= low[tile, None]
        hits = hashes <= span[tile, None]
        counts += np.add.reduce(
            hits.view(np.uint8), axis=0, dtype=np.uint8
        )  # a tile is shorter than 256
    return counts


def _ranges(reported: Words, buckets: int) -> tuple[Words, Words]:
    """Return the first hash of each reported bucket, and how many more follow it."""
    wide = reported.astype(np.uint64)
    first = _first(wide, buckets)
    return first.astype(np.uint32), (
        _first(wide + np.uint64(1), buckets) - first - np.uint64(1)
    ).astype(np.uint32)


def _first(named: Longs, buckets: int) -> Longs:
    return ((named << np.uint64(32)) + np.uint64(buckets - 1)) // np.uint64(buckets)


def _hashes(words: Words) -> Words:
    """Finish xxh32 of one word in place."""
    scratch = words >> np.uint32(15)
    words <<= np.uint32(17)
    words |= scratch
    words *= olh.PRIME_4
    for shift, prime in ((15, olh.PRIME_2), (13, olh.PRIME_3)):
        np.right_shift(words, np.uint32(shift), out=scratch)
        words ^= scratch
        words *= prime
    np.right_shift(words, np.uint32(16), out=scratch)
    words ^= scratch
    return words
