"""Pass ``demand``: Query -> Demand.  What has to be scored and summed, whatever the method.

Every number of the answer is made of totals.  A ``ScoreTotal`` is a sum over people of a sum of
products; a ``ScoreProduct`` multiplies one score of each of some factors, and perhaps a public
column. A score is that of a ``TargetSum``, a weighted sum of targets of one factor.  Equal totals
and equal target sums are kept once; products that differ in one factor alone are merged into one,
with a sum of targets there.

Source: Xu 2020, sections 4 to 6 and 8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.domains.base import Domain
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.coefficients import Target
from sottovoce.plans.tables.layout import Factor, Layout
from sottovoce.plans.tables.source import Source
from sottovoce.sql.aggregates.base import COUNTED, Aggregate, MeasureTerm, Moment
from sottovoce.sql.query import EVERYBODY, AllOf, Column, GroupBy, Monomial, Public, Query

MAX_GROUPS = 1000

Groups = tuple[int, ...]  # the values of the private columns that a row is about


class ScoreColumn(NamedTuple):
    """One column of scores: the index of a factor, and of a target sum of that factor."""

    factor: int
    column: int


@dataclass(frozen=True)
class PublicPower:
    """A public column less its ``centre``, to some power: a factor of every person's product."""

    name: str
    power: int = 1
    centre: float = 0.0

    def of(self, numbers: Floats) -> Floats:
        """Return the factors that some numbers of the column give."""
        return np.asarray((numbers - self.centre) ** self.power)


@dataclass(frozen=True)
class ScoreProduct:
    """A number times one score of each of some factors, for people of whom a public condition
    holds.
    """

    weight: float
    public: Public
    scores: tuple[ScoreColumn, ...]
    times: PublicPower | None = None


@dataclass(frozen=True)
class ScoreTotal:
    """One number about everybody: the sum over people of a sum of products."""

    products: tuple[ScoreProduct, ...]


@dataclass(frozen=True)
class Number:
    """One number of a row: an aggregate, and the totals that its moments are estimated by."""

    aggregate: Aggregate
    totals: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Row:
    """One row of the answer: its private groups, its numbers, and the total that counts its
    records, if needed.
    """

    groups: Groups
    numbers: tuple[Number, ...]
    count: int | None = None

    @property
    def totals(self) -> list[int]:
        """Return the totals of the numbers, each once."""
        return list(dict.fromkeys(total for number in self.numbers for total in number.totals))


@dataclass(frozen=True, eq=False)
class WeightedTarget:
    """A target times a number."""

    weight: float
    target: Target

    @property
    def key(self) -> Any:
        """Return a cache key: equal for equal weighted targets of one factor."""
        return self.weight, self.target.key

    def times(self, weight: float) -> "WeightedTarget":
        """Return the same times another number."""
        return WeightedTarget(weight * self.weight, self.target)


TargetSum = tuple[WeightedTarget, ...]


@dataclass(frozen=True, eq=False)
class Demand:
    """The rows of an answer, the totals that they need, and the target sums of every factor that
    these need.
    """

    layout: Layout
    query: Query
    measure: str
    rows: tuple[Row, ...]
    totals: tuple[ScoreTotal, ...]
    target_sums: Mapping[int, tuple[TargetSum, ...]]

    def target_sum(self, score: ScoreColumn) -> TargetSum:
        """Return what a column of scores estimates."""
        return self.target_sums[score.factor][score.column]

    def combined(self, number: Number, groups: Groups, slopes: Sequence[float]) -> "Demand":
        """Return the demand for one total: a linear combination of the totals of a number."""
        builder = _Builder(self.layout, self.query, self.measure)
        builder.total(number.aggregate.moments, groups, slopes)
        return builder.demand(())


def demand(query: Query, source: Source) -> Demand:
    """Return what the rows of an answer need."""
    query = unfiltered(query)
    builder = _Builder(source.layout, query, measure_of(source.layout, query))
    rows = [
        builder.row(groups, count=source.counts_rows)
        for groups in private_groups(source.layout, query)
    ]
    return builder.demand(rows)


def unfiltered(query: Query) -> Query:
    """Return a query for shares of everybody with its public filter as a condition: shares need
    everybody.
    """
    if query.among == EVERYBODY or not any(aggregate.of_everybody for aggregate in query.numbers):
        return query
    where = tuple(replace(each, public=AllOf((query.among, each.public))) for each in query.where)
    return replace(query, where=where, among=EVERYBODY)


