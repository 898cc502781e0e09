"""Weights of layers: how often people are asked about each layer, for the queries that will be
asked.

With BLUE coefficients (``layered_blue``) the noise of a target, for people who are spread evenly,
is

    V = sum over parts l of |part_l|^2 / lambda_l         |part_l|^2: its squares over all values

where lambda_l grows with the chances of the layers that see part l.  V is convex in the chances, so
the best ones are found by a short iteration that never makes the sum of log(V) over the workload
worse: every chance is multiplied by the square root of what it contributes, then all are divided by
their sum.  The sum of logarithms makes a percent of error of one query worth a percent of another.
Over a join the noise of all tables is multiplied, and the logarithm makes a sum of that again.

A share of the people (``SPARE``) stays even over all layers, so that other queries can be answered
too; and every layer has a weight of at least 1.

Source: Torsney 1983.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.coefficients import Target, target_parts
from sottovoce.plans.tables.demand import Demand, Number, Row, TargetSum, WeightedTarget
from sottovoce.plans.tables.layered_blue import AxisParts
from sottovoce.plans.tables.layout import Factor, Layout, Slot
from sottovoce.plans.tables.method import Method
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.predict import Prediction, estimated_moments
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.table_plan import BALANCED, Workload

SPARE = 0.04  # of the people: asked as if nothing were known about the queries
STEPS = 400
SETTLED = 1e-6  # a change of chances at which the iteration ends
MAX_ROWS = 16  # of a query with groups, evenly spaced, that are looked at
MAX_MOMENTS = 8  # of a number that is no smooth function of them
NOMINAL_USERS = 1_000_000  # of whom averages are taken; nothing depends on it
TOTAL_WEIGHT = 1 << 20
BALANCED_SPARE = 0.01  # the same where nothing is known
BALANCING = 1_200  # steps
LEARNING = 0.1  # the power of a loss by which its wish matters more in the next step

Weights = tuple[tuple[int, ...], ...]  # by table and layer; empty: all alike


@dataclass(frozen=True)
class WeightedQuery:
    """A query that will be asked, and how much it matters."""

    text: str
    weight: float = 1.0


def workload_of(workload: Workload) -> tuple[WeightedQuery, ...]:
    """Return the queries of a workload, given as texts, as pairs with a weight, or as a mapping.

    >>> workload_of(["SELECT COUNT(*) FROM people"])
    (WeightedQuery(text='SELECT COUNT(*) FROM people', weight=1.0),)
    """
    if isinstance(workload, str):
        raise ParameterError(f"`workload` must be a list of queries, or {BALANCED!r}")
    listed = workload.items() if isinstance(workload, Mapping) else workload
    queries = tuple(_weighted(entry) for entry in listed)
    if not queries:
        raise ParameterError("`workload` must hold at least one query")
    return queries


def _weighted(entry: Any) -> WeightedQuery:
    if isinstance(entry, str):
        return WeightedQuery(entry)
    pair = tuple(entry) if isinstance(entry, (tuple, list)) else ()
    if len(pair) != 2 or not isinstance(pair[0], str) or not _is_positive(pair[1]):
        raise ParameterError(
            "`workload` must hold queries, or pairs of a query and its weight above 0"
        )
    return WeightedQuery(pair[0], float(pair[1]))


def _is_positive(number: Any) -> bool:
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return is_number and 0 < number < float("inf")


def balanced_weights(layout: Layout, points: float = 1.0) -> Weights:
    """Return weights of layers for who cannot list the queries: the largest loss is least.

    The loss of a point over every column is its noise over that of asking everybody about the
    finest layer, in units of ``points``; that of another query is its noise over that with even
    layers, in units of what ``_tolerances`` allow.
    """
    weights = []
    for factor in layout.factors:
        wishes = _balanced_wishes(layout, factor)
        weights.append(_BalancedDesign(factor, wishes, points).weights)
    return tuple(weights)


@dataclass(frozen=True)
class _Tolerances:
    """How much noisier than with even layers queries of each kind may be.

    So much that the best published method is about as good, on tables of two to six columns
    (docs/decisions/0079-balanced-layers.md): it loses more to even layers the fewer columns there
    are, and the more of them hold numbers.
    """

    label: float
    number: float
    numbers: float  # a range of them
    pair: float

    @classmethod
    def of(cls, columns: int, *, ordered: bool) -> "_Tolerances":
        if not ordered:
            return cls(label=2.8, number=1.0, numbers=1.0, pair=3.5)
        return cls(
            label=max(0.5, 1.04 - 0.06 * columns),
            number=min(1.6, 0.54 * columns),
            numbers=max(1.0, 10 / columns - 0.38),
            pair=min(2.65, 0.95 * columns),
        )


def _balanced_wishes(layout: Layout, factor: Factor) -> list["_Wish"]:
    """Return what is wished of a table whatever will be asked of it: a point over every column,
    every single column as a value and as a range, and every pair.

    The weight of a wish is what it tolerates.
    """
    kinds = layout.attributes(factor.table)
    ordered = [column for column, kind in enumerate(kinds) if kind.has_ranges]
    single = {column: _one_value(kind.size) for column, kind in enumerate(kinds)}
    ranges = {column: _some_values(kinds[column].size) for column in ordered}
    usual = single | ranges
    allowed = _Tolerances.of(len(kinds), ordered=bool(ordered))
    wanted = [(1.0, single)]
    for column, chosen in single.items():
        wanted.append((allowed.number if column in ranges else allowed.label, {column: chosen}))
    wanted += [(allowed.numbers, {column: chosen}) for column, chosen in ranges.items()]
    for left, right in combinations(usual, 2):
        wanted.append((allowed.pair, {left: usual[left], right: usual[right]}))
    most = layout.tables.most(factor.table)
    stands_for = most / layout.rows[factor.table] if most else 1.0
    wishes = []
    for tolerated, sets in wanted:
        target = Target(factor, sets, weight=stands_for)
        norms = _norms((WeightedTarget(1.0, target),))
        wishes.append(_Wish(factor, tolerated, norms, 0.0))
    return wishes


def _one_value(size: int) -> Bools:
    return np.asarray(np.arange(size) == size // 2)


def _some_values(size: int) -> Bools:
    """Return a range of two fifths of the values, whose ends are those of no interval."""
    values = np.arange(size)
    return np.asarray((values >= 0.31 * size) & (values < 0.71 * size))


def layer_weights(layout: Layout, queries: Iterable[WeightedQuery]) -> Weights:
    """Return the weights of the layers of every table that are best for some queries.

    Empty for a table of which the queries ask nothing.
    """
    wishes = [wish for query in queries for wish in _wishes(layout, query)]
    weights = []
    for table in range(len(layout.tables.names)):
        own = [wish for wish in wishes if wish.factor.table == table]
        weights.append(_LayerDesign(own[0].factor, own).weights if own else ())
    return tuple(weights) if any(weights) else ()


@dataclass(frozen=True, eq=False)
class _Wish:
    """A score whose noise should be small: ``norms`` are the squares of the parts of its target.

    ``signal`` is what its mean square is without noise, where it is multiplied by other scores.
    """

    factor: Factor
    weight: float
    norms: Floats
    signal: float


def _wishes(layout: Layout, query: WeightedQuery) -> list[_Wish]:
    """Return the scores that the numbers of a query are made of."""
    source = Source(layout)
    parsed = read(query.text, source)
    if parsed.schema:
        raise ParameterError("`workload` must ask for numbers, not for the tables")
    plan = plan_query(parsed, source)
    rows = _spaced(plan.rows, MAX_ROWS)
    demands = [
        demand
        for row in rows
        for number in row.numbers
        for demand in _combined(plan.prediction, row, number)
    ]
    products = [(demand, term) for demand in demands for term in demand.totals[0].products]
    wishes = []
    for demand, term in products:
        for score in term.scores:
            targets = demand.target_sum(score)
            signal = estimated_moments(targets)[0] if len(term.scores) > 1 else 0.0
            weight = query.weight / len(products)
            factor = layout.factors[score.factor]
            wishes.append(_Wish(factor, weight, _norms(targets), signal))
    return wishes


def _combined(prediction: Prediction, row: Row, number: Number) -> list[Demand]:
    """Return what the error of a number is that of: its linear part, or some of its moments."""
    demand = prediction.candidate.demand
    _, slopes = number.aggregate.combine(prediction.totals(number, NOMINAL_USERS))
    if slopes is not None:
        return [demand.combined(number, row.groups, slopes)]
    count = len(number.totals)
    chosen = _spaced(range(count), MAX_MOMENTS)
    alone = [[float(index == moment) for index in range(count)] for moment in chosen]
    return [demand.combined(number, row.groups, each) for each in alone]


def _norms(targets: TargetSum) -> Floats:
    """Return the squares of all parts of a sum of targets over all values, by level of each axis.

    What is known of everybody has no noise.
    """
    factor = targets[0].target.factor
    (axes,) = factor.slots[0].groups
    split = [target_parts(part.target, Method()) for part in targets]
    norms = np.zeros([len(axis.levels) for axis in axes])
    for left, left_axes in zip(targets, split, strict=True):
        for right, right_axes in zip(targets, split, strict=True):
            shared = [_shared(*pair) for pair in zip(left_axes, right_axes, strict=True)]
            norms += left.weight * right.weight * reduce(np.multiply.outer, shared)
    if factor.known:
        norms[(0,) * norms.ndim] = 0.0
    return np.maximum(norms, 0.0)


def _shared(left: AxisParts, right: AxisParts) -> Floats:
    """Return the inner product over all values of the parts of two targets, by level."""
    shared = np.zeros(len(left.levels))
    for left_part in left.parts:
        for right_part in right.parts:
            level = _first_level(left_part)
            lower, upper = left_part[-1], right_part[-1]  # over single values
            if level == _first_level(right_part) and lower is not None and upper is not None:
                shared[left.levels.index(level)] = float(lower @ upper)
    return shared


def _first_level(part: tuple[Floats | None, ...]) -> int:
    return next(level for level, vector in enumerate(part) if vector is not None)


@dataclass(frozen=True, eq=False)
class _LayerDesign:
    """The chances of the layers of one table for the scores that are wished of it."""

    factor: Factor
    wishes: Sequence[_Wish]

    @property
    def slot(self) -> Slot:
        return self.factor.slots[0]

    @cached_property
    def widths(self) -> Floats:
        """Return the width of a cell of every layer, an axis of the array per axis."""
        (axes,) = self.slot.groups
        widths = [
            np.array([1.0 if axis.coins else axis.tree.width(level) for level in axis.levels])
            for axis in axes
        ]
        return np.asarray(reduce(np.multiply.outer, widths))

    @cached_property
    def precisions(self) -> Floats:
        """Return the precision of a layer that everybody is asked about; 0 if it is left out."""
        precisions = self.slot.precisions(by_level=True) / self.slot.chances
        left_out = np.zeros(self.slot.family.first)
        return np.concatenate([left_out, precisions]).reshape(self.widths.shape)

    @property
    def weights(self) -> tuple[int, ...]:
        """Return the best chances as whole numbers."""
        chances = self.chances.ravel()[self.slot.family.first :]
        counts = np.maximum(1, np.rint(chances * TOTAL_WEIGHT)).astype(int)
        return tuple(counts.tolist())

    @cached_property
    def chances(self) -> Floats:
        """Return the chances of least cost, of which a share is even."""
        norms = np.stack([wish.norms for wish in self.wishes])
        signals = np.array([wish.signal for wish in self.wishes])
        matters = np.array([wish.weight for wish in self.wishes])
        power = self.widths * self.precisions  # of a layer that everybody is asked about
        even = (power > 0) / np.count_nonzero(power > 0)
        chances = even
        for _ in range(STEPS):
            lambdas = _from_the_end(((1 - SPARE) * chances + SPARE * even) * power)
            noise = (norms / lambdas).reshape(len(norms), -1).sum(axis=1)
            cost = np.tensordot(matters / np.maximum(noise + signals, 1e-300), norms, axes=1)
            gains = power * _from_the_start(cost / lambdas**2)
            before = chances
            chances = chances * np.sqrt(gains)
            chances = chances / chances.sum()
            if np.abs(chances - before).max() < SETTLED:
                break
        return np.asarray((1 - SPARE) * chances + SPARE * even)


@dataclass(frozen=True, eq=False)
class _BalancedDesign(_LayerDesign):
    """The chances with the least largest loss, the first wish being a point over every column.

    The wishes are weighed like those of a workload, and those that lose more get more weight in
    every step.
    """

    points: float

    @cached_property
    def chances(self) -> Floats:
        norms = np.stack([wish.norms for wish in self.wishes])
        power = self.widths * self.precisions
        even = (power > 0) / np.count_nonzero(power > 0)
        bounds = self._noise(norms, even) * [wish.weight for wish in self.wishes]
        finest = np.zeros(even.shape)
        finest[(-1,) * even.ndim] = 1.0
        bounds[0] = self.points * self._noise(norms[:1], finest)[0]
        chances = best = even
        least = np.inf
        matters = np.full(len(norms), 1 / len(norms))
        for _ in range(BALANCING):
            mixed = (1 - BALANCED_SPARE) * chances + BALANCED_SPARE * even
            noise = self._noise(norms, mixed)
            losses = noise / bounds
            if losses.max() < least:
                least, best = losses.max(), mixed
            matters = matters * losses**LEARNING
            matters = matters / matters.sum()
            lambdas = _from_the_end(mixed * power)
            cost = np.tensordot(matters / noise, norms, axes=1)
            chances = chances * np.sqrt(power * _from_the_start(cost / lambdas**2))
            chances = chances / chances.sum()
        return np.asarray(best)

    def _noise(self, norms: Floats, chances: Floats) -> Floats:
        lambdas = _from_the_end(chances * self.widths * self.precisions)
        return np.asarray((norms / lambdas).reshape(len(norms), -1).sum(axis=1))


def _from_the_end(values: Floats) -> Floats:
    """Return the sums over all entries that are as far along every axis, or further."""
    for axis in range(values.ndim):
        values = np.flip(np.cumsum(np.flip(values, axis), axis), axis)
    return values


def _from_the_start(values: Floats) -> Floats:
    """Return the sums over all entries that are as far along every axis, or less."""
    for axis in range(values.ndim):
        values = np.cumsum(values, axis)
    return values


def _spaced(entries: Sequence[Any], most: int) -> list[Any]:
    """Return up to ``most`` entries, evenly spaced."""
    chosen = np.unique(np.linspace(0, len(entries) - 1, min(most, len(entries))).round())
    return [entries[int(index)] for index in chosen]
