"""AVG(measure): the mean of a linear measure over the records that meet the conditions."""

from collections.abc import Sequence
from math import nan

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class Avg(Aggregate):
    """The sum of a measure over the number of records."""

    sql_names = ("AVG",)
    formula = "sum / count"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (Moment(self.measure), self.counted)

    def combine(self, totals: Sequence[float]) -> Combination:
        total, count = totals
        if not count:
            return Combination(nan, None)
        mean = total / count
        return Combination(mean, (1 / count, -mean / count))

    def ratio(self, totals: Sequence[float]) -> tuple[Combination, Combination]:
        above, below = totals
        return Combination(above, (1.0, 0.0)), Combination(below, (0.0, 1.0))
