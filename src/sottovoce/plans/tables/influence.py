"""What one false message can do to the numbers of a query.

A false message holds any report in every slot.  A report about a layer scores

    constant + (vote - mean coefficient of the layer) / chance of the layer

so the extremes of a score follow from those of the vote over all sets of cells that a report can
support.  For layers of few cells they are those of the sorted coefficients.  For other layers they
are bounded by the largest coefficient and by the sum of all positive ones, which are products over
the axes.  Scores of the slots of one table add up, those of several tables are multiplied, and
products are added: each step takes the extremes of its parts, so joins and sums of several products
are bounds.

Without enrolment an attacker chooses the layer, and the worst one counts.  Where coins are dealt by
tokens, a report is about each layer with its chance, so the mean over layers counts.

Source: docs/affine-response.md, section 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.influence import CoefficientBounds, Exposure, Influence
from sottovoce.core.product_target import ProductTarget
from sottovoce.plans.tables.coefficients import AxisProduct, Coefficients
from sottovoce.plans.tables.demand import Number, Row, ScoreProduct, ScoreTotal
from sottovoce.plans.tables.layout import Axis, Factor, Slot
from sottovoce.plans.tables.scoring import layer_means, layer_terms
from sottovoce.plans.tables.weigh import Candidate
from sottovoce.sql.query import EVERYBODY

MAX_LISTED = 1 << 14  # cells of a layer whose coefficients are sorted
_REFINED = 64  # layers whose coefficients are sorted, the worst first


@dataclass(frozen=True)
class ScoreSpan:
    """The lowest and the highest number that one person can contribute."""

    low: float
    high: float

    def plus(self, other: "ScoreSpan") -> "ScoreSpan":
        """Return the span of a sum."""
        return ScoreSpan(self.low + other.low, self.high + other.high)

    def times(self, other: "ScoreSpan") -> "ScoreSpan":
        """Return the span of a product."""
        ends = (self.low, self.high)
        corners = [own * others for own in ends for others in (other.low, other.high)]
        return ScoreSpan(min(corners), max(corners))

    @property
    def magnitude(self) -> float:
        """Return the largest distance from 0."""
        return max(abs(self.low), abs(self.high))

    @property
    def influence(self) -> Influence:
        """Return the span as an influence."""
        return Influence(max(0.0, self.high), max(0.0, -self.low))


@dataclass(frozen=True, eq=False)
class NumberInfluence:
    """A number of an answer under a method; ``coins_checked`` if tokens deal the layers."""

    candidate: Candidate
    row: Row
    number: Number
    coins_checked: bool

    def exposure(self, totals: Sequence[float], people: int) -> Exposure | None:
        """Return how false messages move the number where its moments have these totals.

        For a ratio that holds to first order: the number is replaced by its linear part.  None if
        the number does not exist.
        """
        value, slopes = self.number.aggregate.combine(list(totals))
        if slopes is None:
            return None
        combined = self.candidate.demand.combined(self.number, self.row.groups, slopes)
        candidate = self.candidate.of(combined)
        span = total_span(candidate, combined.totals[0], coins_checked=self.coins_checked)
        linear = sum(slope * total for slope, total in zip(slopes, totals, strict=True))
        return Exposure(span.influence, people, value - linear)


def total_span(candidate: Candidate, total: ScoreTotal, *, coins_checked: bool) -> ScoreSpan:
    """Return what one message can contribute to a total."""
    spans = [_product_span(candidate, term, coins_checked) for term in total.products]
    return reduce(ScoreSpan.plus, spans, ScoreSpan(0.0, 0.0))


def _product_span(candidate: Candidate, term: ScoreProduct, coins_checked: bool) -> ScoreSpan:
    layout = candidate.demand.layout
    scored = [
        _Score(layout.factors[score.factor], candidate.coefficients(score)) for score in term.scores
    ]
    if coins_checked and len(scored) > 1:
        # Coins of several tables are independent, so the mean of a product of magnitudes is the
        # product of their means.
        spans = [ScoreSpan(-score.magnitude, score.magnitude) for score in scored]
    else:
        spans = [score.span(coins_checked=coins_checked) for score in scored]
    span = reduce(ScoreSpan.times, spans, ScoreSpan(term.weight, term.weight))
    if term.times is not None:
        kind = layout.tables.public_kinds[layout.tables.public_names.index(term.times.name)]
        factors = term.times.of(kind.value_numbers)
        span = span.times(ScoreSpan(float(factors.min()), float(factors.max())))
    if term.public == EVERYBODY:
        return span
    return ScoreSpan(min(span.low, 0.0), max(span.high, 0.0))


def score_influence(factor: Factor, column: Coefficients, *, coins_checked: bool) -> Influence:
    """Return what the reports of one message can do to the sum of scores for some coefficients."""
    return _Score(factor, column).span(coins_checked=coins_checked).influence


@dataclass(frozen=True, eq=False)
class _Score:
    """The score of a message for some coefficients of one factor."""

    factor: Factor
    column: Coefficients

    def span(self, *, coins_checked: bool) -> ScoreSpan:
        """Return what the reports of one message can score together."""
        known = ScoreSpan(self.column.known, self.column.known)
        layers = [_Layers(slot, self.column) for slot in self.factor.slots]
        spans = [each.mean_span if coins_checked else each.widest_span for each in layers]
        return reduce(ScoreSpan.plus, spans, known)

    @property
    def magnitude(self) -> float:
        """Return the mean over dealt layers of the largest magnitude of a score."""
        layers = [_Layers(slot, self.column) for slot in self.factor.slots]
        return abs(self.column.known) + sum(each.mean_magnitude for each in layers)


@dataclass(frozen=True, eq=False)
class _Layers:
    """The layers of a slot, and some coefficients of their cells."""

    slot: Slot
    column: Coefficients

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Return how far the vote for every layer can be above and below the layer's mean."""
        return _layer_bounds(self.slot, self.column)

    @cached_property
    def constant(self) -> float:
        """Return what every report scores whatever its layer."""
        return layer_means(self.slot, self.column)

    @property
    def widest_span(self) -> ScoreSpan:
        """Return the extremes of a score over all layers, of which an attacker may choose one."""
        up, down = self.bounds
        highest = self.worst(up / self.slot.chances, sign=1.0)
        lowest = self.worst(down / self.slot.chances, sign=-1.0)
        return ScoreSpan(self.constant - lowest, self.constant + highest)

    @property
    def mean_span(self) -> ScoreSpan:
        """Return the mean extremes of a score over layers that are dealt by their chances."""
        up, down = self.bounds
        return ScoreSpan(self.constant - float(down.sum()), self.constant + float(up.sum()))

    @property
    def mean_magnitude(self) -> float:
        """Return the mean over dealt layers of the largest magnitude of a score."""
        return abs(self.constant) + float(np.maximum(*self.bounds).sum())

    def worst(self, bounds: Floats, sign: float) -> float:
        """Return the largest score of any layer, given a bound for each.

        The layers with the largest bounds are looked at first; what sorting their coefficients
        gives replaces the bound.
        """
        refined = bounds.copy()
        for _ in range(_REFINED):
            layer = int(np.argmax(refined))
            exact = self._sorted(layer, sign)
            if exact is None or exact >= refined[layer] - 1e-12 * abs(refined[layer]):
                break
            refined[layer] = exact
        return max(0.0, float(refined.max()))

    def _sorted(self, member: int, sign: float) -> float | None:
        """Return the largest score of a layer by its sorted coefficients; None if too many."""
        terms = layer_terms(self.slot, member, self.column)
        if not terms:
            return 0.0
        radices = tuple(map(len, terms[0].factors))
        if prod(radices) > MAX_LISTED:
            return None
        coefficients = sign * ProductTarget(radices, terms).dense(prod(radices))
        if self.slot.laws.centred[member]:
            coefficients = coefficients - coefficients.mean()
        influence = self.slot.mechanism(member).influence_law.of(coefficients)
        return influence.up / self.slot.chance(member)


