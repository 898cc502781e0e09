"""Hadamard count-mean sketch: one randomised bit of the Hadamard transform of a hash of the value.

A baseline for large domains.  A report is a few bytes, and one Walsh-Hadamard transform for every
row decodes the whole domain.  But everybody shares a few public hash functions: values that collide
leave an error that does not shrink with the number of users, and estimates are unbiased only over
the choice of the hashes.  Local hashing, which draws a hash function for every report, has neither
fault.  Less than epsilon is spent only where all values collide in every row.

A report is (row * columns + coordinate) * 2 + bit.  Drawn in this order: a row, a coordinate,
whether the bit is kept.

Source: Cormode 2018, section B.2.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.hashing import mix
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.grr import GRR

_PRIME = (1 << 31) - 1
_MOST_ROWS, _MOST_COLUMNS = 1 << 10, 1 << 16


@dataclass(frozen=True)
class HCMS(PureMechanism, kind="hcms"):
    """Report a row, a coordinate and a bit; it supports the values whose hash has that parity with
    the coordinate.

    >>> HCMS(epsilon=1.0, size=1 << 16).width
    2
    """

    epsilon: float
    size: int
    rows: int = 5
    columns: int = 256
    keep: int = threshold()

    max_size = 1 << 20  # decoding holds the hashes of all values

    def prepare(self) -> None:
        if type(self.rows) is not int or not 1 <= self.rows <= _MOST_ROWS:
            raise ParameterError(f"a sketch has from 1 to {_MOST_ROWS:,} rows")
        if type(self.columns) is not int or not 2 <= self.columns <= _MOST_COLUMNS or self.columns.bit_count() > 1:
            raise ParameterError(f"the columns of a sketch are a power of two from 2 to {_MOST_COLUMNS:,}")
        self.set_default("keep", GRR(self.epsilon, 2).keep)
        if not exact.UNIT < 2 * self.keep < 2 * exact.UNIT:
            raise ParameterError("a bit must be kept more often than by chance, and not always")

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        # another value collides, or agrees by chance
        return self.p / self.columns + (1 - 1 / self.columns) / 2

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(self.keep, exact.UNIT - self.keep)

    @property
    def noise(self) -> "SketchNoise":
        plain = IndependentNoise.of(self.p, self.q)
        return SketchNoise(plain.unheld, plain.held, 1 / (2 * self.p - 1), self.rows, self.columns)

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self._reports)).itemsize

    @property
    def _reports(self) -> int:
        return 2 * self.rows * self.columns

    def hash(self, row: Ints, values: Values) -> Ints:
        """Return the buckets of the values in rows, shapes broadcast: polynomials of degree 2
        modulo 2^31 - 1.
        """
        square, slope, shift = self._polynomials.T[:, row]
        values = np.asarray(values, np.int64)
        return np.asarray((square * (values**2 % _PRIME) + slope * values + shift) % _PRIME % self.columns)

    @cached_property
    def _polynomials(self) -> Ints:
        """Return (rows, 3): three coefficients for every row, the first of which is not zero."""
        drawn = mix(np.arange(3 * self.rows, dtype=np.uint32)).astype(np.int64) % _PRIME
        made = drawn.reshape(self.rows, 3)
        made[:, 0] = np.maximum(made[:, 0], 1)
        return made

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        row = rng.integers(self.rows, len(values))
        coordinate = rng.integers(self.columns, len(values))
        lies = ~rng.bernoulli(self.keep, len(values))
        return (row * self.columns + coordinate) << 1 | (_odd(self.hash(row, values), coordinate) ^ lies)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self._reports)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self._reports, rows(data, unsigned(self._reports))).astype(np.int64)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        row, coordinate = np.divmod(reports[:, None] >> 1, self.columns)
        return np.asarray(_odd(self.hash(row, candidates), coordinate) == (reports[:, None] & 1 == 1))

    def tally(self, reports: Reports) -> Tally:
        counts = np.bincount(reports, minlength=self._reports).reshape(self.rows, self.columns, 2)
        return Tally(self.key, len(reports), {"signs": (counts[..., 0] - counts[..., 1]).astype(np.int64)})

    def supports(self, tally: Tally) -> Ints:
        return self._agreeing(self.check_tally(tally), np.arange(self.size))

    def count(self, reports: Reports, candidates: Values) -> Ints:
        return self._agreeing(self.tally(reports), candidates)

    def _agreeing(self, tally: Tally, candidates: Values) -> Ints:
        """Return the supports: agreements and disagreements make up all users, the transform is
        their difference.
        """
        sketch, total = transform(tally["signs"]), np.full(len(candidates), tally.users, np.int64)
        for row in range(self.rows):
            total += sketch[row, self.hash(np.array(row), candidates)]
        return total // 2

    def estimate_among(self, reports: Reports, candidates: Values) -> Estimate:
        return replace(super().estimate_among(reports, candidates), noise=self.noise.among())

    def outcomes(self) -> Reports:
        return np.arange(self._reports)

    def likelihood(self, reports: Reports) -> Floats:
        chance = np.where(self.support(reports, np.arange(self.size)), self.p, 1 - self.p)
        return chance / (self.rows * self.columns)


@dataclass(frozen=True)
class SketchNoise(IndependentNoise):
    """The errors over reports and over the choice of hashes, which all users share.

    A value that n people hold adds about n to every other value it collides with, once in ``rows *
    (columns - 1)``: variance n^2 / (rows * (columns - 1)), whatever the number of reports.  Two
    collisions of four values are taken to be independent.
    """

    gain: float  # 1 / (2 p - 1), the size of a sign
    rows: int
    columns: int

    @property
    def collision(self) -> float:
        """Return the variance that a pair of users with one value adds to all others by collisions.
        """
        return 1 / (self.rows * (self.columns - 1))

    def among(self) -> "SketchNoise":
        return ListedSketchNoise(self.unheld, self.held, self.gain, self.rows, self.columns)

    def variances(self, votes: Floats, users: int) -> Floats:
        held, pairs = self._collisions(votes, users)
        return users * self.unheld + self.held * held + self.collision * (pairs + held - held**2)

    def covariance(self, votes: Floats, users: int) -> Floats:
        return self.grouped(np.arange(len(votes)), votes, users)[1]

    def grouped(self, groups: Ints, votes: Floats, users: int) -> tuple[Floats, Floats]:
        """Return the sums of groups of equally many cells, and how they vary together."""
        held, pairs = self._collisions(votes, users)
        count = int(groups.max()) + 1
        size, sums = len(votes) // count, np.bincount(groups, held, count)
        alone, common, mean = self._terms(users)
        across = size**2 * common - size * mean * (sums[:, None] + sums) + self.collision * np.outer(sums, sums)
        own = np.bincount(groups, self.collision * (held - 2 * held**2) - held, count)
        covariance = across + np.diag(own + size * (alone + self.collision * pairs))
        return np.bincount(groups, votes, count).astype(np.float64), np.asarray(covariance)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        held, pairs = self._collisions(votes, users)
        squares, total, sums = coefficients**2, coefficients.sum(), coefficients @ held
        alone, common, mean = self._terms(users)
        across = total**2 * common - 2 * total * mean * sums + self.collision * sums**2
        own = squares @ (self.collision * (held - 2 * held**2) - held)
        return float(across + own + squares.sum() * (alone + self.collision * pairs))

    def _terms(self, users: int) -> tuple[float, float, float]:
        """Return what a vote varies by itself, with all others, and with the mean: of one report
        over all hashes.
        """
        stretch, square = self.columns / (self.columns - 1), self.gain**2
        common = stretch**2 / self.columns * (square - 1 / self.columns)
        return users * stretch * square, users * common, 1 / (self.columns - 1)

    def _collisions(self, votes: Floats, users: int) -> tuple[Floats, float]:
        """Return how many hold each value, kept possible, and the pairs of users with one value.

        Whoever holds none of these values is taken to hold the same, the worst for them all.
        """
        held = _possible(votes, users)
        rest = max(0.0, users - float(held.sum()))
        return held, float(held @ held) + rest**2 - users


@dataclass(frozen=True)
class ListedSketchNoise(SketchNoise):
    """The noise of a sketch where only some candidates are estimated."""

    complete = False

    def among(self) -> SketchNoise:
        return self


def _odd(hashes: Ints, coordinates: Ints) -> Bools:
    return np.asarray(np.bitwise_count(hashes & coordinates) % 2 == 1)


def _possible(votes: Floats, users: int) -> Floats:
    """Return the nearest numbers that are not negative and sum to no more than all users."""
    ranked = np.sort(votes)[::-1]
    excess = (np.cumsum(ranked) - users) / np.arange(1, len(votes) + 1)
    above = np.flatnonzero(ranked > excess)
    return np.asarray(np.maximum(votes - max(0.0, excess[above[-1]] if len(above) else 0.0), 0))