def measure_of(layout: Layout, query: Query) -> str:
    """Return how columns are measured: as the query says, or by the default of the layout."""
    if query.options.measure != "auto":
        return query.options.measure
    return layout.default_measure(squares=any(aggregate.squares for aggregate in query.numbers))


def private_groups(layout: Layout, query: Query) -> list[Groups]:
    """Return all combinations of the values of the private columns of GROUP BY."""
    private = [grouping for grouping in query.group_by if not grouping.public]
    sizes = [grouping.size(_kind(layout, grouping.column).size) for grouping in private]
    if prod(sizes) > MAX_GROUPS:
        raise ParameterError(f"a query has at most {MAX_GROUPS:,} groups: group by fewer columns")
    return list(product(*map(range, sizes)))


@dataclass(frozen=True, eq=False)
class _Draft:
    """A product under construction: a sum of targets for every factor."""

    weight: float
    public: Public
    times: PublicPower | None
    parts: dict[int, TargetSum]

    def without(self, factor: int) -> Any:
        """Return what two drafts have in common that differ in one factor alone.

        Nothing for other drafts.
        """
        if factor not in self.parts:
            return id(self)
        rest = [
            (index, tuple(part.key for part in parts))
            for index, parts in self.parts.items()
            if index != factor
        ]
        return self.public, self.times, tuple(rest)


