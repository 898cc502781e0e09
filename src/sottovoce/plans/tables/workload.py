"""Weights of layers: how often people are asked about each layer, given the expected queries.

With BLUE coefficients (``layered_blue``) and people who are spread evenly, the variance of a target
is

    V = sum over parts l of |part_l|^2 / lambda_l         |part_l|^2: sum of squares over all values

where lambda_l grows with the probabilities of the layers that contain part l.  The weights minimise
the sum of log(V) over the workload.  The logarithm makes one percent of error worth the same in
every query.  It also turns the product of variances over the tables of a join into a sum.

V is convex in the probabilities.  A multiplicative iteration finds the minimum, and no step makes
the sum worse: every probability is multiplied by the square root of its contribution, then all are
divided by their sum.

A share of the people (``SPARE``) is spread evenly over all layers, so that other queries can be
answered too.  Every layer has a weight of at least 1.

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

SPARE = 0.04  # share of the people that is spread evenly over all layers
STEPS = 400
SETTLED = 1e-6  # the iteration ends when no probability changes by more
MAX_ROWS = 16  # rows of a query with groups that are considered, evenly spaced
MAX_MOMENTS = 8  # moments that are considered for a number that is no smooth function of them
NOMINAL_USERS = 1_000_000  # nominal number of users; the weights do not depend on it
TOTAL_WEIGHT = 1 << 20
BALANCED_SPARE = 0.01  # like SPARE, if the queries are unknown
BALANCING = 1_200  # steps of the minimax iteration
LEARNING = 0.1  # exponent of the update: a wish's weight is multiplied by loss^LEARNING

Weights = tuple[tuple[int, ...], ...]  # by table and layer; empty if all layers weigh the same


@dataclass(frozen=True)
class WeightedQuery:
    """An expected query and its weight."""

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
    """Return layer weights that minimise the largest loss (minimax), for unknown queries.

    A loss is a ratio of two variances:

    - For a point over every column, the variance is divided by ``points`` times the variance that
      results when everybody is asked about the finest layer.
    - For any other query, the variance is divided by the variance with even layers times the
      query's entry of ``_Tolerances``.
    """
    weights = []
    for factor in layout.factors:
        wishes = _balanced_wishes(layout, factor)
        weights.append(_BalancedDesign(factor, wishes, points).weights)
    return tuple(weights)


@dataclass(frozen=True)
class _Tolerances:
    """The ratio of variances, relative to even layers, that queries of each kind may have.

    The ratios are those at which the best published method is about as good, on tables of two to
    six columns (docs/decisions/0079-balanced-layers.md).  Compared with even layers, that method
    loses more the fewer columns there are, and the more of them hold numbers.
    """

    label: float
    number: float
    numbers: float  # a range of numbers
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
    """Return the wishes for a table whose queries are unknown.

    They are a point over every column, a value and a range of every single column, and every pair
    of columns.  The weight of a wish is its entry of ``_Tolerances``.
    """
    kinds = layout.attributes(factor.table)
    ordered = [column for column, kind in enumerate(kinds) if kind.has_ranges]
    single = {column: _one_value(kind.size) for column, kind in enumerate(kinds)}
    ranges = {column: _some_values(kinds[column].size) for column in ordered}
    usual = single | ranges
    tolerances = _Tolerances.of(len(kinds), ordered=bool(ordered))
    wanted = [(1.0, single)]
    for column, chosen in single.items():
        tolerance = tolerances.number if column in ranges else tolerances.label
        wanted.append((tolerance, {column: chosen}))
    wanted += [(tolerances.numbers, {column: chosen}) for column, chosen in ranges.items()]
    for left, right in combinations(usual, 2):
        wanted.append((tolerances.pair, {left: usual[left], right: usual[right]}))
    most = layout.tables.most(factor.table)
    stands_for = most / layout.rows[factor.table] if most else 1.0
    wishes = []
    for tolerance, sets in wanted:
        target = Target(factor, sets, weight=stands_for)
        norms = _norms((WeightedTarget(1.0, target),))
        wishes.append(_Wish(factor, tolerance, norms, 0.0))
    return wishes


def _one_value(size: int) -> Bools:
    return np.asarray(np.arange(size) == size // 2)


def _some_values(size: int) -> Bools:
    """Return a range of 40 % of the values whose ends do not coincide with interval ends."""
    values = np.arange(size)
    return np.asarray((values >= 0.31 * size) & (values < 0.71 * size))


def layer_weights(layout: Layout, queries: Iterable[WeightedQuery]) -> Weights:
    """Return the layer weights of every table that are best for the given queries.

    The weights of a table that no query uses are empty.
    """
    wishes = [wish for query in queries for wish in _wishes(layout, query)]
    weights = []
    for table in range(len(layout.tables.names)):
        own = [wish for wish in wishes if wish.factor.table == table]
        weights.append(_LayerDesign(own[0].factor, own).weights if own else ())
    return tuple(weights) if any(weights) else ()


@dataclass(frozen=True, eq=False)
class _Wish:
    """A score whose variance should be small.

    ``norms`` are the sums of squares of the parts of its target.  ``signal`` is its mean square
    without noise; it is 0 for a score that is not multiplied by others.
    """

    factor: Factor
    weight: float
    norms: Floats
    signal: float


def _wishes(layout: Layout, query: WeightedQuery) -> list[_Wish]:
    """Return a wish for every score that the numbers of a query are computed from."""
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
    """Return the linear combination of moments whose error equals that of the number.

    If the number is no smooth function of its moments, return some of the moments instead.
    """
    demand = prediction.candidate.demand
    _, slopes = number.aggregate.combine(prediction.totals(number, NOMINAL_USERS))
    if slopes is not None:
        return [demand.combined(number, row.groups, slopes)]
    count = len(number.totals)
    chosen = _spaced(range(count), MAX_MOMENTS)
    alone = [[float(index == moment) for index in range(count)] for moment in chosen]
    return [demand.combined(number, row.groups, each) for each in alone]


def _norms(targets: TargetSum) -> Floats:
    """Return the sums of squares of all parts of a sum of targets, by level of each axis.

    A part that is known for everybody has no noise: its entry is 0.
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
    """The probabilities of the layers of one table that are best for some wishes."""

    factor: Factor
    wishes: Sequence[_Wish]

    @property
    def slot(self) -> Slot:
        return self.factor.slots[0]

    @cached_property
    def widths(self) -> Floats:
        """Return the width of a cell of every layer: the array has one dimension per axis."""
        (axes,) = self.slot.groups
        widths = [
            np.array([1.0 if axis.coins else axis.tree.width(level) for level in axis.levels])
            for axis in axes
        ]
        return np.asarray(reduce(np.multiply.outer, widths))

    @cached_property
    def precisions(self) -> Floats:
        """Return the precision of every layer if everybody is asked about it.

        The precision of a layer that is left out is 0.
        """
        precisions = self.slot.precisions(by_level=True) / self.slot.chances
        left_out = np.zeros(self.slot.family.first)
        return np.concatenate([left_out, precisions]).reshape(self.widths.shape)

    @property
    def weights(self) -> tuple[int, ...]:
        """Return the best probabilities as whole numbers."""
        chances = self.chances.ravel()[self.slot.family.first :]
        counts = np.maximum(1, np.rint(chances * TOTAL_WEIGHT)).astype(int)
        return tuple(counts.tolist())

    @cached_property
    def chances(self) -> Floats:
        """Return the probabilities of least cost, mixed with an even share (``SPARE``)."""
        norms = np.stack([wish.norms for wish in self.wishes])
        signals = np.array([wish.signal for wish in self.wishes])
        weights = np.array([wish.weight for wish in self.wishes])
        power = self.widths * self.precisions  # if everybody is asked about the layer
        even = (power > 0) / np.count_nonzero(power > 0)
        chances = even
        for _ in range(STEPS):
            lambdas = _from_the_end(((1 - SPARE) * chances + SPARE * even) * power)
            noise = (norms / lambdas).reshape(len(norms), -1).sum(axis=1)
            cost = np.tensordot(weights / np.maximum(noise + signals, 1e-300), norms, axes=1)
            gains = power * _from_the_start(cost / lambdas**2)
            before = chances
            chances = chances * np.sqrt(gains)
            chances = chances / chances.sum()
            if np.abs(chances - before).max() < SETTLED:
                break
        return np.asarray((1 - SPARE) * chances + SPARE * even)


