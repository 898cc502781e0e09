"""VARIANCE(column): the variance of a column over the records that meet the conditions."""

from collections.abc import Sequence
from math import nan

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class Variance(Aggregate):
    """The mean square less the squared mean; noise may make it negative, and it is not clipped."""

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

    def divisors(self, totals: Sequence[float]) -> tuple[Combination, ...]:
        return (Combination(totals[1], (0.0, 1.0, 0.0)),)