@dataclass(eq=False)
class _Builder:
    """Collects totals and target sums, each once."""

    layout: Layout
    query: Query
    measure: str
    target_sums: dict[int, list[TargetSum]] = field(default_factory=dict)
    columns: dict[Any, int] = field(default_factory=dict)
    totals: dict[ScoreTotal, int] = field(default_factory=dict)

    def demand(self, rows: Sequence[Row]) -> Demand:
        """Return everything that was collected."""
        sums = {factor: tuple(columns) for factor, columns in self.target_sums.items()}
        return Demand(self.layout, self.query, self.measure, tuple(rows), tuple(self.totals), sums)

    def row(self, groups: Groups, *, count: bool) -> Row:
        """Return a row of the answer."""
        numbers = tuple(self._number(aggregate, groups) for aggregate in self.query.numbers)
        return Row(groups, numbers, self.total([COUNTED], groups) if count else None)

    def _number(self, aggregate: Aggregate, groups: Groups) -> Number:
        return Number(
            aggregate, tuple(self.total([moment], groups) for moment in aggregate.moments)
        )

    def total(
        self, moments: Sequence[Moment], groups: Groups, slopes: Sequence[float] = (1.0,)
    ) -> int:
        """Return the index of a linear combination of moments as a total."""
        drafts = []
        used = [pair for pair in zip(slopes, moments, strict=True) if pair[0]]
        for slope, moment in used:
            here = () if moment.of_everybody else groups
            for term in moment.measure:
                where = self.query.where if term.where is None else term.where
                where = (Monomial(1.0),) if moment.of_everybody else where
                drafts += [self._draft(slope, monomial, here, term) for monomial in where]
        total = ScoreTotal(tuple(self._merged([draft for draft in drafts if draft is not None])))
        return self.totals.setdefault(total, len(self.totals))

    def _draft(
        self, slope: float, monomial: Monomial, groups: Groups, term: MeasureTerm
    ) -> _Draft | None:
        """Return the product for one monomial and one measured column.

        None if nobody can meet its conditions.
        """
        sets = self._sets(monomial, groups)
        if any(not chosen.any() for chosen in sets.values()):
            return None
        times = next((_public_power(each) for each in term.factors if _is_public(each)), None)
        parts: dict[int, TargetSum] = {}
        for table in self.query.tables:
            restricted = {
                column.index: chosen for column, chosen in sets.items() if column.table == table
            }
            own = [each for each in term.factors if not _is_public(each)]
            measured = [each for each in own if each.column and each.column.table == table]
            parts |= self._targets(table, restricted, measured)
        return _Draft(slope * monomial.factor * term.factor, monomial.public, times, parts)

    def _sets(self, monomial: Monomial, groups: Groups) -> dict[Column, Bools]:
        """Return the sets of a monomial, narrowed to the groups of a row."""
        sets = dict(monomial.sets)
        for grouping, group in zip(self._private_groupings, groups, strict=False):
            column = grouping.column
            chosen = grouping.members(group, self._kind(column).size)
            sets[column] = sets.get(column, chosen) & chosen
        return sets

    @cached_property
    def _private_groupings(self) -> list[GroupBy]:
        return [grouping for grouping in self.query.group_by if not grouping.public]

    def _targets(
        self, table: int, sets: Mapping[int, Bools], measured: Sequence[MeasureTerm]
    ) -> dict[int, TargetSum]:
        """Return the target of every factor of a table that has something to say."""
        self._check_collected(
            table, {*sets, *(each.column.index for each in measured if each.column)}
        )
        targets: dict[int, TargetSum] = {}
        for index, factor in enumerate(self.layout.factors):
            target = self._target(factor, sets, measured) if factor.table == table else None
            if target is not None:
                target.check_measure(self.measure)
                targets[index] = (WeightedTarget(1.0, target),)
        return targets

    def _check_collected(self, table: int, columns: set[int]) -> None:
        """Refuse to answer about columns that no report is about."""
        factors = [factor for factor in self.layout.factors if factor.table == table]
        missing = columns - {column for factor in factors for column in factor.columns}
        if missing:
            names = self.layout.tables.records(table).names
            raise ParameterError(f"no report is about the column {names[min(missing)]!r}")

    def _target(
        self, factor: Factor, sets: Mapping[int, Bools], terms: Sequence[MeasureTerm]
    ) -> Target | None:
        """Return what is asked of one factor; None where that is true of everybody."""
        most = self.layout.tables.most(factor.table)
        own: dict[int, Bools] = {}
        if factor.conditional:
            own = {column: chosen for column, chosen in sets.items() if column in factor.columns}
            own = {column: chosen for column, chosen in own.items() if not chosen.all()}
        weight = most / self.layout.rows[factor.table] if most else 1.0
        measured = [term for term in terms if self._measures(factor, term)]
        if not measured:
            needed = factor.conditional and (own or most)
            return Target(factor, own, weight=weight) if needed else None
        first, *others = measured
        if self.measure == "round" and (first.power > 1 or others):
            raise ParameterError(
                "`MEASURE = ROUND` keeps means, not squares or products: use LIN or ENUM"
            )
        assert first.column is not None
        further = {each.column.index: self._numbers(each) for each in others if each.column}
        return Target(factor, own, first.column.index, self._numbers(first), weight, further)

    def _numbers(self, term: MeasureTerm) -> Floats:
        assert term.column is not None
        return term.of_column(self._kind(term.column))

    def _measures(self, factor: Factor, term: MeasureTerm) -> bool:
        assert term.column is not None
        return term.column.index in factor.columns and self.measure in factor.measures

    def _merged(self, drafts: Sequence[_Draft]) -> list[ScoreProduct]:
        """Return the products; drafts that differ in one factor alone become one."""
        for factor in sorted({factor for draft in drafts for factor in draft.parts}):
            alike: dict[Any, list[_Draft]] = {}
            for draft in drafts:
                alike.setdefault(draft.without(factor), []).append(draft)
            drafts = [_joined(group, factor) for group in alike.values()]
        return [self._product(draft) for draft in drafts]

    def _product(self, draft: _Draft) -> ScoreProduct:
        scores = tuple(
            ScoreColumn(factor, self._column(factor, parts))
            for factor, parts in draft.parts.items()
        )
        return ScoreProduct(draft.weight, draft.public, scores, draft.times)

    def _column(self, factor: int, parts: TargetSum) -> int:
        """Return the column of a factor's scores for a sum of targets."""
        key = (factor, tuple(part.key for part in parts))
        if key not in self.columns:
            columns = self.target_sums.setdefault(factor, [])
            columns.append(parts)
            self.columns[key] = len(columns) - 1
        return self.columns[key]

    def _kind(self, column: Column) -> Domain:
        return _kind(self.layout, column)


def _is_public(term: MeasureTerm) -> bool:
    return term.column is not None and bool(term.column.public)


def _public_power(term: MeasureTerm) -> PublicPower:
    assert term.column is not None
    return PublicPower(term.column.public, term.power, term.centre)


def _kind(layout: Layout, column: Column) -> Domain:
    """Return the domain of a private column."""
    return layout.attributes(column.table)[column.index]


def _joined(drafts: Sequence[_Draft], factor: int) -> _Draft:
    """Return the sum of drafts that differ in one factor alone."""
    if len(drafts) == 1:
        return drafts[0]
    parts: list[WeightedTarget] = []
    for draft in drafts:
        parts += [part.times(draft.weight) for part in draft.parts[factor]]
    return replace(drafts[0], weight=1.0, parts={**drafts[0].parts, factor: tuple(parts)})
