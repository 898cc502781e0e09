"""Pass ``combine``: EngineRows -> Result.  Numbers with their errors, labels, order and notices.

The covariance of two totals is the sum over people of the product of their parts, less what that
would be without noise.  For counts where everybody has one record, the latter is the count itself
(of two conditions, the smaller count); for other numbers no more is known than (total * total) /
users, so their errors include how people differ: a little too wide where there is little noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, isnan, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.influence import Exposure
from sottovoce.domains.base import Domain
from sottovoce.plans.tables.demand import Groups, Number, Row
from sottovoce.plans.tables.explain import facts_of
from sottovoce.plans.tables.influence import NumberInfluence
from sottovoce.plans.tables.result import Figure, Result, ResultRow
from sottovoce.plans.tables.run import EngineRows
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source
from sottovoce.sql.aggregates.base import Aggregate, Combination
from sottovoce.sql.evaluate import Values, truth
from sottovoce.sql.query import EVERYBODY, Column, Query
from sottovoce.sql.values import numbers_of

STABLE = 3.0  # standard errors by which the denominator of a ratio must exceed 0


def combine(parts: tuple[EngineRows, ...], source: Source) -> Result:
    """Return the answer that the rows of all statements make up."""
    plan = parts[0].statement.plan
    header = _Header(plan)
    placed = [placed for part in parts for placed in _rows(header, part, source)]
    placed.sort(key=lambda each: each.position)
    found = [each.row for each in placed]
    withheld = {id(row) for row in (source.withheld(found) if source.withheld else ())}
    kept = [row for row in found if id(row) not in withheld and header.holds(row)]
    rows = [header.shown(row) for row in header.ordered(kept)[plan.query.rows_shown]]
    users = sum(parts[0].users)
    missing = source.reports.users(0) - users
    return Result(
        columns=header.columns,
        keys=header.keys,
        names=header.names,
        table=tuple(rows),
        suppressed=tuple(sorted(row.labels for row in found if id(row) in withheld)),
        user_count=users,
        people_count=sum(parts[0].people),
        epsilon=plan.layout.epsilon,
        level=plan.query.options.confidence,
        notices=(*plan.query.notices, *_notices(plan.query, missing, rows)),
        statement=parts[0].statement.tree.sql(pretty=True),
        explanation=facts_of(plan, users, coins_checked=source.coins_checked),
    )


@dataclass(frozen=True, eq=False)
class _PlacedRow:
    """A row, and its position among all groups: public ones first."""

    position: tuple[int, Groups]
    row: ResultRow


def _rows(header: "_Header", part: EngineRows, source: Source) -> list[_PlacedRow]:
    """Return the rows of one statement, for every public group."""
    placed = []
    for group in range(len(part)):
        for row in part.statement.rows:
            figures = tuple(_figure(header, part, number, group) for number in row.numbers)
            count = None if row.count is None else part.total(row.count, group)
            exposure = partial(_exposure, source, part, row, group)
            labels = _labels(header, part, row, group)
            built = ResultRow(labels, figures, part.people[group], count, exposure)
            placed.append(_PlacedRow((group, row.groups), built))
    return placed


def _exposure(
    source: Source, part: EngineRows, row: Row, group: int, index: int
) -> Exposure | None:
    """Return how false messages move a number; None if its layers are weighted by shares (Hajek),
    which the messages change as well.
    """
    plan = part.statement.plan
    if plan.query.options.scale == "hajek":
        return None
    number = row.numbers[index]
    candidate = plan.prediction.candidate
    influence = NumberInfluence(candidate, row, number, source.coins_checked)
    return influence.exposure(_totals(part, number, group), sum(part.users))


def _labels(header: "_Header", part: EngineRows, row: Row, group: int) -> tuple[str, ...]:
    """Return the values of the columns of GROUP BY."""
    private = iter(row.groups)
    public_keys = iter(range(len(header.query.group_by)))
    labels = []
    for index, grouping in enumerate(header.query.group_by):
        if grouping.public:
            labels.append(
                public_label(header.kind(grouping.column), part.key(next(public_keys), group))
            )
        else:
            labels.append(header.labels[index][next(private)])
    return tuple(labels)


def _figure(header: "_Header", part: EngineRows, number: Number, group: int) -> Figure:
    """Return a number with its error; moments of everybody are summed over all public groups."""
    aggregate = number.aggregate
    everywhere = range(len(part))
    totals = np.array(_totals(part, number, group))
    squares = np.array(
        [[part.square(left, right, group) for right in number.totals] for left in number.totals]
    )
    for index, (moment, total) in enumerate(zip(aggregate.moments, number.totals, strict=True)):
        if moment.of_everybody:
            squares[index, index] = sum(part.square(total, total, each) for each in everywhere)
    users = sum(part.users) if aggregate.of_everybody else part.users[group]
    noiseless = np.outer(totals, totals) / max(users, 1)
    if aggregate.counts_records and header.one_record_each:
        noiseless = np.maximum(noiseless, np.minimum.outer(totals, totals))
    return figure_of(aggregate, totals, squares - noiseless)


def _totals(part: EngineRows, number: Number, group: int) -> list[float]:
    """Return the totals of a number's moments; those of everybody are summed over all groups."""
    totals = []
    for moment, total in zip(number.aggregate.moments, number.totals, strict=True):
        groups = range(len(part)) if moment.of_everybody else [group]
        totals.append(sum(part.total(total, each) for each in groups))
    return totals


