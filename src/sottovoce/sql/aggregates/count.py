"""COUNT(*): how many records meet the conditions."""

from collections.abc import Sequence

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class Count(Aggregate):
    """The number of records."""

    sql_names = ("COUNT",)
    argument = "star"
    formula = "count"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (self.counted,)

    def combine(self, totals: Sequence[float]) -> Combination:
        return Combination(totals[0], (1.0,))
