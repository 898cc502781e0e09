"""The true answer to a query about people whose records are known; only simulations know them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.domains.tables import Tables
from sottovoce.plans.tables.combine import public_group_label
from sottovoce.sql.aggregates.base import MeasureTerm, Moment
from sottovoce.sql.query import AnyOf, Column, Compared, Listed, Monomial, Not, Public, Query

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

Labels = tuple[str, ...]  # the groups of a row


@dataclass(frozen=True, eq=False)
class Truth:
    """True answers: the moments of every aggregate, summed over people without any noise."""

    domain: Tables
    people: PersonTables

    def rows(self, query: Query, result: "Result") -> list[list[float | None]]:
        """Return the true numbers of every row of a result; None for those that do not exist."""
        return [self.row(query, labels) for labels in result.groups]

    def row(self, query: Query, labels: Labels) -> list[float | None]:
        """Return the true numbers of one row."""
        numbers = []
        for aggregate in (asked.for_truth for asked in query.aggregates):
            totals = [self._moment(query, labels, moment) for moment in aggregate.moments]
            numbers.append(aggregate.truth(totals))
        return numbers

    def _moment(self, query: Query, labels: Labels, moment: Moment) -> float:
        """Return a sum over the joined records that meet the conditions, or over all of them."""
        if moment.of_everybody:
            everybody = Query(query.tables, query.aggregates)
            return sum(self._sum(everybody, (), term) for term in moment.measure)
        return sum(self._sum(query, labels, term) for term in moment.measure)

    def _sum(self, query: Query, labels: Labels, term: MeasureTerm) -> float:
        among = self._among(query, labels)
        total = 0.0
        for monomial in query.where if term.where is None else term.where:
            weights = among * self._meets(monomial.public)
            for factor in term.factors:
                if factor.column is not None and factor.column.public:
                    public = self._public[factor.column.public] - factor.centre
                    weights = weights * public**factor.power
            for table in query.tables:
                weights = weights * self._table(table, self._sets(query, labels, monomial), term)
            total += monomial.factor * term.factor * float(np.sum(weights))
        return total

    def _sets(self, query: Query, labels: Labels, monomial: Monomial) -> list[tuple[Column, Bools]]:
        """Return the private conditions of a monomial and of the groups of a row."""
        sets = list(monomial.sets.items())
        for grouping, label in zip(query.group_by, labels, strict=bool(labels)):
            if not grouping.public:
                kind = self._kind(grouping.column)
                names = list(grouping.labels or kind.labels)
                sets.append((grouping.column, grouping.members(names.index(label), kind.size)))
        return sets

    def _table(self, table: int, sets: Sequence[tuple[Column, Bools]], term: MeasureTerm) -> Floats:
        """Return, for everybody, how many of their records in a table count, or the sum of a column
        over them.
        """
        rows = self.people.tables[table]
        cells = rows.cells if isinstance(rows, Rows) else rows
        weights: Floats = np.ones(len(cells))
        for column, chosen in sets:
            if column.table == table:
                weights *= chosen[cells[:, column.index]]
        for factor in term.factors:
            measured = factor.column
            if measured is not None and measured.table == table and not measured.public:
                numbers = factor.of_column(self._kind(measured))
                weights *= numbers[cells[:, measured.index]]
        return np.bincount(self._owners(table), weights, len(self.people)).astype(np.float64)

    def _kind(self, column: Column) -> Any:
        return self.domain.records(column.table).attributes[column.index]

    def _owners(self, table: int) -> Ints:
        rows = self.people.tables[table]
        everybody = np.arange(len(self.people))
        return np.repeat(everybody, rows.sizes) if isinstance(rows, Rows) else everybody

    def _among(self, query: Query, labels: Labels) -> Floats:
        """Return 1 for everybody whom the query and the public groups of a row are about."""
        among = self._meets(query.among).astype(np.float64)
        for grouping, label in zip(query.group_by, labels, strict=bool(labels)):
            if grouping.public:
                name = grouping.column.public
                kind = self.domain.public_kinds[self.domain.public_names.index(name)]
                values = self._public[name].tolist()
                if grouping.classes is not None:
                    known = [int(value) for value in values] if kind.ordered else values
                    values = grouping.classes[kind.indices(known)].tolist()
                names = [public_group_label(grouping, kind, value) for value in values]
                among *= np.array([name == label for name in names])
        return among

    @cached_property
    def _public(self) -> dict[str, Any]:
        """Return the public columns; numbers as the engine sees them."""
        people = [json.loads(text) for text in self.people.public]
        columns = {}
        for name, kind in zip(self.domain.public_names, self.domain.public_kinds, strict=True):
            dtype: Any = np.float64 if kind.ordered else object
            columns[name] = np.array([person[name] for person in people], dtype)
        return columns

    def _meets(self, condition: Public) -> Bools:
        """Return who meets a public condition."""
        if isinstance(condition, Compared):
            return np.asarray(
                _COMPARE[condition.sign](self._public[condition.column.public], condition.value),
                bool,
            )
        if isinstance(condition, Listed):
            return np.isin(
                self._public[condition.column.public], np.array(condition.values, object)
            )
        if isinstance(condition, Not):
            return ~self._meets(condition.part)
        any_of = isinstance(condition, AnyOf)
        start = np.full(len(self.people), not any_of)
        connective = np.logical_or if any_of else np.logical_and
        return np.asarray(connective.reduce([start, *map(self._meets, condition.parts)]))
