"""Decoding affine reports, against a bare scatter of the same increments and one transform.

The bare side gets every position and sign ready made, so a ratio of one would mean that seeds
expand for free.

Source: docs/affine-response.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Ints, Longs, Words
from sottovoce.kernels import affine, jit, walsh
from sottovoce.kernels.affine_words import SIGN
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.maths import hashing

USERS = 1_000_000
SHAPES = ((10, 2), (10, 3), (10, 4), (16, 2), (16, 3), (16, 4), (20, 2), (20, 3), (20, 4))
GOALS = {(20, 2): Goal("ratio", "<=", 2.0), (10, 2): Goal("figure", "<", 10.0)}


@dataclass(frozen=True, eq=False)
class Job:
    """Reports over ``2^bits`` values in ``2^rank`` buckets."""

    seeds: Longs
    buckets: npt.NDArray[np.uint16]
    bits: int
    rank: int

    @classmethod
    def drawn(cls, users: int, bits: int, rank: int) -> "Job":
        """Return random reports: decoding takes as long whatever they say."""
        rng = np.random.default_rng([users, bits, rank])
        seeds = rng.integers(0, 1 << 64, users, dtype=np.uint64)
        return cls(seeds, rng.integers(0, 1 << rank, users, dtype=np.uint16), bits, rank)

    def decode(self, threads: int = 1) -> Ints:
        """Return every support count, in the order of the permuted domain."""
        layout = affine.PointLayout(self.bits, permuted=False)
        return affine.supports(self.spectrum(threads), layout, self.rank, 1 << self.bits)

    def spectrum(self, threads: int = 1) -> Ints:
        """Return the tally."""
        reports = affine.AffineReports(self.seeds, self.buckets, self.bits, self.rank)
        return affine.spectrum(reports, threads)

    def whole(self) -> Ints:
        """Return every support count in the order of the domain, permutation included."""
        layout = affine.PointLayout(self.bits)
        return affine.supports(self.spectrum(), layout, self.rank, 1 << self.bits)

    def increments(self) -> Words:
        """Return position and sign of every increment of every report, but for empty subsets."""
        masks, offsets = hashing.masks(self.seeds, self.bits, self.rank)
        odd = (self.buckets ^ offsets)[:, None] >> np.arange(
            self.rank, dtype=np.uint16
        ) & np.uint16(1)
        words = masks.astype(np.uint32) | odd.astype(np.uint32) << np.uint32(31)
        subsets = range(1, 1 << self.rank)
        chosen = [[r for r in range(self.rank) if subset >> r & 1] for subset in subsets]
        return np.stack(
            [np.bitwise_xor.reduce(words[:, rows], axis=1) for rows in chosen], axis=1
        ).ravel()


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield one core against the bare scatter, then the whole decoding, then two threads."""
    for bits, rank in SHAPES:
        yield _against_bare(Job.drawn(scaled(USERS, scale), bits, rank))
    for bits in (10, 16, 20):
        yield _whole(Job.drawn(scaled(USERS, scale), bits, 2))
    for bits in (10, 16, 20):
        yield _two_threads(Job.drawn(scaled(USERS, scale), bits, 2))


def bare(words: Words, bits: int) -> npt.NDArray[np.int32]:
    """Return the transform of ready-made increments; nothing smaller decodes these reports."""
    spectrum = np.zeros(1 << bits, np.int32)
    scatter(words, spectrum)
    walsh.transform(spectrum)
    return spectrum


@jit
def scatter(words: Words, spectrum: npt.NDArray[np.int32]) -> None:
    """Add the sign in the top bit of each word at the position in its other bits."""
    for i in range(len(words)):
        w = words[i]
        spectrum[w & ~SIGN] += np.int32(1) - np.int32(w >> np.uint32(31) << np.uint32(1))


def _against_bare(job: Job) -> BenchmarkRow:
    words = job.increments()
    ours, least = race(job.decode, lambda: bare(words, job.bits))
    row = _row(job, "", ours.cpu, "bare scatter + transform", ours.cpu / least.cpu)
    return replace(row, goal=GOALS.get((job.bits, job.rank)))


def _whole(job: Job) -> BenchmarkRow:
    whole, plain = race(job.whole, job.decode)
    return _row(job, ", with the permutation", whole.cpu, "without it", whole.cpu / plain.cpu)


def _two_threads(job: Job) -> BenchmarkRow:
    two, single = race(lambda: job.decode(2), job.decode)
    return _row(job, ", two threads, wall", two.wall, "one thread, wall", two.wall / single.wall)


def _row(job: Job, how: str, seconds: float, against: str, ratio: float) -> BenchmarkRow:
    name = f"decode {len(job.seeds):,} reports, size 2^{job.bits}, k = {job.rank}{how}"
    per_report = 1e9 * seconds / len(job.seeds)
    return BenchmarkRow("affine", name, per_report, "ns/report", against, ratio)
