"""Hadamard count-mean sketch: one randomised bit of the Hadamard transform of a hash of the value.

A report is (row * columns + coordinate) * 2 + bit: a random row of the sketch, a random coordinate,
and whether the value's hash in that row has odd parity with the coordinate, kept with probability
p. The draws are made in this order: row, coordinate, whether the bit is kept.  One Walsh-Hadamard
transform per row decodes the whole domain.

A baseline for large domains.  Everybody shares a few public hash functions, so values that collide
leave an error that does not shrink with the number of users, and estimates are unbiased only over
the choice of the hashes.  Local hashing, which draws a hash function for every report, has neither
fault. Less than epsilon is spent only if all values collide in every row.

Source: Cormode 2018, section B.2.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.core.settings import power_of_two, whole
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.hashing import mix
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.grr import GRR

_PRIME = (1 << 31) - 1
_MAX_ROWS = 1 << 10
_MAX_COLUMNS = 1 << 16


@dataclass(frozen=True)
class HCMS(PureMechanism, kind="hcms", wire=False):
    """Report a row, a coordinate and a bit.

    A report supports the values whose hash in the row has that parity with the coordinate.

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
        whole("rows", self.rows, 1, _MAX_ROWS)
        power_of_two("columns", self.columns, 2, _MAX_COLUMNS)
        self.set_default("keep", GRR(self.epsilon, 2).keep)
        if not exact.UNIT < 2 * self.keep < 2 * exact.UNIT:
            raise ParameterError("`keep` must be above 2^63 and below 2^64")

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        # Another value collides with chance 1/columns; otherwise it agrees by chance.
        return self.p / self.columns + (1 - 1 / self.columns) / 2

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(self.keep, exact.UNIT - self.keep)

    @property
    def noise(self) -> "SketchNoise":
        independent = IndependentNoise.of(self.p, self.q)
        gain = 1 / (2 * self.p - 1)
        return SketchNoise(independent.unheld, independent.held, gain, self.rows, self.columns)

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self._report_count)).itemsize

    @property
    def _report_count(self) -> int:
        return 2 * self.rows * self.columns

    def hash(self, row: Ints, values: Values) -> Ints:
        """Return the buckets of values in rows, shapes broadcast: quadratics modulo 2^31 - 1."""
        square, slope, shift = self._polynomials.T[:, row]
        values = np.asarray(values, np.int64)
        hashed = (square * (values**2 % _PRIME) + slope * values + shift) % _PRIME
        return np.asarray(hashed % self.columns)

    @cached_property
    def _polynomials(self) -> Ints:
        """Return (rows, 3): the coefficients of every row, of which the first is not zero."""
        drawn = mix(np.arange(3 * self.rows, dtype=np.uint32)).astype(np.int64) % _PRIME
        coefficients = drawn.reshape(self.rows, 3)
        coefficients[:, 0] = np.maximum(coefficients[:, 0], 1)
        return coefficients

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        row = rng.integers(self.rows, len(values))
        coordinate = rng.integers(self.columns, len(values))
        lies = ~rng.bernoulli(self.keep, len(values))
        bit = _odd_parity(self.hash(row, values), coordinate) ^ lies
        return (row * self.columns + coordinate) << 1 | bit

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self._report_count)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        reports = rows(data, unsigned(self._report_count))
        return below(self._report_count, reports).astype(np.int64)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        row, coordinate = np.divmod(reports[:, None] >> 1, self.columns)
        bit = reports[:, None] & 1 == 1
        return np.asarray(_odd_parity(self.hash(row, candidates), coordinate) == bit)

    def tally(self, reports: Reports) -> Tally:
        counts = np.bincount(reports, minlength=self._report_count)
        by_bit = counts.reshape(self.rows, self.columns, 2)
        signs = (by_bit[..., 0] - by_bit[..., 1]).astype(np.int64)
        return Tally(self.key, len(reports), {"signs": signs})

    def supports(self, tally: Tally) -> Ints:
        return self._supports_of(self.check_tally(tally), np.arange(self.size))

    def count(self, reports: Reports, candidates: Values) -> Ints:
        return self._supports_of(self.tally(reports), candidates)

    def _supports_of(self, tally: Tally, candidates: Values) -> Ints:
        """Return the support of candidates.

        For every value the users agree or disagree with it; the transform is agreements less
        disagreements, hence agreements = (users + transform) / 2.
        """
        sketch = transform(tally["signs"])
        total = np.full(len(candidates), tally.users, np.int64)
        for row in range(self.rows):
            total += sketch[row, self.hash(np.array(row), candidates)]
        return total // 2

    def estimate_among(self, reports: Reports, candidates: Values) -> Estimate:
        return replace(super().estimate_among(reports, candidates), noise=self.noise.among())

    def outcomes(self) -> Reports:
        return np.arange(self._report_count)

    def likelihood(self, reports: Reports) -> Floats:
        supported = self.support(reports, np.arange(self.size))
        return np.where(supported, self.p, 1 - self.p) / (self.rows * self.columns)