@dataclass(frozen=True, eq=False)
class _BalancedDesign(_LayerDesign):
    """The probabilities that minimise the largest loss (minimax).

    The first wish is a point over every column.  The wishes are weighted like those of a workload,
    and in every step wishes with a larger loss get more weight.
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
        weights = np.full(len(norms), 1 / len(norms))
        for _ in range(BALANCING):
            mixed = (1 - BALANCED_SPARE) * chances + BALANCED_SPARE * even
            noise = self._noise(norms, mixed)
            losses = noise / bounds
            if losses.max() < least:
                least, best = losses.max(), mixed
            weights = weights * losses**LEARNING
            weights = weights / weights.sum()
            lambdas = _from_the_end(mixed * power)
            cost = np.tensordot(weights / noise, norms, axes=1)
            chances = chances * np.sqrt(power * _from_the_start(cost / lambdas**2))
            chances = chances / chances.sum()
        return np.asarray(best)

    def _noise(self, norms: Floats, chances: Floats) -> Floats:
        lambdas = _from_the_end(chances * self.widths * self.precisions)
        return np.asarray((norms / lambdas).reshape(len(norms), -1).sum(axis=1))


def _from_the_end(values: Floats) -> Floats:
    """Return, for every entry, the sum over all entries with the same or larger indices."""
    for axis in range(values.ndim):
        values = np.flip(np.cumsum(np.flip(values, axis), axis), axis)
    return values


def _from_the_start(values: Floats) -> Floats:
    """Return, for every entry, the sum over all entries with the same or smaller indices."""
    for axis in range(values.ndim):
        values = np.cumsum(values, axis)
    return values


def _spaced(entries: Sequence[Any], most: int) -> list[Any]:
    """Return up to ``most`` entries, evenly spaced."""
    chosen = np.unique(np.linspace(0, len(entries) - 1, min(most, len(entries))).round())
    return [entries[int(index)] for index in chosen]
