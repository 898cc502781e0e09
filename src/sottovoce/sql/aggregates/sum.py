"""SUM(measure): the sum of a linear measure over the records that meet the conditions."""

from collections.abc import Sequence

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class Sum(Aggregate):
    """The sum of a measure."""

    sql_names = ("SUM",)
    formula = "sum"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (Moment(self.measure),)

    def combine(self, totals: Sequence[float]) -> Combination:
        return Combination(totals[0], (1.0,))
