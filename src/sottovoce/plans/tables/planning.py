"""From a question to what has to be scored and added up: sums of products of the scores of factors, person by person.

Source: Xu 2020, sections 4 to 6 and 8.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod, sqrt
from typing import Any, TypeAlias

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.domains.base import Domain
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.layout import Asking, Factor
from sottovoce.plans.tables.predicting import Moments, cells, moments
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.plans.tables.targets import Target, Wanted, Way, check, target
from sottovoce.sql.query import Aggregate, Column, Every, Monomial, Public, Query
from sottovoce.sql.values import numbers_of

MOST_CELLS = 2000  # of a report where every cell is hashed
MOST_GROUPS = 1000

Terms: TypeAlias = tuple[tuple[float, Column | None, int], ...]  # factor, column if any, power
Part: TypeAlias = tuple[Terms, Sequence[Monomial], tuple[int, ...]]  # measured, of whom, in which groups

_FALLBACK = ("blue", "gls", "rdc", "signed", "add")


@dataclass(frozen=True)
class Product:
    """A number times one column of scores of each of some factors, for people of whom a public condition holds."""

    weight: float
    public: Public
    scores: tuple[tuple[int, int], ...]  # the place of a factor, and of its column
    times: str = ""  # a public column to multiply with


@dataclass(frozen=True)
class Total:
    """One number about everybody: the sum over people of a sum of products."""

    products: tuple[Product, ...]


@dataclass(frozen=True)
class Cell:
    """One number of the answer: what it is made of, by place among the totals."""

    aggregate: Aggregate
    parts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Line:
    """One row of the answer: the labels of its private groups, and its numbers."""

    groups: tuple[int, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False)
class Work:
    """All that is to be done for a question, in one pass over the reports."""

    query: Query
    way: Way
    scorings: Mapping[int, Scoring]
    totals: tuple[Total, ...]
    lines: tuple[Line, ...]
    predicted: tuple[float, ...]  # the variance of one person's part of each total, were people spread evenly
    moments: Mapping[tuple[int, int], Moments] = field(default_factory=dict)


def plan(asking: Asking, query: Query) -> Work:
    """Return the work for a question in the way that promises the least error."""
    return planned(asking, query, best_way(asking, query))


def best_way(asking: Asking, query: Query) -> Way:
    """Return the way with the least predicted error, of the first group where there are several."""
    first = groups(asking, query)[:1]
    works = [planned(asking, query, way, first) for way in ways(asking, query)]
    limit = query.options.max_cells or MOST_CELLS
    if asking.published or query.options.max_cells:
        works = [work for work in works if _cells(work) <= limit] or works[-1:]
    return min(works, key=lambda work: sum(work.predicted)).way


def unfiltered(query: Query) -> Query:
    """Return a question about shares with its public filter as a condition: shares are of everybody."""
    if query.among == Every() or all(one.kind != "freq" for one in query.aggregates):
        return query
    where = tuple(replace(one, public=Every((query.among, one.public))) for one in query.where)
    return replace(query, where=where, among=Every())


def groups(asking: Asking, query: Query) -> list[tuple[int, ...]]:
    """Return all combinations of the values of the private columns that a question groups by."""
    private = [column for column in query.group_by if not column.public]
    sizes = [range(asking.attributes(column.table)[column.place].size) for column in private]
    if prod(len(one) for one in sizes) > MOST_GROUPS:
        raise ParameterError(f"a question has at most {MOST_GROUPS:,} groups: restrict it, or group by fewer columns")
    return list(product(*sizes))


def ways(asking: Asking, query: Query) -> list[Way]:
    """Return the ways that are compared: the one that is asked for, or all that may be the best."""
    options, rounds = query.options, asking.method in ("ahio", "ehio", "sr_hio", "sc_join")
    measure = options.measure
    if measure == "auto":
        squared = any(one.kind == "stddev" for one in query.aggregates)  # a coin that keeps the mean keeps no square
        measure = ("round" if rounds else "enum") if asking.published and not squared else "lin"
    if options.method != "auto":
        return [Way(options.method, measure, options.k)]
    if asking.published:
        return [Way("add", measure)]
    return [Way("blue", measure), Way("blue", measure, signal=signal(asking))]


def alternatives(asking: Asking, query: Query) -> list[Way]:
    """Return one way of every kind, to compare them."""
    measure = ways(asking, query)[0].measure
    return [Way(method, measure, query.options.k) for method in reversed(_FALLBACK)]


def signal(asking: Asking) -> float:
    """Return what holding a node adds to the variance of its votes, in units of that of other nodes."""
    noise: Any = asking.factors[0].slots[0].family.mechanisms[-1].noise  # type: ignore[attr-defined]
    spread, held = (noise.spread, noise.swing) if hasattr(noise, "spread") else (noise.unheld, noise.held)
    return max(0.0, float((held + 1) / spread))


def residual(asking: Asking, work: Work, cell: Cell, groups: tuple[int, ...], slopes: Sequence[float]) -> float:
    """Return the variance of one person's part of a linear combination of the totals behind a number of an answer."""
    return _Planner(asking, work.query, work.way).combined(cell.aggregate, groups, slopes)


