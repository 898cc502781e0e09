"""AVG(measure): the mean of a linear measure over the records that meet the conditions."""

from collections.abc import Sequence
from math import nan

from sottovoce.sql.aggregates.base import COUNTED, Aggregate, Combination, Moment


class Avg(Aggregate):
    """The sum of a measure over the number of records."""

    sql_names = ("AVG",)
    formula = "sum / count"
    denominator = 1

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (Moment(self.measure), COUNTED)

    def combine(self, totals: Sequence[float]) -> Combination:
        total, count = totals
        if not count:
            return Combination(nan, ())
        mean = total / count
        return Combination(mean, (1 / count, -mean / count))