def figure_of(aggregate: Aggregate, totals: Floats, covariance: Floats) -> Figure:
    """Return a number made of totals, with the error of its linear part."""
    value, slopes = aggregate.combine(totals.tolist())
    if slopes is None:
        return Figure(value, inf, unstable=True)
    unstable = any(
        abs(divisor.value) < STABLE * sqrt(_variance(divisor, covariance))
        for divisor in aggregate.divisors(totals.tolist())
    )
    return Figure(value, _variance(Combination(value, slopes), covariance), unstable=unstable)


def _variance(combination: Combination, covariance: Floats) -> float:
    """Return the variance of the linear part of a combination."""
    gradient = np.array(combination.slopes)
    return max(0.0, float(gradient @ covariance @ gradient))


@dataclass(frozen=True, eq=False)
class _Header:
    """The columns of an answer: their names and the order of the rows."""

    plan: QueryPlan

    @property
    def query(self) -> Query:
        return self.plan.query

    @cached_property
    def one_record_each(self) -> bool:
        """Return whether everybody has one record in every table, so that the squares of a
        condition sum to it.
        """
        return not any(map(self.plan.layout.tables.most, self.query.tables))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the numbers."""
        return tuple(aggregate.name for aggregate in self.query.aggregates)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the groups, with their tables where two names are equal."""
        names = [grouping.name for grouping in self.query.group_by]
        tables = [
            self.plan.layout.tables.names[grouping.column.table] for grouping in self.query.group_by
        ]
        pairs = zip(tables, names, strict=True)
        return tuple(f"{table}.{name}" if names.count(name) > 1 else name for table, name in pairs)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return what was selected in its order, after the groups that were not selected."""
        shown = self.query.shown
        if not shown:
            return (*self.keys, *self.names)
        hidden = [key for index, key in enumerate(self.keys) if index not in shown]
        return (*hidden, *(self.keys[item] if isinstance(item, int) else item for item in shown))

    @cached_property
    def labels(self) -> list[Sequence[str]]:
        """Return the names of the groups of every item of GROUP BY; none for a public one."""
        return [
            () if grouping.public else grouping.labels or labels_of(self.kind(grouping.column))
            for grouping in self.query.group_by
        ]

    def holds(self, row: ResultRow) -> bool:
        """Return whether a row meets HAVING."""
        if self.query.having is None:
            return True
        values = dict(zip(self._all_names, row.figures, strict=True))
        return bool(
            truth(self.query.having, lambda column: Values.of_numbers([values[column.name].value]))[
                0
            ]
        )

    def ordered(self, rows: list[ResultRow]) -> list[ResultRow]:
        """Return the rows in the order of ORDER BY: the last item is sorted by first."""
        for order in reversed(self.query.order_by):
            rows = sorted(rows, key=self._sorted_by(order.name), reverse=order.descending)
        return rows

    def _sorted_by(self, name: str) -> Callable[[ResultRow], Any]:
        if name in self._all_names:
            number = self._all_names.index(name)
            return lambda row: _rank(row.figures[number].value)
        index = next(
            index for index, grouping in enumerate(self.query.group_by) if grouping.name == name
        )
        grouping = self.query.group_by[index]
        if grouping.public:
            numeric = self.kind(grouping.column).ordered
            return lambda row: float(row.labels[index]) if numeric else row.labels[index]
        ranks = {label: rank for rank, label in enumerate(self.labels[index])}
        return lambda row: ranks[row.labels[index]]

    def shown(self, row: ResultRow) -> ResultRow:
        """Return a row without the numbers that only HAVING and ORDER BY need."""
        return replace(row, figures=row.figures[: len(self.query.aggregates)])

    @cached_property
    def _all_names(self) -> tuple[str, ...]:
        return tuple(number.name for number in self.query.numbers)

    def kind(self, column: Column) -> Domain:
        """Return the domain of a column."""
        tables = self.plan.layout.tables
        if column.public:
            return tables.public_kinds[tables.public_names.index(column.public)]
        return self.plan.layout.attributes(column.table)[column.index]


def _notices(query: Query, missing: int, rows: Sequence[ResultRow]) -> list[str]:
    notices = []
    if any(figure.unstable for row in rows for figure in row.figures):
        notices.append(
            f"a ratio is unstable if its denominator is less than {STABLE:g} standard errors "
            "above 0: its interval is not reliable"
        )
    if missing > 0 and query.among == EVERYBODY:
        notices.append(
            f"{missing:,} messages are left out: they are incomplete, or share the name of another"
        )
    return notices


def public_label(kind: Domain, value: Any) -> str:
    """Return the name of a public value: whole numbers without a point."""
    if not kind.ordered:
        return str(value)
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def labels_of(kind: Domain) -> Sequence[str]:
    """Return the names of a column's values."""
    labels = getattr(kind, "labels", None)
    return labels if labels is not None else [f"{number:.6g}" for number in numbers_of(kind)]


def _rank(value: float) -> float:
    return -inf if isnan(value) else value
