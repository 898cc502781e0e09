"""From what an engine added up to the rows of an answer: numbers with their errors, labels, order and notices.

The variance of a total is the sum of people's squared contributions less what those would be without noise.  Of a count
where everybody has one record that is the count itself; of other numbers no more than the square of the total over the
number of people is known, so their errors include how people differ: a little too wide where there is little noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.domains.base import Domain
from sottovoce.plans.tables.explaining import explained, linear
from sottovoce.plans.tables.layout import Asking
from sottovoce.plans.tables.planning import Cell, Line, Work
from sottovoce.plans.tables.result import Figure, Result
from sottovoce.sql.query import Column, Every, Query
from sottovoce.sql.values import numbers_of
from sottovoce.tasks.collected import Columns

STABLE = 3.0  # standard errors that a denominator lies above nought


@dataclass(frozen=True, eq=False)
class Told:
    """What the engine said about some groups, and the statement it was given."""

    work: Work
    found: Columns
    statement: Any

    def rows(self, table: "_Table") -> "list[_Row]":
        """Return the rows of these groups, for every group of public columns."""
        return [
            _Row(
                (place, line.groups),
                self._labels(table, line, place),
                tuple(self._figure(table, cell, place) for cell in line.cells),
                int(self.found["users"][place]),
            )
            for place in range(len(self.found["users"]))
            for line in self.work.lines
        ]

    @property
    def users(self) -> int:
        """Return how many people it is about."""
        return int(sum(self.found["users"]))

    def _labels(self, table: "_Table", line: Line, place: int) -> tuple[str, ...]:
        private, public = iter(line.groups), iter(range(len(table.query.group_by)))
        labels = []
        for column in table.query.group_by:
            if column.public:
                labels.append(str(self.found[f"g{next(public)}"][place]))
            else:
                labels.append(labels_of(table.kind(column))[next(private)])
        return tuple(labels)

    def _figure(self, table: "_Table", cell: Cell, place: int) -> Figure:
        own = [place] if cell.aggregate.kind != "freq" else range(len(self.found["users"]))
        users = sum(int(self.found["users"][one]) for one in own)
        totals = np.array([self._number(f"t{at}", place) for at in cell.parts])
        moments = np.array([[self._moment(one, other, place) for other in cell.parts] for one in cell.parts])
        if cell.aggregate.kind == "freq":  # a share of everybody, whatever public group they are in
            totals[1] = sum(self._number(f"t{cell.parts[1]}", one) for one in own)
            moments[1, 1] = sum(self._moment(cell.parts[1], cell.parts[1], one) for one in own)
        spread = np.outer(totals, totals) / max(users, 1)
        if (
            cell.aggregate.kind in ("count", "freq") and table.single
        ):  # of two conditions, one within the other, the less
            spread = np.maximum(spread, np.minimum.outer(totals, totals))
        return figure(cell.aggregate.kind, totals, moments - spread)

    def _moment(self, one: int, other: int, place: int) -> float:
        return self._number(f"m{min(one, other)}_{max(one, other)}", place)

    def _number(self, name: str, place: int) -> float:
        value = self.found[name][place]
        return 0.0 if value is None or value is np.ma.masked else float(value)  # a sum over nobody


@dataclass(frozen=True)
class _Row:
    """A row: where it stands among the groups, its labels, its numbers."""

    place: tuple[int, tuple[int, ...]]
    labels: tuple[str, ...]
    figures: tuple[Figure, ...]
    people: int


def result(asking: Asking, everybody: int, told: Sequence[Told]) -> Result:
    """Return the answer in what was said about all groups, of so many people who made reports."""
    table, work = _Table(asking, told[0].work.query), told[0].work
    rows = sorted((row for one in told for row in one.rows(table)), key=lambda row: row.place)
    rows = table.ordered(rows)[: table.query.limit]
    users = told[0].users
    return Result(
        table.columns,
        table.keys,
        table.names,
        tuple(row.labels for row in rows),
        tuple(row.figures for row in rows),
        users,
        asking.epsilon,
        table.query.options.confidence,
        (*table.query.notices, *_notices(table.query, everybody - users, rows)),
        told[0].statement.sql(pretty=True),
        explained(asking, table.query, users, work),
        tuple(row.people for row in rows),
    )


@dataclass(frozen=True, eq=False)
class _Table:
    """The columns of an answer: what they are called and how their rows are ordered."""

    asking: Asking
    query: Query

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the numbers."""
        return tuple(one.name for one in self.query.aggregates)

    @property
    def single(self) -> bool:
        """Return whether a condition holds once or not at all of everybody, so that its squares sum to its count."""
        return not any(map(self.asking.services.most, self.query.tables))

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the groups, with their tables where two are alike."""
        names = [self._name(column) for column in self.query.group_by]
        tables = [self.asking.services.names[column.table] for column in self.query.group_by]
        pairs = zip(tables, names, strict=True)
        return tuple(f"{table}.{name}" if names.count(name) > 1 else name for table, name in pairs)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return what was selected in its order, after groups that were not."""
        shown, keys = self.query.shown, self.keys
        hidden = [key for at, key in enumerate(keys) if at not in shown] if shown else keys
        return (*hidden, *([keys[one] if isinstance(one, int) else one for one in shown] or self.names))

    def ordered(self, rows: list[_Row]) -> list[_Row]:
        """Return the rows as the question wants them."""
        by, down = self.query.order_by, self.query.descending
        if not by:
            return rows
        if by in self.names:
            at = self.names.index(by)
            return sorted(rows, key=lambda row: _rank(row.figures[at].value), reverse=down)
        at = self.keys.index(by)
        column = self.query.group_by[at]
        places = {} if column.public else {label: place for place, label in enumerate(labels_of(self.kind(column)))}
        return sorted(rows, key=lambda row: places.get(row.labels[at], row.labels[at]), reverse=down)

    def kind(self, column: Column) -> Domain:
        """Return what a private column holds."""
        return self.asking.attributes(column.table)[column.place]

    def _name(self, column: Column) -> str:
        if column.public:
            return column.public.partition(".")[2]
        return self.asking.services.records(column.table).names[column.place]


def _notices(query: Query, missing: int, rows: Sequence[_Row]) -> list[str]:
    found = []
    if any(one.unstable for row in rows for one in row.figures):
        found.append(
            f"a ratio is marked unstable where its denominator is not {STABLE:g} standard errors above nought: "
            "its interval says nothing"
        )
    if missing > 0 and query.among == Every():
        found.append(f"{missing:,} messages are left out: they are not complete, or share the name of another")
    return found


def labels_of(kind: Domain) -> Sequence[str]:
    """Return the names of a column's values."""
    known = getattr(kind, "labels", None)
    return known if known is not None else [f"{number:.6g}" for number in numbers_of(kind)]


def _rank(value: float) -> float:
    return -inf if np.isnan(value) else value


def figure(kind: str, totals: Floats, covariance: Floats) -> Figure:
    """Return a number made of totals, with the error of its linear part."""
    value, slopes = linear(kind, totals.tolist())
    ratio = len(totals) > 1
    if not slopes:
        return Figure(value, inf, True)
    doubtful = ratio and totals[1] < STABLE * sqrt(max(0.0, covariance[1, 1]))
    return Figure(value, max(0.0, float(np.array(slopes) @ covariance @ np.array(slopes))), bool(doubtful))
