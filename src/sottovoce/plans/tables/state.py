"""Pass ``state``: QueryPlan -> tuple of Statements.  The query as ordinary SQL over scored reports.

Where a plan needs more scores than are kept in memory together, or as many cells of targets, and
every total is one score of a private table, no person is scored: the totals come from the decoded
sums of every layer (``decoding``), and the statement has no tree.

Joining, filtering, grouping and summing are the engine's work.  The statement is built as a sqlglot
tree; an engine prints it in its own dialect.  Its relations are ``factor_0``, ``factor_1``, ...
with the columns person, s0, s1, ... (the scores of reports), and ``people`` with person, p0, p1,
... (public columns).

    f0, f1, ...  the scores of each factor by person; who has more or fewer reports is left out
    z            one row per person: the public groups, whether the person meets a public condition,
                 and z0, z1, ... (the person's part of every total)
    result       per public group: users, people (who meet a public condition), t0, t1, ...
                 (totals), and m0_0, m0_1, ... (sums of products of two parts, for variances)

Source: Xu 2020, section 7.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.domains.base import Domain
from sottovoce.plans.tables.decoding import MAX_CELLS, MAX_TABLE, table_size
from sottovoce.plans.tables.demand import PublicPower, Row, ScoreColumn, ScoreProduct, ScoreTotal
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.sql_tree import (
    alias,
    column,
    comparison,
    double,
    exp,
    literal,
    number,
    plus,
    table,
    times,
    total_of,
)
from sottovoce.sql.query import EVERYBODY, AllOf, AnyOf, Compared, GroupBy, Listed, Not, Public

MAX_SCORES = 1 << 25  # scores of rows that are kept in memory together
# Targets that are decoded where their cells are more than that, so many people that the law of the
# noise is close to what is measured.
MANY_TARGETS = 64
MANY_USERS = 1_000
NO_CLASS = -1  # of a public value that its column does not have
DECODED = "decoded from the sums of every layer, with errors by the law of the noise"


@dataclass(frozen=True, eq=False)
class Statement:
    """Some rows of a plan: what scores the reports, and the tree for the engine."""

    plan: QueryPlan
    rows: tuple[Row, ...]
    scorings: Mapping[int, Scoring]
    totals: Mapping[int, int]  # the number of a total in the statement, by its index in the plan
    # By factor: the number of a column of scores in the statement, by its index in the plan.
    columns: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    tree: Any = None  # None: totals are decoded
    way: "Way | None" = None  # why it is one or the other

    @property
    def text(self) -> str:
        """Return the statement as people read it."""
        if self.tree is None:
            return f"-- {DECODED}: {len(self.totals):,} totals"
        return str(self.tree.sql(pretty=True))

    def pairs(self) -> list[tuple[int, int]]:
        """Return which products of two totals are summed as well: those of one number of the
        answer.
        """
        pairs = {(number, number) for number in self.totals.values()}
        for row in self.rows:
            for figure in row.numbers:
                numbered = sorted({self.totals[total] for total in figure.totals})
                if not figure.aggregate.separate:
                    pairs |= set(combinations_with_replacement(numbered, 2))
        return sorted(pairs)

    @cached_property
    def single_scores(self) -> "SingleScores":
        """Return every total as a number for everybody and a weight times one score."""
        (columns,) = self.columns.values()
        count = len(self.totals)
        parts = SingleScores(np.zeros(count), np.zeros(count), np.zeros(count, np.int64))
        for total, index in self.totals.items():
            for product in self.plan.totals[total].products:
                if product.scores:
                    parts.weights[index] = product.weight
                    parts.scores[index] = columns[product.scores[0].column]
                else:
                    parts.constants[index] = product.weight
        return parts

    @property
    def score_pairs(self) -> Ints:
        """Return (pairs, 2): the scores of which totals are multiplied."""
        return np.asarray(self.single_scores.scores[np.array(self.pairs())])


@dataclass(frozen=True, eq=False)
class SingleScores:
    """Totals that are a number for everybody and a weight times one score: an entry per total."""

    constants: Floats
    weights: Floats
    scores: Ints


def state(plan: QueryPlan, source: Source) -> tuple[Statement, ...]:
    """Return as few statements as memory allows, each for some of the rows."""
    users = source.reports.users(0)
    one_report_each = source.reports.relations(0).one_report_each
    way = way_of(plan, users)
    if way.decoded and one_report_each and not source.reports.fakes(0):
        return (replace(_numbered(plan, plan.rows), way=way),)
    step = _rows_at_once(plan, users)
    parts = [plan.rows[start : start + step] for start in range(0, len(plan.rows), step)]
    return tuple(replace(stated(plan, rows, one_report_each), way=way) for rows in parts)


@dataclass(frozen=True)
class Way:
    """How the totals of a plan are found, and what bounds the work."""

    decoded: bool
    scores: int  # of one person
    users: int
    statements: int
    limit: str

    @property
    def text(self) -> str:
        """Return the way in words."""
        if not self.scores:
            return "what is known of everybody, without reports"
        if self.decoded:
            return f"{self.scores:,} totals, {DECODED}"
        times = f" in {self.statements:,} statements" if self.statements > 1 else ""
        return f"{self.scores:,} x {self.users:,} scores of reports{times}"


def way_of(plan: QueryPlan, users: int) -> Way:
    """Return whether a plan is answered by scores, or from the decoded sums of every layer.

    The latter needs everybody to have one report in every slot, which only the reports tell.
    """
    score_count = sum(map(len, plan.demand.target_sums.values()))
    statements = -(-len(plan.rows) // _rows_at_once(plan, users))
    why_scored = _why_scored(plan, users, score_count)
    if why_scored:
        return Way(False, score_count, users, statements, why_scored)
    return Way(True, score_count, users, 1, _scored_up_to())


def _rows_at_once(plan: QueryPlan, users: int) -> int:
    """Return of how many rows the scores are kept in memory together."""
    return max(1, MAX_SCORES // max(1, users * len(plan.query.numbers)))


def _why_scored(plan: QueryPlan, users: int, score_count: int) -> str:
    """Return why reports are scored; nothing if sums are decoded."""
    many_scores = users * score_count > MAX_SCORES
    many_targets = users >= MANY_USERS and score_count >= MANY_TARGETS
    if not (many_scores or many_targets):
        return _scored_up_to()
    obstacle = _obstacle(plan)
    if obstacle:
        return f"sums are not decoded where {obstacle}"
    cells = _cell_count(plan)
    if not many_scores and score_count * (users + cells) <= MAX_SCORES:
        return _scored_up_to()
    if cells > MAX_CELLS:
        return f"sums are decoded up to {MAX_CELLS:,} cells of layers: these have {cells:,}"
    numbered = _numbered(plan, plan.rows)
    (scoring,) = numbered.scorings.values()
    if table_size(scoring.columns, numbered.score_pairs) > MAX_TABLE:
        return f"sums are decoded up to {MAX_TABLE:,} combinations of coefficients"
    return ""


def _scored_up_to() -> str:
    return f"reports are scored up to {MAX_SCORES:,} scores, beyond that sums are decoded"


def _obstacle(plan: QueryPlan) -> str:
    """Return why a plan cannot be decoded however large it is; nothing if it can.

    Every total has to be a number, or one score of one report, for everybody.
    """
    query = plan.query
    products = [product for total in plan.totals for product in total.products]
    public = query.among != EVERYBODY or any(group.public for group in query.group_by)
    public |= any(monomial.public != EVERYBODY for monomial in query.where)
    public |= any(product.times or product.public != EVERYBODY for product in products)
    if public:
        return "public columns are known person by person"
    if query.options.scale == "hajek":
        return "shares of layers replace their chances"
    factors = [plan.layout.factors[index] for index in plan.demand.target_sums]
    if len(factors) != 1:
        return "a join multiplies the scores of every person"
    if len(factors[0].slots) != 1:
        return "people report several records"
    if any(len(total.products) > 1 for total in plan.totals):
        return "a total adds several products of scores"
    return ""


def _cell_count(plan: QueryPlan) -> int:
    """Return the cells of all layers that can be decoded."""
    (factor,) = (plan.layout.factors[index] for index in plan.demand.target_sums)
    (slot,) = factor.slots
    members = range(len(slot.family))
    return sum(slot.mechanism(each).size for each in members if not slot.cell(each).aligned)


def stated(plan: QueryPlan, rows: Sequence[Row], one_report_each: bool) -> Statement:
    """Return the statement for some rows.

    ``one_report_each``: nobody has more or fewer reports than slots.
    """
    numbered = _numbered(plan, rows)
    return replace(numbered, tree=_Writer(numbered).statement(one_report_each))


def _numbered(plan: QueryPlan, rows: Sequence[Row]) -> Statement:
    """Return the statement for some rows without a tree: its totals and scores, numbered."""
    totals: dict[int, int] = {}
    for row in rows:
        for total in (*row.totals, *([] if row.count is None else [row.count])):
            totals.setdefault(total, len(totals))
    columns: dict[int, dict[int, int]] = {}
    for score in _scores(plan.totals[total] for total in totals):
        used = columns.setdefault(score.factor, {})
        used.setdefault(score.column, len(used))
    scorings = {factor: plan.scoring(factor, list(used)) for factor, used in columns.items()}
    return Statement(plan, tuple(rows), scorings, totals, columns)


def relation(factor: int) -> str:
    """Return the name of a factor's scored reports."""
    return f"factor_{factor}"


