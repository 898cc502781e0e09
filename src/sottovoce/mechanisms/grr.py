"""Generalised randomised response: tell the truth, or a uniformly chosen lie.

The choice for small domains.  Beyond about 3 exp(epsilon) values its variance, which grows with the
domain, exceeds that of unary encoding and hashing, which does not.  Also known as direct encoding.

Source: Wang 2021, section 3.3.1.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.noise import BalancedNoise
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.maths import exact
from sottovoce.mechanisms.base import PureMechanism, threshold


@dataclass(frozen=True)
class GRR(PureMechanism, kind="grr"):
    """Report one domain index, true with probability ``p``.

    >>> round(GRR(epsilon=1.0, size=4).p, 3)
    0.475
    """

    epsilon: float
    size: int
    keep: int = threshold()

    def prepare(self) -> None:
        odds = exact.exp(self.epsilon)
        self.settle("keep", exact.threshold_below(exact.divide(odds, exact.add(odds, self.size - 1))))

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return (1 - self.p) / (self.size - 1)

    @property
    def worst_ratio(self) -> Fraction:
        return Fraction(self.keep * (self.size - 1), exact.UNIT - self.keep)

    @property
    def noise(self) -> BalancedNoise:
        return BalancedNoise.subsets(self.p, self.size, 1)

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self.size)).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        honest = rng.bernoulli(self.keep, len(values))
        lies = rng.integers(self.size - 1, len(values))
        lies += lies >= values  # step over the truth: uniform over the other values
        return np.where(honest, values, lies)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.size)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.size, rows(data, unsigned(self.size))).astype(np.int64)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        return np.asarray(reports[:, None] == candidates)

    def count(self, reports: Reports, candidates: Values) -> Ints:
        return np.bincount(reports, minlength=self.size)[candidates].astype(np.int64)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        return np.asarray((coefficients[reports] - self.q * coefficients.sum()) / (self.p - self.q))

    def outcomes(self) -> Reports:
        return np.arange(self.size)

    def likelihood(self, reports: Reports) -> Floats:
        return np.where(self.support(reports, np.arange(self.size)), self.p, self.q)
