"""FREQ(*): which share of all records meets the conditions."""

from collections.abc import Sequence
from math import nan

from sottovoce.sql.aggregates.base import Aggregate, Combination, Moment


class Freq(Aggregate):
    """The number of records over the number of all of them, public filters and groups put aside."""

    sql_names = ("FREQ",)
    argument = "star"
    formula = "count / count of everybody"

    @property
    def moments(self) -> tuple[Moment, ...]:
        return (self.counted, Moment(of_everybody=True))

    def combine(self, totals: Sequence[float]) -> Combination:
        count, everybody = totals
        if not everybody:
            return Combination(nan, None)
        share = count / everybody
        return Combination(share, (1 / everybody, -share / everybody))

    def ratio(self, totals: Sequence[float]) -> tuple[Combination, Combination]:
        above, below = totals
        return Combination(above, (1.0, 0.0)), Combination(below, (0.0, 1.0))
