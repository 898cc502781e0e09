"""VARIANCE(column): the variance of a column over the records that meet the conditions."""

from collections.abc import Sequence
from math import nan

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class Variance(Aggregate):
    """The mean square less the squared mean; noise may make it negative, and it is not clipped.

    The noise of the mean and of the count makes it too small, or too large, by half the product of
    its second derivatives and their covariance, which is taken away.
    """

    sql_names = ("VARIANCE", "VAR_POP")
    argument = "column"
    formula = "sum of squares / count - (sum / count)^2"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (Moment(self.measure), self.counted, Moment(self.squared_measure))

    def combine(self, totals: Sequence[float]) -> Combination:
        total, count, squares = totals
        if not count:
            return Combination(nan, None)
        mean, mean_square = total / count, squares / count
        slopes = (-2 * mean / count, (2 * mean**2 - mean_square) / count, 1 / count)
        return Combination(mean_square - mean**2, slopes)

    def estimate(self, totals: Sequence[float], covariance: Floats) -> float:
        plain, slopes = self.combine(totals)
        if slopes is None:
            return plain
        return plain - 0.5 * float((_second_derivatives(totals) * covariance).sum())

    def divisors(self, totals: Sequence[float]) -> tuple[Combination, ...]:
        return (Combination(totals[1], (0.0, 1.0, 0.0)),)


def _second_derivatives(totals: Sequence[float]) -> Floats:
    """Return those of squares / count - (sum / count)^2 by sum, count and squares."""
    total, count, squares = totals
    mean = total / count
    by_sum_and_count = 4 * mean / count**2
    by_count = (2 * squares / count - 6 * mean**2) / count**2
    by_count_and_squares = -1 / count**2
    return np.array(
        [
            [-2 / count**2, by_sum_and_count, 0.0],
            [by_sum_and_count, by_count, by_count_and_squares],
            [0.0, by_count_and_squares, 0.0],
        ]
    )
