"""Summation with histogram encoding: Laplace noise on every bit, summed.

A published baseline, never for devices: its noise is floating point, whose last digits betray the
value. At epsilon 1 three in twenty reports of a 0 are provably not of a 1.  It has no kind that a
task could name, and its reports do not pack.

Source: Wang 2021, section 3.3.2; Mironov 2012 (the last digits).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np

from sottovoce.arrays import Floats, Longs, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.normal import upper_quantile
from sottovoce.mechanisms.base import Mechanism


@dataclass(frozen=True)
class SHE(Mechanism):
    """Report (users, size) noisy numbers."""

    epsilon: float
    size: int

    def prepare(self) -> None:
        """Leave the fields alone: there are no thresholds."""

    @property
    def scale(self) -> float:
        """Return the scale of the noise: two bits differ between two values."""
        return 2 / self.epsilon

    @property
    def noise(self) -> "LaplaceNoise":
        """Return the law of the errors, the same whoever holds what."""
        return LaplaceNoise(2 * self.scale**2, 0.0)

    @property
    def worst_ratio(self) -> Fraction:
        """Return the ratio of real-valued noise; that of its floats has no bound."""
        # The sixtieth digit of the exponential may have been rounded up.
        return Fraction(exact.exp(self.epsilon)) * (1 - Fraction(1, 10**50))

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        noisy = self._laplace(rng.longs(len(values) * self.size)).reshape(-1, self.size)
        noisy[np.arange(len(values)), values] += 1
        return noisy

    def estimate_reports(self, reports: Reports) -> Estimate:
        """Return unbiased totals, straight from the reports."""
        return Estimate(reports.sum(axis=0), self.noise, len(reports), self.epsilon)

    def likelihood(self, reports: Reports) -> Floats:
        """Return densities, of real-valued noise."""
        shifts = np.abs(reports) - np.abs(reports - 1)
        distances = np.abs(reports).sum(axis=1, keepdims=True)
        log_density = -distances / self.scale - self.size * np.log(2 * self.scale)
        return np.asarray(np.exp(log_density + shifts / self.scale))

    @property
    def width(self) -> int:
        return _refuse()

    def pack(self, reports: Reports) -> bytes:
        return _refuse()

    def unpack(self, data: bytes) -> Reports:
        return _refuse()

    def outcomes(self) -> Reports:
        return _refuse()

    def tally(self, reports: Reports) -> Tally:
        return _refuse()

    def estimate(self, tally: Tally) -> Estimate:
        return _refuse()

    def _laplace(self, words: Longs) -> Floats:
        # uniform in (-1/2, 1/2), never 0
        centred = ((words >> np.uint64(12)) + 0.5) * 2.0**-52 - 0.5
        return np.asarray(-self.scale * np.sign(centred) * np.log1p(-2 * np.abs(centred)))


@dataclass(frozen=True)
class LaplaceNoise(IndependentNoise):
    """The noise of sums of Laplace draws, whose tails are heavier than normal ones.

    The excess kurtosis of a sum of n draws is 3 / n, so that its quantiles lie at
    z + (z^3 - 3 z) / (8 n) standard deviations (Cornish and Fisher 1938).
    """

    @property
    def supports(self) -> None:
        return None  # votes are real numbers

    def unheld_votes(self, votes: Floats, users: int, tail: float) -> Floats:
        score = upper_quantile(tail)
        stretched = score + (score**3 - 3 * score) / (8 * users)
        return stretched * np.sqrt(self.unheld_variances(votes, users))


def _refuse() -> NoReturn:
    raise ParameterError("reports of SHE are raw floats and cannot be packed: use estimate_reports")
