"""What one false report can do to counts, sums and joins of tables, before anybody is asked.

Three kinds of numbers are stated, each as the plan of its query has it:

    count    of one value, for every table: of the first and the last value of every column, the
             one that is moved furthest
    sum      over everybody, for every column of numbers
    join     the count of people with these values of all tables, if there are several tables

Conditions and groups make other numbers: EXPLAIN states what a false report does to those.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.domains.base import Domain
from sottovoce.plans.tables.influence import ScoreSpan, total_span
from sottovoce.plans.tables.layout import Layout
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.source import Source
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.aggregates.sum import Sum
from sottovoce.sql.query import Column, Monomial, Query
from sottovoce.tasks.moved_number import MovedNumber


def moved_numbers(layout: Layout, *, coins_checked: bool) -> tuple[MovedNumber, ...]:
    """Return the numbers; with ``coins_checked`` nobody can choose the layer of a report."""
    study = _Study(layout, coins_checked)
    tables = range(len(layout.tables.names))
    counts = [study.worst_count(table) for table in tables]
    numbers = [MovedNumber("count", count.name, count.span.influence) for count in counts]
    for table in tables:
        numbers += study.sums(table)
    if len(counts) > 1:
        numbers.append(study.join(counts))
    return tuple(numbers)


@dataclass(frozen=True, eq=False)
class _ValueCount:
    """The count of one value of a column."""

    column: Column
    sets: dict[Column, Bools]
    name: str
    span: ScoreSpan


@dataclass(frozen=True, eq=False)
class _Study:
    """The numbers of a layout."""

    layout: Layout
    coins_checked: bool

    def worst_count(self, table: int) -> _ValueCount:
        """Return the count at an end of a column that a false report moves furthest."""
        kinds = self.layout.attributes(table)
        columns = [Column(table, index) for index in range(len(kinds))]
        firsts = [self._count(column, 0) for column in columns]
        lasts = [self._count(column, kinds[column.index].size - 1) for column in columns]
        return max(firsts + lasts, key=lambda count: count.span.magnitude)

    def sums(self, table: int) -> Iterator[MovedNumber]:
        """Yield the sum over every column of numbers."""
        for index, kind in enumerate(self.layout.attributes(table)):
            if kind.value_type == "number":
                yield self._sum(Column(table, index), kind)

    def join(self, counts: Sequence[_ValueCount]) -> MovedNumber:
        """Return the count of people with all of some values, one of each table."""
        sets = {column: chosen for count in counts for column, chosen in count.sets.items()}
        tables = tuple(count.column.table for count in counts)
        query = Query(tables, (Count("count"),), where=(Monomial(1.0, sets),))
        names = ", ".join(count.name for count in counts)
        return MovedNumber("join", names, self._span(query).influence)

    def _count(self, column: Column, value: int) -> _ValueCount:
        kind = self._kind(column)
        sets = {column: np.arange(kind.size) == value}
        query = Query((column.table,), (Count("count"),), where=(Monomial(1.0, sets),))
        name = f"{self._name(column)} = {kind.label_at(value)}"
        return _ValueCount(column, sets, name, self._span(query))

    def _sum(self, column: Column, kind: Domain) -> MovedNumber:
        query = Query((column.table,), (Sum("sum", (MeasureTerm(column=column),)),))
        low, high = kind.value_numbers[[0, -1]].tolist()
        return MovedNumber("sum", self._name(column), self._span(query).influence, low, high)

    def _span(self, query: Query) -> ScoreSpan:
        """Return what one message can contribute to the number of a query."""
        plan = plan_query(query, Source(self.layout))
        (total,) = plan.totals
        return total_span(plan.prediction.candidate, total, coins_checked=self.coins_checked)

    def _name(self, column: Column) -> str:
        tables = self.layout.tables
        return f"{tables.names[column.table]}.{tables.records(column.table).names[column.index]}"

    def _kind(self, column: Column) -> Domain:
        return self.layout.attributes(column.table)[column.index]
