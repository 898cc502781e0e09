"""What a question in SQL is really answered by people whose records are known; only simulations know them."""

import json
from dataclasses import dataclass
from functools import cached_property
from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.domains.person_tables import Holdings, Rows
from sottovoce.domains.tables import Services
from sottovoce.plans.tables.figures import labels_of
from sottovoce.sql.query import Aggregate, Column, Compared, Listed, Monomial, Opposite, Public, Query, Some
from sottovoce.sql.values import numbers_of

if TYPE_CHECKING:
    from sottovoce.plans.tables.result import Result

_COMPARE = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True, eq=False)
class Truth:
    """True answers: sums over people of products over tables, as the estimates are, without any noise."""

    services: Services
    held: Holdings

    def rows(self, query: Query, result: "Result") -> list[list[float | None]]:
        """Return the true numbers of every row of a result; None for those that do not exist."""
        return [[self._number(query, one, labels) for one in query.aggregates] for labels in result.groups]

    def _number(self, query: Query, asked: Aggregate, labels: tuple[str, ...]) -> float | None:
        weight = self._among(query, labels)
        count = self._sum(query, labels, weight, ())
        if asked.kind == "count":
            return count
        if asked.kind == "freq":
            everybody = self._sum(Query(query.tables, query.aggregates), (), np.ones(len(self.held)), ())
            return count / everybody if everybody else None
        total = self._sum(query, labels, weight, asked.terms)
        if asked.kind == "sum":
            return total
        mean = total / count if count else nan
        if asked.kind == "stddev" and count:
            ((factor, column),) = asked.terms
            squares = self._sum(query, labels, weight, ((factor**2, column),), power=2)
            mean = sqrt(max(0.0, squares / count - mean**2))
        return mean if count else None

    def _sum(self, query: Query, labels: Any, weight: Floats, terms: Any, power: int = 1) -> float:
        """Return how many joined rows meet the conditions, or a sum of columns over them."""
        total = 0.0
        for one in query.where:
            mine = weight * self._meets(one.public)
            for factor, column in terms or ((1.0, None),):
                parts = [self._table(query, place, one, labels, column, power) for place in query.tables]
                seen = self._seen[column.public] ** power if column is not None and column.public else 1.0
                total += one.factor * factor * float(np.sum(mine * seen * np.prod(parts, axis=0)))
        return total

    def _table(self, query: Query, place: int, one: Monomial, labels: Any, column: Column | None, power: int) -> Floats:
        """Return, for everybody, how many of their records in a table count, or the sum of a column over them."""
        table = self.held.tables[place]
        cells = table.cells if isinstance(table, Rows) else table
        counted: Floats = np.ones(len(cells))
        for restricted, values in one.sets.items():
            if restricted.table == place and not restricted.public:
                counted *= values[cells[:, restricted.place]]
        for group, label in zip(query.group_by, labels, strict=bool(labels)):
            if group.table == place and not group.public:
                kind = self.services.records(place).attributes[group.place]
                counted *= cells[:, group.place] == list(labels_of(kind)).index(label)
        if column is not None and column.table == place and not column.public:
            kind = self.services.records(place).attributes[column.place]
            counted *= np.asarray(numbers_of(kind))[cells[:, column.place]] ** power
        return np.bincount(self._owners(place), counted, len(self.held)).astype(np.float64)

    def _owners(self, place: int) -> Ints:
        table = self.held.tables[place]
        people = np.arange(len(self.held))
        return np.repeat(people, table.sizes) if isinstance(table, Rows) else people

    def _among(self, query: Query, labels: tuple[str, ...]) -> Floats:
        held = self._meets(query.among).astype(np.float64)
        for column, label in zip(query.group_by, labels, strict=True):
            if column.public:
                held *= np.array([str(one) == label for one in self._seen[column.public].tolist()])
        return held

    @cached_property
    def _seen(self) -> dict[str, Any]:
        """Return the public columns; numbers as the engine sees them."""
        people = [json.loads(text) for text in self.held.public]
        public = self.services.public
        kinds = zip(public.names, public.attributes, strict=True) if public else ()
        return {
            name: np.array([one[name] for one in people], np.float64 if kind.kind != "categories" else object)
            for name, kind in kinds
        }

    def _meets(self, one: Public) -> Bools:
        if isinstance(one, Compared):
            return np.asarray(_COMPARE[one.sign](self._seen[one.column.public], one.value), bool)
        if isinstance(one, Listed):
            return np.isin(self._seen[one.column.public], np.array(one.values, object))
        if isinstance(one, Opposite):
            return ~self._meets(one.part)
        parts = [self._meets(part) for part in one.parts] or [np.full(len(self.held), not isinstance(one, Some))]
        return np.asarray((np.logical_or if isinstance(one, Some) else np.logical_and).reduce(parts))
