"""Pass ``combine``: EngineRows -> Result.  Numbers with their errors, labels, order and notices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, isfinite, isnan
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.influence import Exposure
from sottovoce.domains.base import Domain
from sottovoce.plans.tables.covariance import Covariances, totals_of
from sottovoce.plans.tables.demand import Groups, Row
from sottovoce.plans.tables.explain import facts_of
from sottovoce.plans.tables.influence import NumberInfluence
from sottovoce.plans.tables.result import Figure, Result, ResultRow
from sottovoce.plans.tables.run import EngineRows
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.state import NO_CLASS
from sottovoce.sql.aggregates.base import Aggregate
from sottovoce.sql.dates import DAY
from sottovoce.sql.evaluate import Values, met
from sottovoce.sql.query import EVERYBODY, Column, GroupBy, Query


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
        statement=parts[0].statement.text,
        explanation=facts_of(
            plan, users, coins_checked=source.coins_checked, way=parts[0].statement.way
        ),
    )


@dataclass(frozen=True, eq=False)
class _PlacedRow:
    """A row, and its position among all groups: public ones first."""

    position: tuple[int, Groups]
    row: ResultRow


def _rows(header: "_Header", part: EngineRows, source: Source) -> list[_PlacedRow]:
    """Return the rows of one statement, for every public group."""
    placed = []
    covariances = Covariances(part.statement.plan)
    for group in range(len(part)):
        for row in part.statement.rows:
            figures = tuple(
                figure_of(
                    number.aggregate,
                    totals_of(part, number, group),
                    covariances.of(part, row.groups, number, group),
                )
                for number in row.numbers
            )
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
    return influence.exposure(totals_of(part, number, group), sum(part.users))


def _labels(header: "_Header", part: EngineRows, row: Row, group: int) -> tuple[str, ...]:
    """Return the values of the columns of GROUP BY."""
    private = iter(row.groups)
    public_keys = iter(range(len(header.query.group_by)))
    labels = []
    for index, grouping in enumerate(header.query.group_by):
        if grouping.public:
            value = part.key(next(public_keys), group)
            labels.append(public_group_label(grouping, header.kind(grouping.column), value))
        else:
            labels.append(header.labels[index][next(private)])
    return tuple(labels)


def figure_of(aggregate: Aggregate, totals: Sequence[float], covariance: Floats) -> Figure:
    """Return a number made of totals, with its error and its interval."""
    value = aggregate.estimate(totals, covariance)
    if isnan(value):
        return Figure(value, inf, unstable=True, dated=aggregate.dated)
    variance = aggregate.variance(totals, covariance)
    if aggregate.unstable(totals, covariance):
        return Figure(value, variance, True, everything)
    bounds = partial(aggregate.bounds, tuple(totals), covariance)
    return Figure(value, variance, False, bounds, aggregate.dated)


def everything(reach: float) -> tuple[float, float]:
    """Return the interval of a number that is divided by what may be 0."""
    return -inf, inf


@dataclass(frozen=True, eq=False)
class _Header:
    """The columns of an answer: their names and the order of the rows."""

    plan: QueryPlan

    @property
    def query(self) -> Query:
        return self.plan.query

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
            grouping.labels or (() if grouping.public else self.kind(grouping.column).labels)
            for grouping in self.query.group_by
        ]

    def holds(self, row: ResultRow) -> bool:
        """Return whether a row meets HAVING."""
        if self.query.having is None:
            return True
        figures = dict(zip(self._all_names, row.figures, strict=True))
        return met(self.query.having, lambda column: _compared(figures[column.name]))

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
        if grouping.public and not grouping.labels:
            kind = self.kind(grouping.column)
            return lambda row: kind.public_rank(row.labels[index])
        ranks = {label: rank for rank, label in enumerate(self.labels[index])}
        return lambda row: ranks.get(row.labels[index], len(ranks))

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
            "a number is unstable if what it is divided by may be 0: it can be anything, "
            "so ask for the sum and the count instead, or about more people"
        )
    if missing > 0 and query.among == EVERYBODY:
        notices.append(
            f"{missing:,} messages are left out: they are incomplete, or share the name of another"
        )
    return notices


def public_group_label(grouping: GroupBy, kind: Domain, value: Any) -> str:
    """Return the name of a public group: of its class, or of its value."""
    if grouping.classes is None:
        return kind.public_label(value)
    return "NULL" if int(value) == NO_CLASS else grouping.labels[int(value)]


def _compared(figure: Figure) -> Values:
    """Return a number as HAVING compares it: NULL if it does not exist."""
    if not isfinite(figure.value):
        return Values.of_missing(dated=figure.dated)
    if not figure.dated:
        return Values.of_numbers([figure.value])
    return Values("date", np.array([round(figure.value * DAY)]), np.ones(1, bool))


def _rank(value: float) -> float:
    return -inf if isnan(value) else value
