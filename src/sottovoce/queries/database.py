"""Answers in SQL from one collection: any number of questions, at no further cost to anybody.

Source: Wang 2021, chapter 7; Xu 2020.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, sqrt
from typing import Any

import numpy as np

from sottovoce.answers import Answer, Answers
from sottovoce.arrays import Floats
from sottovoce.domain import Categories, Domain
from sottovoce.estimate import Estimate, StatedNoise
from sottovoce.queries import planning, rewriting
from sottovoce.queries.asking import Asking
from sottovoce.queries.explaining import explained, linear
from sottovoce.queries.planning import Cell, Line, Work
from sottovoce.queries.query import Column, Query
from sottovoce.queries.result import Explanation, Figure, Result
from sottovoce.queries.values import numbers_of
from sottovoce.task import Collected, Columns, Scored

STABLE = 3.0  # standard errors that a denominator lies above nought
_LISTED = 200  # values of a column whose counts an answer lists by itself


@dataclass(frozen=True, eq=False)
class Database(Answers):
    """The counts of every column, by name, and an answer to any question in SQL."""

    asking: Asking
    collected: Collected = field(repr=False)

    @classmethod
    def of(cls, asking: Asking, collected: Collected) -> "Database":
        """Return the answers of a collection."""
        made = cls("tables", {}, asking, collected)
        object.__setattr__(made, "parts", _Listed(made))
        return made

    @property
    def users(self) -> int:
        return self.collected.users(0)

    def sql(self, text: str) -> Result | Explanation:
        """Return the answer to a question, or how it would be answered if the question begins with EXPLAIN."""
        from sottovoce.queries.reading import read

        query = read(text, self.asking.services)
        return self.explain(query) if query.explain else self.answer(query)

    def explain(self, query: Query) -> Explanation:
        """Return how a question would be answered and how good the answer would be."""
        return Explanation(explained(self.asking, query, self.users))

    def answer(self, query: Query) -> Result:
        """Return the answer to a question that has been read."""
        work = self._scaled(planning.plan(self.asking, query))
        places = {name: at for at, name in enumerate(self._public)}
        statement = rewriting.rewritten(work, places, single=self.collected.single(0))
        scored = {
            rewriting.relation(place): Scored(tuple(slot.number for slot in one.factor.slots), len(one.targets), one)
            for place, one in work.scorings.items()
        }
        found = self.collected.select(0, scored, self._public, statement)
        return _Read(self, work, found, statement.sql(pretty=True)).result()

    def kept(self) -> Answers | None:
        """Return the counts of every column: without reports no other question can be answered."""
        return Answers(self.name, dict(self.parts))

    @cached_property
    def _public(self) -> dict[str, bool]:
        seen = self.asking.services.public
        kinds = zip(seen.names, seen.attributes, strict=True) if seen else ()
        return {name: not isinstance(kind, Categories) for name, kind in kinds}

    def _scaled(self, work: Work) -> Work:
        """Return the work with layers weighed by how many people were really asked, if the question wants that."""
        if work.query.options.scale != "hajek":
            return work
        answered = self.collected.answered(0)
        scorings = {place: one.by_share(answered) for place, one in work.scorings.items()}
        return replace(work, scorings=scorings)


@dataclass(frozen=True, eq=False)
class _Read:
    """Reads the figures of an answer from what the engine added up."""

    database: Database
    work: Work
    found: Columns
    statement: str

    def result(self) -> Result:
        query = self.work.query
        rows = [
            (self._labels(line, place), tuple(self._figure(cell, place) for cell in line.cells))
            for place in range(len(self.found["users"]))
            for line in self.work.lines
        ]
        rows = self._ordered(rows)[: query.limit]
        keys, names = self._keys(), tuple(one.name for one in query.aggregates)
        hidden = [key for at, key in enumerate(keys) if at not in query.shown] if query.shown else keys
        selected = [keys[one] if isinstance(one, int) else one for one in query.shown] or names
        users = int(sum(self.found["users"]))
        return Result(
            (*hidden, *selected),
            keys,
            names,
            tuple(labels for labels, _ in rows),
            tuple(figures for _, figures in rows),
            users,
            self.database.asking.epsilon,
            query.options.confidence,
            (*query.notices, *self._notices(users, [figure for _, row in rows for figure in row])),
            self.statement,
            explained(self.database.asking, query, users, self.work),
        )

    def _labels(self, line: Line, place: int) -> tuple[str, ...]:
        private, public = iter(line.groups), iter(range(len(self.work.query.group_by)))
        labels = []
        for column in self.work.query.group_by:
            if column.public:
                labels.append(str(self.found[f"g{next(public)}"][place]))
            else:
                labels.append(labels_of(self._kind(column))[next(private)])
        return tuple(labels)

    def _figure(self, cell: Cell, place: int) -> Figure:
        users = int(self.found["users"][place])
        totals = np.array([self._number(f"t{at}", place) for at in cell.parts])
        moments = np.array([[self._moment(one, other, place) for other in cell.parts] for one in cell.parts])
        covariance = moments - np.outer(totals, totals) / max(users, 1)
        return figure(cell.aggregate.kind, totals, covariance)

    def _moment(self, one: int, other: int, place: int) -> float:
        return self._number(f"m{min(one, other)}_{max(one, other)}", place)

    def _number(self, name: str, place: int) -> float:
        value = self.found[name][place]
        return 0.0 if value is None or value is np.ma.masked else float(value)  # a sum over nobody

    def _ordered(self, rows: list[Any]) -> list[Any]:
        query = self.work.query
        if not query.order_by:
            return rows
        names = [one.name for one in query.aggregates]
        if query.order_by in names:
            at = names.index(query.order_by)
            return sorted(rows, key=lambda row: _rank(row[1][at].value), reverse=query.descending)
        at = self._keys().index(query.order_by)
        column = query.group_by[at]
        places = {} if column.public else {label: at for at, label in enumerate(labels_of(self._kind(column)))}
        return sorted(rows, key=lambda row: places.get(row[0][at], row[0][at]), reverse=query.descending)

    def _keys(self) -> tuple[str, ...]:
        """Return the names of the groups, with their tables where two are alike."""
        names = [self._name(column) for column in self.work.query.group_by]
        tables = [self.database.asking.services.names[column.table] for column in self.work.query.group_by]
        pairs = zip(tables, names, strict=True)
        return tuple(f"{table}.{name}" if names.count(name) > 1 else name for table, name in pairs)

    def _name(self, column: Column) -> str:
        if column.public:
            return column.public.partition(".")[2]
        return self.database.asking.services.records(column.table).names[column.place]

    def _kind(self, column: Column) -> Domain:
        return self.database.asking.attributes(column.table)[column.place]

    def _notices(self, users: int, figures: Sequence[Figure]) -> list[str]:
        found = []
        if any(figure.unstable for figure in figures):
            found.append(
                f"a ratio is marked unstable where its denominator is not {STABLE:g} standard errors above nought: "
                "its interval says nothing"
            )
        everybody = self.database.users
        if users < everybody and self.work.query.among == Query((), ()).among:
            found.append(f"{everybody - users:,} people whose reports are not complete, or repeated, are left out")
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


class _Listed(Mapping[str, Answer]):
    """The counts of every column that has few enough values, made when they are looked at."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @cached_property
    def _columns(self) -> dict[str, Column]:
        services = self._database.asking.services
        return {
            f"{name}.{column}": Column(table, place)
            for table, name in enumerate(services.names)
            for place, column in enumerate(services.records(table).names)
            if services.records(table).attributes[place].size <= _LISTED
        }

    def __getitem__(self, name: str) -> Answer:
        from sottovoce.queries.query import Aggregate

        column = self._columns[name]
        query = Query((column.table,), (Aggregate("count", "count"),), group_by=(column,))
        result = self._database.answer(query)
        totals = np.array([row[0].value for row in result.figures])
        noise = StatedNoise(np.array([row[0].variance for row in result.figures]))
        labels = tuple(row[0] for row in result.groups)
        estimate = Estimate(totals, noise, result.users, self._database.asking.epsilon)
        return Answer(name, labels, estimate, self._database.asking.method)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
