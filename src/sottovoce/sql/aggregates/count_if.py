"""COUNT_IF(condition): how many records meet one more condition."""

from collections.abc import Sequence

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class CountIf(Aggregate):
    """The number of records that meet the condition in parentheses."""

    sql_names = ("COUNT_IF", "COUNTIF")
    argument = "condition"
    formula = "count"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (self.counted,)

    def combine(self, totals: Sequence[float]) -> Combination:
        return Combination(totals[0], (1.0,))