def _scores(totals: Iterator[ScoreTotal]) -> Iterator[ScoreColumn]:
    for total in totals:
        for product in total.products:
            yield from product.scores


@dataclass(frozen=True, eq=False)
class _Writer:
    """Writes the tree of a statement."""

    numbered: Statement

    @property
    def plan(self) -> QueryPlan:
        return self.numbered.plan

    @property
    def totals(self) -> Mapping[int, int]:
        return self.numbered.totals

    @property
    def columns(self) -> Mapping[int, Mapping[int, int]]:
        return self.numbered.columns

    def statement(self, one_report_each: bool) -> Any:
        """Return the whole statement."""
        keys = [f"g{index}" for index in range(len(self._public_groups))]
        select = exp().Select(expressions=[*map(column, keys), *self._sums()])
        select = select.from_(table("z"))
        if keys:
            ordered = [exp().Ordered(this=column(key), nulls_first=False) for key in keys]
            select = select.group_by(*map(column, keys)).order_by(*ordered)
        for factor in sorted(self.columns):
            select = select.with_(
                f"f{factor}", as_=self._factor(factor, one_report_each), copy=False
            )
        return select.with_("z", as_=self._persons(), copy=False)

    def _sums(self) -> list[Any]:
        """Return what is summed over people."""
        users = alias(exp().Count(this=exp().Star()), "users")
        people = [alias(total_of(column("counted")), "people")] if self._narrowed else []
        totals = [
            alias(total_of(column(f"z{number}")), f"t{number}") for number in self.totals.values()
        ]
        squares = [
            alias(total_of(times([column(f"z{left}"), column(f"z{right}")])), f"m{left}_{right}")
            for left, right in self.numbered.pairs()
        ]
        return [users, *people, *totals, *squares]

    def _persons(self) -> Any:
        """Return the row of every person."""
        items = [
            alias(self._public_group(group), f"g{index}")
            for index, group in enumerate(self._public_groups)
        ]
        if self._narrowed:
            counted = (
                exp()
                .Case()
                .when(self._condition(self._narrowed), number(1), copy=False)
                .else_(number(0))
            )
            items.append(alias(counted, "counted"))
        items += [
            alias(self._total(self.plan.totals[total]), f"z{index}")
            for total, index in self.totals.items()
        ]
        sources = [f"f{factor}" for factor in sorted(self.columns)]
        if not sources or self._reads_public_columns:
            sources.insert(0, "people")
        select = exp().Select(expressions=items).from_(table(sources[0]))
        for name in sources[1:]:
            select = select.join(table(name), using="person", copy=False)
        return select.where(self._condition(self.plan.query.among), copy=False)

    def _factor(self, factor: int, one_report_each: bool) -> Any:
        """Return the scores of a factor by person.

        Who has more or fewer reports than slots is left out.
        """
        slots = len(self.plan.layout.factors[factor].slots)
        summed = not one_report_each or slots > 1
        scores = [column(f"s{index}") for index in self.columns[factor].values()]
        if summed:
            scores = list(map(total_of, scores))
        items = [alias(score, f"f{factor}_{index}") for index, score in enumerate(scores)]
        select = exp().Select(expressions=[column("person"), *items]).from_(table(relation(factor)))
        if not summed:
            return select
        complete = exp().EQ(this=exp().Count(this=exp().Star()), expression=number(slots))
        return select.group_by(column("person")).having(complete)

    @cached_property
    def _public_groups(self) -> list[GroupBy]:
        return [group for group in self.plan.query.group_by if group.public]

    @cached_property
    def _narrowed(self) -> Public | None:
        """Return the public condition without which nobody counts; None if anybody may count."""
        conditions = tuple(monomial.public for monomial in self.plan.query.where)
        return None if not conditions or EVERYBODY in conditions else AnyOf(conditions)

    @property
    def _reads_public_columns(self) -> bool:
        products = [
            product for total in self.totals for product in self.plan.totals[total].products
        ]
        used = any(product.times or product.public != EVERYBODY for product in products)
        narrowed = self._narrowed is not None or self.plan.query.among != EVERYBODY
        return used or narrowed or bool(self._public_groups)

    def _total(self, total: ScoreTotal) -> Any:
        products = [self._product(product) for product in total.products]
        return plus(products) if products else number(0.0)

    def _product(self, product: ScoreProduct) -> Any:
        parts = [
            column(f"f{factor}_{self.columns[factor][index]}") for factor, index in product.scores
        ]
        if product.times:
            parts += [self._centred(product.times) for _ in range(product.times.power)]
        if product.weight != 1.0 or not parts:
            parts.insert(0, double(product.weight))
        if product.public == EVERYBODY:
            return times(parts)
        return (
            exp()
            .Case()
            .when(self._condition(product.public), times(parts), copy=False)
            .else_(number(0.0))
        )

    def _centred(self, times: PublicPower) -> Any:
        plain = self._public_column(times.name)
        if not times.centre:
            return plain
        less = exp().Sub(this=plain, expression=double(times.centre))
        return exp().Paren(this=less)

    def _condition(self, public: Public) -> Any:
        """Return a condition over public columns."""
        if isinstance(public, Compared):
            compared = self._public_column(public.column.public)
            return comparison(public.sign)(this=compared, expression=literal(public.value))
        if isinstance(public, Listed):
            values = [literal(value) for value in public.values]
            listed = self._public_column(public.column.public)
            return exp().In(this=listed, expressions=values) if values else exp().false()
        if isinstance(public, Not):
            return exp().Not(this=exp().Paren(this=self._condition(public.part)))
        parts = [exp().Paren(this=self._condition(part)) for part in public.parts]
        if not parts:
            return exp().true() if isinstance(public, AllOf) else exp().false()
        connective = exp().And if isinstance(public, AllOf) else exp().Or
        return reduce(lambda left, right: connective(this=left, expression=right), parts)

    def _public_group(self, group: GroupBy) -> Any:
        """Return what people are grouped by: the value, its class, or the middle of its bucket."""
        name = group.column.public
        tables = self.plan.layout.tables
        kind = tables.public_kinds[tables.public_names.index(name)]
        plain = self._public_column(name)
        if group.classes is not None:
            return _public_class(plain, kind, group.classes)
        if not kind.grouped_by_interval:
            return plain
        # The bucket of a number is how many inner edges are at or below it.
        middles = kind.value_numbers.tolist()
        case = exp().Case()
        for edge, middle in zip(kind.edges[1:-1].tolist(), middles[:-1], strict=True):
            below = exp().LT(this=plain.copy(), expression=double(edge))
            case = case.when(below, double(middle), copy=False)
        return case.else_(double(middles[-1]))

    def _public_column(self, name: str) -> Any:
        return column(f"p{self.plan.layout.tables.public_names.index(name)}")


def _public_class(plain: Any, kind: Domain, classes: Ints) -> Any:
    """Return the number of the class of a public value; of a value that there is not, ``NO_CLASS``.

    Values of one class that follow each other are compared with the last of them, unless there are
    so many of these runs that lists of values are shorter.
    """
    values = kind.labels
    ends = np.append(np.flatnonzero(np.diff(classes)), len(classes) - 1)
    case = exp().Case()
    if not kind.has_ranges or len(ends) > 2 * len(set(classes.tolist())):
        for number_of_class in dict.fromkeys(classes.tolist()):
            members = [
                literal(values[index]) for index in np.flatnonzero(classes == number_of_class)
            ]
            listed = exp().In(this=plain.copy(), expressions=members)
            case = case.when(listed, number(number_of_class), copy=False)
    else:
        for end in ends.tolist():
            below = exp().LTE(this=plain.copy(), expression=literal(values[end]))
            case = case.when(below, number(int(classes[end])), copy=False)
    return case.else_(number(NO_CLASS))