def _layer_bounds(slot: Slot, column: Coefficients) -> tuple[Floats, Floats]:
    """Return how far the vote for every layer can be above and below the layer's mean."""
    known, cells = _coefficient_bounds(slot, column)
    centred = slot.laws.centred
    means = np.where(centred, known.total / np.maximum(cells, 1), 0.0)
    # Cells are moved by the mean of their layer: the sum becomes 0.
    moved = CoefficientBounds(
        np.maximum(known.highest - means, 0.0),
        np.minimum(known.lowest - means, 0.0),
        known.positive + cells * np.maximum(-means, 0.0),
        known.negative - cells * np.maximum(means, 0.0),
        np.where(centred, 0.0, known.total),
    )
    up, down = np.zeros(len(cells)), np.zeros(len(cells))
    for members in _by_mechanism(slot):
        law = slot.mechanism(int(members[0])).influence_law
        up[members], down[members] = law.bounds(moved[members])
    used = known.positive - known.negative > 0
    return np.where(used, up, 0.0), np.where(used, down, 0.0)


def _by_mechanism(slot: Slot) -> list[Ints]:
    """Return the layers that each mechanism randomises."""
    by_mechanism: dict[int, list[int]] = {}
    for member in range(len(slot.family)):
        by_mechanism.setdefault(id(slot.family[member].mechanism), []).append(member)
    return [np.array(members) for members in by_mechanism.values()]


