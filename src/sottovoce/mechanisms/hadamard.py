"""Hadamard response: a column of the Hadamard matrix in which the value's row is more likely positive than not.

As accurate as binary local hashing, hence near the best only for epsilon below 1.  A report is one small integer
without a seed, and one Walsh-Hadamard transform decodes the whole domain.

Drawn in this order: whether the sign will be positive, then a column; a column of the wrong sign is exchanged for its
partner, in which one fixed bit of the row is flipped.

Source: Acharya, Sun and Zhang 2019.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.base import PureMechanism, threshold


@dataclass(frozen=True)
class HadamardResponse(PureMechanism, kind="hadamard"):
    """Report a column; it supports the values whose rows are positive there.  Value v owns row v + 1.

    >>> HadamardResponse(epsilon=0.5, size=100).columns
    128
    """

    epsilon: float
    size: int
    keep: int = threshold()

    largest = (1 << 26) - 1  # a tally has a cell for every column

    def prepare(self) -> None:
        odds = exact.exp(self.epsilon)
        self.settle("keep", exact.threshold_below(exact.divide(odds, exact.add(odds, 1))))
        if not exact.UNIT < 2 * self.keep < 2 * exact.UNIT:
            raise ParameterError("a positive sign must be kept more often than by chance, and not always")

    @property
    def columns(self) -> int:
        """Return the side of the matrix: the smallest power of two above the domain."""
        return 1 << self.size.bit_length()

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return 0.5  # two rows agree in half of the columns

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(self.keep, exact.UNIT - self.keep)

    @property
    def noise(self) -> "HadamardNoise":
        return HadamardNoise.between(self.p, np.arange(self.size))

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self.columns)).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        owned = self.check(values) + 1
        positive = rng.bernoulli(self.keep, len(owned))
        columns = rng.integers(self.columns, len(owned))
        partners = columns ^ (owned & -owned)  # flips the sign: a bijection between the two halves
        return np.where(_positive(owned, columns) == positive, columns, partners)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.columns)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.columns, rows(data, unsigned(self.columns))).astype(np.int64)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        return _positive(candidates + 1, reports[:, None])

    def tally(self, reports: Reports) -> Tally:
        return Tally(self.key, len(reports), {"columns": self._histogram(reports)})

    def supports(self, tally: Tally) -> Ints:
        return self._positives(self.check_tally(tally)["columns"])

    def count(self, reports: Reports, candidates: Values) -> Ints:
        return self._positives(self._histogram(reports))[candidates]

    def estimate_among(self, reports: Reports, candidates: Values) -> Estimate:
        estimate = super().estimate_among(reports, candidates)
        return replace(estimate, noise=HadamardNoise.between(self.p, candidates))

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        signed = transform(np.pad(coefficients, (1, self.columns - 1 - self.size)))  # positives less negatives
        return np.asarray(signed[reports] / (2 * self.p - 1))

    def outcomes(self) -> Reports:
        return np.arange(self.columns)

    def likelihood(self, reports: Reports) -> Floats:
        chance = np.where(self.support(reports, np.arange(self.size)), self.p, 1 - self.p)
        return chance / (self.columns // 2)

    def _histogram(self, reports: Reports) -> Ints:
        return np.bincount(reports, minlength=self.columns).astype(np.int64)

    def _positives(self, histogram: Ints) -> Ints:
        signed = transform(histogram)  # its first entry is the number of reports
        return np.asarray((signed[0] + signed[1 : self.size + 1]) // 2)


@dataclass(frozen=True, eq=False)
class HadamardNoise(IndependentNoise):
    """Votes for two values go together for those users whose row is the XOR of the two rows.

    Holders of values that were not estimated are not seen.
    """

    gain: float  # 1 / (2 p - 1), the size of every vote
    owned: Ints  # the row of every cell

    @classmethod
    def between(cls, p: float, candidates: Values) -> "HadamardNoise":
        """Return the noise of these candidates' votes."""
        plain = IndependentNoise.of(p, 0.5)
        return cls(plain.unheld, plain.held, 1 / (2 * p - 1), candidates + 1)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        # One user holding t: gain^2 sum c^2 - c_t^2 + gain * (sum of c_u c_v over rows u ^ v = t).
        squares = coefficients**2
        own = self.held * squares + self.gain * self._products(coefficients)
        return float(users * self.unheld * squares.sum() + np.clip(own @ votes, users * own.min(), users * own.max()))

    def _products(self, coefficients: Floats) -> Floats:
        spread = np.zeros(1 << int(self.owned.max()).bit_length())
        spread[self.owned] = coefficients
        convolved = transform(transform(spread) ** 2) / len(spread)
        return np.asarray(convolved[self.owned])


def _positive(owned: Values, columns: Values) -> Bools:
    return np.asarray(np.bitwise_count(owned & columns) % 2 == 0)