class _VoteTerms(NamedTuple):
    """The parts of a vote's variance, of all users and over all hashes."""

    alone: float  # of the vote by itself
    common: float  # shared with all other votes
    mean: float  # per user of the mean of all votes


@dataclass(frozen=True)
class SketchNoise(IndependentNoise):
    """The errors over reports and over the choice of hashes, which all users share.

    A value that n people hold adds about n to every value that it collides with.  The variance of
    that is n^2 / (rows * (columns - 1)), whatever the number of reports.  Two collisions of four
    values are taken to be independent.
    """

    gain: float  # 1 / (2 p - 1), the size of a sign
    rows: int
    columns: int

    @property
    def collision(self) -> float:
        """Return the variance that two users with one value add to all others by collisions."""
        return 1 / (self.rows * (self.columns - 1))

    def among(self) -> "SketchNoise":
        return ListedSketchNoise(self.unheld, self.held, self.gain, self.rows, self.columns)

    @property
    def supports(self) -> None:
        return None  # all users share the hashes

    def variances(self, votes: Floats, users: int) -> Floats:
        held, pairs = self._collisions(votes, users)
        own = users * self.unheld + self.held * held
        return own + self.collision * (pairs + held - held**2)

    def covariance(self, votes: Floats, users: int) -> Floats:
        return self.grouped(np.arange(len(votes)), votes, users)[1]

    def grouped(self, groups: Ints, votes: Floats, users: int) -> tuple[Floats, Floats]:
        """Return the sums of groups of equally many cells, and how they vary together."""
        held, pairs = self._collisions(votes, users)
        count = int(groups.max()) + 1
        size = len(votes) // count
        sums = np.bincount(groups, held, count)
        terms = self._terms(users)
        across = size**2 * terms.common - size * terms.mean * (sums[:, None] + sums)
        across = across + self.collision * np.outer(sums, sums)
        own = np.bincount(groups, self.collision * (held - 2 * held**2) - held, count)
        covariance = across + np.diag(own + size * (terms.alone + self.collision * pairs))
        return np.bincount(groups, votes, count).astype(np.float64), np.asarray(covariance)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        held, pairs = self._collisions(votes, users)
        squares = coefficients**2
        total = coefficients.sum()
        sums = coefficients @ held
        terms = self._terms(users)
        across = total**2 * terms.common - 2 * total * terms.mean * sums + self.collision * sums**2
        own = squares @ (self.collision * (held - 2 * held**2) - held)
        return float(across + own + squares.sum() * (terms.alone + self.collision * pairs))

    def _terms(self, users: int) -> _VoteTerms:
        stretch = self.columns / (self.columns - 1)
        square = self.gain**2
        common = stretch**2 / self.columns * (square - 1 / self.columns)
        return _VoteTerms(users * stretch * square, users * common, 1 / (self.columns - 1))

    def _collisions(self, votes: Floats, users: int) -> tuple[Floats, float]:
        """Return how many users hold each value, and the pairs of users with one value.

        Whoever holds none of these values is taken to hold the same one, the worst case for them
        all.
        """
        held = _possible_counts(votes, users)
        rest = max(0.0, users - float(held.sum()))
        return held, float(held @ held) + rest**2 - users


@dataclass(frozen=True)
class ListedSketchNoise(SketchNoise):
    """The noise of a sketch where only some candidates are estimated."""

    complete = False

    def among(self) -> SketchNoise:
        return self


def _odd_parity(hashes: Ints, coordinates: Ints) -> Bools:
    return np.asarray(np.bitwise_count(hashes & coordinates) % 2 == 1)


def _possible_counts(votes: Floats, users: int) -> Floats:
    """Return the nearest numbers that are not negative and sum to at most all users."""
    descending = np.sort(votes)[::-1]
    excess = (np.cumsum(descending) - users) / np.arange(1, len(votes) + 1)
    above = np.flatnonzero(descending > excess)
    shift = max(0.0, excess[above[-1]] if len(above) else 0.0)
    return np.asarray(np.maximum(votes - shift, 0))