def planned(asking: Asking, query: Query, way: Way, among: Sequence[tuple[int, ...]] | None = None) -> Work:
    """Return the work for a question in one way, for some of its groups or for all."""
    return _Planner(asking, query, way).work(groups(asking, query) if among is None else among)


def _cells(work: Work) -> float:
    return sum(
        max((cells(slot, one) for one in scoring.targets), default=0.0)
        for scoring in work.scorings.values()
        for slot in scoring.factor.slots
    )


@dataclass(eq=False)
class _Planner:
    """Collects targets, each once, while the lines of the answer are planned."""

    asking: Asking
    query: Query
    way: Way
    wanted: dict[int, list[list[tuple[float, Wanted]]]] = field(default_factory=dict)  # by factor and column
    keys: dict[Any, int] = field(default_factory=dict)
    totals: list[Total] = field(default_factory=list)

    def work(self, among: Sequence[tuple[int, ...]]) -> Work:
        return self._finished(tuple(map(self._line, among)))

    def _finished(self, lines: tuple[Line, ...]) -> Work:
        made = {place: tuple(map(self._target, columns)) for place, columns in self.wanted.items()}
        scorings = {place: Scoring(self.asking.factors[place], targets) for place, targets in made.items()}
        found = {
            (place, at): moments(parts, made[place][at])
            for place, columns in self.wanted.items()
            for at, parts in enumerate(columns)
        }
        predicted = tuple(_predicted(one, found, self.seen) for one in self.totals)
        return Work(self.query, self.way, scorings, tuple(self.totals), lines, predicted, found)

    def seen(self, times: str, power: int) -> float:
        """Return the mean of a power of what a product is multiplied with, were people spread evenly over a column."""
        name, _, own = times.partition("^")
        known = self.asking.services.public
        if not name or known is None:
            return 1.0
        return float(np.mean(numbers_of(known.attributes[known.names.index(name)]) ** (power * int(own or 1))))

    def _target(self, parts: Sequence[tuple[float, Wanted]]) -> Target:
        """Return the sum of several targets of one factor."""
        made = [(weight, target(wanted, self.way)) for weight, wanted in parts]
        groups = tuple(
            tuple(type(term)(weight * term.weight, term.axes) for weight, one in made for term in one.groups[at])
            for at in range(len(made[0][1].groups))
        )
        return Target(groups, sum(weight * one.known for weight, one in made))

    def _line(self, groups: tuple[int, ...]) -> Line:
        return Line(groups, tuple(self._cell(one, groups) for one in self.query.aggregates))

    def _cell(self, aggregate: Aggregate, groups: tuple[int, ...]) -> Cell:
        parts = self._parts(aggregate, groups)
        return Cell(aggregate, tuple(self._total([(1.0, *part)]) for part in parts))

    def _parts(self, aggregate: Aggregate, groups: tuple[int, ...]) -> list[Part]:
        """Return the totals that a number is made of: of a ratio numerator and denominator, then what else it needs."""
        where, everybody = self.query.where, (Monomial(1.0),)
        terms = tuple((factor, column, 1) for factor, column in aggregate.terms)
        squares = tuple((factor**2, column, 2) for factor, column in aggregate.terms)
        count: Part = (((1.0, None, 1),), where, groups)
        made: dict[str, list[Part]] = {
            "count": [count],
            "freq": [count, (((1.0, None, 1),), everybody, ())],
            "sum": [(terms, where, groups)],
            "avg": [(terms, where, groups), count],
            "stddev": [(terms, where, groups), count, (squares, where, groups)],
        }
        return made[aggregate.kind]

    def combined(self, aggregate: Aggregate, groups: tuple[int, ...], slopes: Sequence[float]) -> float:
        """Return the variance of one person's part of a linear combination of the totals that a number is made of."""
        place = self._total(
            [(slope, *part) for slope, part in zip(slopes, self._parts(aggregate, groups), strict=True)]
        )
        return self._finished(()).predicted[place]

    def _total(self, parts: "Sequence[tuple[float, Terms, Sequence[Monomial], tuple[int, ...]]]") -> int:
        """Return the place of a total: the sum over parts, over monomials, and over the terms of a linear measure."""
        products = [
            self._product(slope, one, groups, *term)
            for slope, terms, where, groups in parts
            for one in where
            for term in terms
        ]
        total = Total(tuple(self._merged([one for one in products if one is not None])))
        if total not in self.totals:
            self.totals.append(total)
        return self.totals.index(total)

    def _product(
        self, slope: float, one: Monomial, groups: tuple[int, ...], factor: float, measured: Column | None, power: int
    ) -> "_Draft | None":
        sets = dict(one.sets)
        private = [column for column in self.query.group_by if not column.public]
        for column, group in zip(private, groups, strict=False):
            chosen = np.zeros(self._kind(column).size, bool)
            chosen[group] = True
            sets[column] = sets.get(column, chosen) & chosen
        if any(not held.any() for held in sets.values()):
            return None
        public = measured.public if measured is not None else ""
        times = f"{public}^{power}" if power > 1 and public else public
        wanted: dict[int, Wanted] = {}
        for table in self.query.tables:
            own = measured if measured is not None and not public and measured.table == table else None
            wanted |= self._wanted(table, {c.place: held for c, held in sets.items() if c.table == table}, own, power)
        return _Draft(slope * one.factor * factor, one.public, times, {at: [(1.0, one)] for at, one in wanted.items()})

    def _wanted(self, table: int, sets: Mapping[int, Bools], measured: Column | None, power: int) -> dict[int, Wanted]:
        sets = {place: held for place, held in sets.items() if not held.all()}
        many = self.asking.services.most(table)
        found = {}
        for place, factor in enumerate(self.asking.factors):
            if factor.table != table:
                continue
            own = {column: held for column, held in sets.items() if column in factor.columns}
            coin = factor.slots[0].family.rounding == "one" and len(factor.columns) == 1 and not factor.known
            apart = self.asking.method == "sc_join" and coin
            reads = self._reads(factor, measured, apart=apart)
            if reads is None and (apart or not (own or many)):
                continue  # true of everybody
            numbers = None if reads is None else numbers_of(self._kind(Column(table, reads))) ** power
            weight = many / self.asking.rows[table] if many else 1.0
            found[place] = Wanted(factor, {} if apart else own, reads, numbers, weight)
            check(found[place], self.way)
            if power > 1 and self.way.measure == "round":
                raise ParameterError("rounding keeps means, not squares: STDDEV needs MEASURE = LIN or ENUM")
        return found

    def _reads(self, factor: Factor, measured: Column | None, *, apart: bool) -> int | None:
        """Return the column that a factor measures, if any: where coins are reported apart, only they are rounded."""
        if measured is None or measured.place not in factor.columns:
            return None
        if self.asking.method == "sc_join" and (self.way.measure == "round") != apart:
            return None
        return measured.place

    def _merged(self, drafts: "Sequence[_Draft]") -> list[Product]:
        """Return the products; those that differ in one factor alone become one, with a sum of targets there."""
        for place in sorted({at for draft in drafts for at in draft.parts}):
            groups: dict[Any, list[_Draft]] = {}
            for draft in drafts:
                groups.setdefault(draft.beside(place), []).append(draft)
            drafts = [_together(group, place) for group in groups.values()]
        return [
            Product(
                one.weight,
                one.public,
                tuple((place, self._column(place, parts)) for place, parts in one.parts.items()),
                one.times,
            )
            for one in drafts
        ]

    def _column(self, place: int, parts: Sequence[tuple[float, Wanted]]) -> int:
        """Return the column of a factor's scores for a sum of targets, each scored once."""
        key = (place, tuple((weight, _key(wanted)) for weight, wanted in parts))
        if key not in self.keys:
            columns = self.wanted.setdefault(place, [])
            columns.append(list(parts))
            self.keys[key] = len(columns) - 1
        return self.keys[key]

    def _kind(self, column: Column) -> Domain:
        return self.asking.attributes(column.table)[column.place]


