"""STDDEV(column): the standard deviation of a column over the records that meet the conditions."""

from collections.abc import Sequence
from math import sqrt

from sottovoce.arrays import Floats
from sottovoce.sql.aggregates.base import Combination
from sottovoce.sql.aggregates.variance import Variance

ROUNDING = 1e-12  # a difference of squares below this share of them is 0


class Stddev(Variance):
    """The root of the variance, 0 where noise makes that negative.

    A root of a noisy number is too small: with the relative variance r of the variance V

        E sqrt(V) = deviation (1 - r / 8 + ...)

    so it is multiplied by 1 + r / (8 (1 + r)), which is that correction where r is small and never
    more than an eighth where the series says nothing.

    The ends of its interval are the roots of those of the variance: they hold the truth as often,
    however close to 0 it is.  Its standard error is half the interval of one standard error.
    """

    sql_names = ("STDDEV", "STDDEV_POP")
    formula = "sqrt(sum of squares / count - (sum / count)^2)"

    def combine(self, totals: Sequence[float]) -> Combination:
        variance, slopes = super().combine(totals)
        if slopes is None:
            return Combination(variance, None)
        if variance <= _least(totals):
            return Combination(0.0, None)
        deviation = sqrt(variance)
        return Combination(deviation, tuple(slope / (2 * deviation) for slope in slopes))

    def estimate(self, totals: Sequence[float], covariance: Floats) -> float:
        variance = self._unbiased_variance(totals, covariance)
        if not variance:
            return variance
        relative = self._variance.variance(totals, covariance) / variance**2
        return sqrt(variance) * (1 + relative / (8 * (1 + relative)))

    def variance(self, totals: Sequence[float], covariance: Floats) -> float:
        low, high = self.bounds(totals, covariance, 1.0)
        return ((high - low) / 2) ** 2

    def bounds(
        self, totals: Sequence[float], covariance: Floats, reach: float
    ) -> tuple[float, float]:
        plain = self._variance
        half = reach * sqrt(plain.variance(totals, covariance))
        variance = self._unbiased_variance(totals, covariance)
        return _root(variance - half), _root(variance + half)

    def _unbiased_variance(self, totals: Sequence[float], covariance: Floats) -> float:
        """Return the variance without its bias, and 0 where that is negative or only rounding."""
        variance = self._variance.estimate(totals, covariance)
        return variance if variance > _least(totals) else 0.0 * variance

    @property
    def _variance(self) -> Variance:
        return Variance(self.name, self.measure, self.counted)


def _least(totals: Sequence[float]) -> float:
    """Return the variance that is nothing but rounding."""
    return ROUNDING * abs(totals[2] / totals[1]) if totals[1] else 0.0


def _root(number: float) -> float:
    return 0.0 if number <= 0 else sqrt(number)