def _coefficient_bounds(slot: Slot, column: Coefficients) -> tuple[CoefficientBounds, Floats]:
    """Return what the axes say about the coefficients of every layer, and its number of cells."""
    groups = [
        _group_bounds(axes, terms) for axes, terms in zip(slot.groups, column.groups, strict=True)
    ]
    rows = np.concatenate(groups, axis=1)[:, slot.family.first :]
    if column.scales is not None:
        rows[:5] *= column.scales
    return CoefficientBounds(*rows[:5]), rows[5]


def _group_bounds(axes: Sequence[Axis], terms: Sequence[AxisProduct]) -> Floats:
    """Return (6, layers): the five bounds and the number of cells, for one group of layers."""
    sizes = [[len(axis.tree.real(level)) for level in axis.levels] for axis in axes]
    cells = reduce(np.multiply.outer, [np.array(size, float) for size in sizes]).ravel()
    rows = np.zeros((6, len(cells)))
    rows[5] = cells
    for term in terms:
        rows[:5] += _term_bounds(axes, term)
    return rows


def _term_bounds(axes: Sequence[Axis], term: AxisProduct) -> Floats:
    """Return (5, layers): the bounds of one product of axes."""
    highest = lowest = total = np.full(1, term.weight)
    positive, negative = np.maximum(total, 0.0), np.minimum(total, 0.0)
    for axis, levels in zip(axes, term.axes, strict=True):
        vectors = [levels[level] for level in axis.levels]
        used = [np.zeros(1) if vector is None else vector for vector in vectors]
        high = np.array([vector.max() for vector in used])
        low = np.array([vector.min() for vector in used])
        above = np.array([np.maximum(vector, 0.0).sum() for vector in used])
        below = np.array([np.minimum(vector, 0.0).sum() for vector in used])
        corners = [_outer(left, right) for left in (highest, lowest) for right in (high, low)]
        highest, lowest = np.max(corners, axis=0), np.min(corners, axis=0)
        still_positive = _outer(positive, above) + _outer(negative, below)
        negative = _outer(positive, below) + _outer(negative, above)
        positive = still_positive
        total = _outer(total, above + below)
    return np.stack([np.maximum(highest, 0), np.minimum(lowest, 0), positive, negative, total])


def _outer(left: Floats, right: Floats) -> Floats:
    return np.multiply.outer(left, right).ravel()