@dataclass(frozen=True, eq=False)
class _Draft:
    """A product on its way: for every factor a sum of targets."""

    weight: float
    public: Public
    times: str
    parts: dict[int, list[tuple[float, Wanted]]]

    def beside(self, place: int) -> Any:
        """Return what two products have in common that differ in one factor alone; nothing for others."""
        if place not in self.parts:
            return id(self)
        rest = {at: [(weight, _key(one)) for weight, one in parts] for at, parts in self.parts.items() if at != place}
        return self.public, self.times, tuple((at, *parts) for at, parts in rest.items())


def _together(group: Sequence[_Draft], place: int) -> _Draft:
    if len(group) == 1:
        return group[0]
    parts = [(one.weight * weight, wanted) for one in group for weight, wanted in one.parts[place]]
    return replace(group[0], weight=1.0, parts={**group[0].parts, place: parts})


def _key(wanted: Wanted) -> Any:
    numbers = None if wanted.numbers is None else wanted.numbers.tobytes()
    sets = tuple(sorted((column, held.tobytes()) for column, held in wanted.sets.items()))
    return sets, wanted.measured, numbers, wanted.weight


def _predicted(total: Total, found: Mapping[tuple[int, int], Moments], seen: Callable[[str, int], float]) -> float:
    """Return the variance of one person's part; of several products at most."""
    spread = 0.0
    for one in total.products:
        parts, scale = [found[score] for score in one.scores], seen(one.times, 2)
        noise = prod(part.square for part in parts) - prod(part.signal for part in parts)
        spread += abs(one.weight) * sqrt(max(0.0, scale * noise))
    return spread**2


def meant(asking: Asking, work: Work, at: int) -> float:
    """Return what one person contributes to a total on average, were people spread evenly."""
    planner = _Planner(asking, work.query, work.way)
    return sum(
        one.weight * planner.seen(one.times, 1) * prod(work.moments[score].mean for score in one.scores)
        for one in work.totals[at].products
    )
