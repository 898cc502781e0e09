"""STDDEV(column): the standard deviation of a column over the records that meet the conditions."""

from collections.abc import Sequence
from math import nan, sqrt

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment

ROUNDING = 1e-12  # a difference of squares below this share of them is 0


class Stddev(Aggregate):
    """The root of the mean square less the squared mean, 0 where noise makes that negative."""

    sql_names = ("STDDEV",)
    argument = "column"
    formula = "sqrt(sum of squares / count - (sum / count)^2)"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (Moment(self.measure), self.counted, Moment(self.squared_measure))

    def combine(self, totals: Sequence[float]) -> Combination:
        total, count, squares = totals
        if not count:
            return Combination(nan, None)
        mean, mean_square = total / count, squares / count
        if mean_square - mean**2 <= ROUNDING * mean_square:
            return Combination(0.0, None)
        deviation = sqrt(mean_square - mean**2)
        scale = 2 * deviation * count
        return Combination(
            deviation, (-2 * mean / scale, (2 * mean**2 - mean_square) / scale, 1 / scale)
        )

    def divisors(self, totals: Sequence[float]) -> tuple[Combination, ...]:
        return (Combination(totals[1], (0.0, 1.0, 0.0)),)
