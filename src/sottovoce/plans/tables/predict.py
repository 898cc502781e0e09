"""Pass ``predict``: Candidates -> Predictions.  Errors of the numbers, before any report is read.

The second moments are exact if people are spread evenly over all values.  A report about a layer
with coefficients c has a score with variance (``ScoreMoments``)

    spread * sum((c - m)^2) + held * (c[v] - m)^2     v: the person's cell, m: the mean coefficient

If a layer is picked with probability P, the mean square of a score is the sum over layers of the
mean square of the layer's score, divided by P.

Source: Xu 2020, sections 3 to 6; docs/affine-response.md, section 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import inf, prod, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.tables.coefficients import AxisProduct, Coefficients
from sottovoce.plans.tables.demand import (
    Number,
    PublicPower,
    Row,
    ScoreColumn,
    ScoreProduct,
    ScoreTotal,
    TargetSum,
)
from sottovoce.plans.tables.layered_blue import Levels
from sottovoce.plans.tables.layout import Axis, Slot
from sottovoce.plans.tables.scoring import layer_means
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.weigh import Candidate
from sottovoce.sql.query import EVERYBODY

EVEN = 0.5  # assumed probability that a drawn record counts


@dataclass(frozen=True)
class PredictedScore:
    """The score of one person: the mean of its square, and the mean square and mean of what it
    estimates.
    """

    square: float
    signal: float
    mean: float

    @property
    def variance(self) -> float:
        """Return the variance of the score."""
        return max(0.0, self.square - self.signal)


@dataclass(frozen=True)
class ExpectedNumber:
    """The standard error of a number, and the error as a share of the number."""

    error: float
    relative: float


@dataclass(frozen=True, eq=False)
class Prediction:
    """A candidate, with the moments of its scores under an even spread of people."""

    candidate: Candidate
    _scores: dict[ScoreColumn, PredictedScore] = field(default_factory=dict)
    _quiet: dict[ScoreColumn, float] = field(default_factory=dict)

    def score(self, column: ScoreColumn) -> PredictedScore:
        """Return the moments of a column of scores."""
        if column not in self._scores:
            targets = self.candidate.demand.target_sum(column)
            self._scores[column] = predicted_score(targets, self.candidate.coefficients(column))
        return self._scores[column]

    def variance(self, total: ScoreTotal) -> float:
        """Return the variance of one person's contribution to a total.

        For a total of several products this is an upper bound.
        """
        by_scores: dict[Any, list[ScoreProduct]] = {}
        for term in total.products:
            by_scores.setdefault((term.scores, term.public), []).append(term)
        error = 0.0
        for terms in by_scores.values():
            scores = [self.score(column) for column in terms[0].scores]
            noise = prod(score.square for score in scores) - prod(score.signal for score in scores)
            error += sqrt(max(0.0, self._mean_square(terms) * noise))
        return error**2

    def _mean_square(self, terms: Sequence[ScoreProduct]) -> float:
        """Return the mean square of the factor that multiplies the scores of some products.

        The factor is a sum of numbers times powers of public columns.
        """
        names = {term.times.name for term in terms if term.times}
        if len(names) > 1:  # the joint distribution of two public columns is not known
            roots = [abs(term.weight) * sqrt(self._public_mean(term.times, 2)) for term in terms]
            return sum(roots) ** 2
        factors = np.zeros(1)
        for term in terms:
            powers = 1.0 if term.times is None else term.times.of(self._public_numbers(term.times))
            factors = factors + term.weight * powers
        return float(np.mean(factors**2))

    def least_variance(self, total: ScoreTotal) -> float:
        """Return a lower bound of the variance of one person's contribution to a total.

        For a total of several products it is 0, because their noise may cancel.
        """
        if len(total.products) != 1:
            return 0.0
        (term,) = total.products
        if not term.scores or term.times is not None or term.public != EVERYBODY:
            return 0.0
        return term.weight**2 * prod(map(self._least, term.scores))

    def _least(self, column: ScoreColumn) -> float:
        if column not in self._quiet:
            slots = self.candidate.demand.target_sum(column)[0].target.factor.slots
            coefficients = self.candidate.coefficients(column)
            self._quiet[column] = sum(quiet_variance(slot, coefficients) for slot in slots)
        return self._quiet[column]

    def mean(self, total: ScoreTotal) -> float:
        """Return one person's mean contribution to a total."""
        return sum(
            term.weight
            * self._public_mean(term.times, 1)
            * prod(self.score(column).mean for column in term.scores)
            for term in total.products
        )

    def number(self, row: Row, number: Number, users: int) -> ExpectedNumber:
        """Return the expected error of a number that ``users`` people report."""
        demand = self.candidate.demand
        totals = self.totals(number, users)
        value, slopes = number.aggregate.combine(totals)
        if slopes is None:
            return ExpectedNumber(inf, inf)
        combined = demand.combined(number, row.groups, slopes)
        residual = Prediction(self.candidate.of(combined)).variance(combined.totals[0])
        error = sqrt(users * residual)
        return ExpectedNumber(error, error / abs(value) if value else inf)

    def totals(self, number: Number, users: int) -> list[float]:
        """Return the expected totals of a number's moments."""
        demand = self.candidate.demand
        return [users * self.mean(demand.totals[total]) for total in number.totals]

    @property
    def cost(self) -> float:
        """Return the sum of the variances of all totals of the first row."""
        demand = self.candidate.demand
        return sum(self.variance(demand.totals[total]) for total in demand.rows[0].totals)

    @property
    def cells(self) -> float:
        """Return the number of cells that a person's reports are compared with for the first row,
        if every layer is hashed.
        """
        demand = self.candidate.demand
        products = [
            term for total in demand.rows[0].totals for term in demand.totals[total].products
        ]
        used: dict[int, set[ScoreColumn]] = {}
        for column in (column for term in products for column in term.scores):
            used.setdefault(column.factor, set()).add(column)
        total = 0.0
        for factor, columns in used.items():
            weights = [self.candidate.coefficients(column) for column in columns]
            for slot in demand.layout.factors[factor].slots:
                total += max(compared_cells(slot, each) for each in weights)
        return total

    def _public_mean(self, times: PublicPower | None, power: int) -> float:
        """Return the mean of a power of a public column over all its values."""
        if times is None:
            return 1.0
        return float(np.mean(times.of(self._public_numbers(times)) ** power))

    def _public_numbers(self, times: PublicPower) -> Floats:
        tables = self.candidate.demand.layout.tables
        return tables.public_kinds[tables.public_names.index(times.name)].value_numbers


def predict(candidates: tuple[Candidate, ...], source: Source) -> tuple[Prediction, ...]:
    """Return the candidates with the predictions of their errors."""
    return tuple(map(Prediction, candidates))


def predicted_score(targets: TargetSum, column: Coefficients) -> PredictedScore:
    """Return the moments of one person's score for coefficients that estimate a sum of targets."""
    slots = targets[0].target.factor.slots
    signal, mean = estimated_moments(targets)
    # The known part of the targets is not estimated; it is added exactly.
    scored = signal - 2 * column.known * mean + column.known**2
    noise = sum(_slot_variance(slot, column, scored / len(slots) ** 2) for slot in slots)
    return PredictedScore(noise + signal, signal, mean)


def quiet_variance(slot: Slot, column: Coefficients) -> float:
    """Return the least variance that one report's score can have.

    It is the variance for a person whose cells all have coefficient 0.
    """
    laws = slot.laws
    sums = _layer_sums(slot, column)
    mean = np.where(laws.centred, sums.total / np.maximum(sums.cells, 1), 0.0)
    spread = laws.spread + np.minimum(laws.held, 0.0)
    noise = np.maximum(spread, 0.0) * (sums.squares - sums.cells * mean**2)
    return float((noise / slot.chances).sum())


def squared_coefficients(slot: Slot, column: Coefficients) -> float:
    """Return the sum of the squares of the coefficients of all layers."""
    return float(_layer_sums(slot, column).squares.sum())


def compared_cells(slot: Slot, column: Coefficients) -> float:
    """Return the number of cells with a nonzero coefficient, averaged over the layers of a slot."""
    used = np.zeros(len(slot.family))
    for member in range(len(slot.family)):
        group, levels = slot.levels(member)
        for term in column.groups[group]:
            vectors = term.vectors(levels)
            if vectors is not None:
                used[member] += prod(np.count_nonzero(vector) for vector in vectors)
    return float(np.mean(used))


def estimated_moments(targets: TargetSum) -> tuple[float, float]:
    """Return the mean square and the mean of the value of a sum of targets for one person."""
    factor = targets[0].target.factor
    weights = np.array([part.weight for part in targets])
    shared = np.ones((len(targets), len(targets)))
    alone = np.ones(len(targets))
    for column in factor.columns:
        values = [part.target.values(column) for part in targets]
        known = [each for each in values if each is not None]
        if known:
            size = len(known[0])
            filled = np.stack([np.ones(size) if each is None else each for each in values])
            shared = shared * (filled @ filled.T) / size
            alone = alone * filled.mean(axis=1)
    chance, stands_for = 1.0, 1.0
    if factor.slots[0].family.most:
        chance, stands_for = EVEN, targets[0].target.weight * len(factor.slots)
    signal = chance * stands_for**2 * float(weights @ shared @ weights)
    return signal, chance * stands_for * float(weights @ alone)


@dataclass(frozen=True, eq=False)
class _LayerSums:
    """Sums over the cells of every layer of a slot: variances are computed from them."""

    squares: Floats  # of all coefficients
    total: Floats  # of all coefficients
    person_square: Floats  # the mean square of a person's coefficient
    person: Floats  # the mean of a person's coefficient
    cells: Floats  # the number of cells

    def times(self, scales: Floats) -> "_LayerSums":
        """Return the sums with the coefficients of every layer times its scale."""
        return _LayerSums(
            self.squares * scales**2,
            self.total * scales,
            self.person_square * scales**2,
            self.person * scales,
            self.cells,
        )


def _slot_variance(slot: Slot, column: Coefficients, signal: float) -> float:
    """Return the variance of one report's score."""
    laws = slot.laws
    sums = _layer_sums(slot, column)
    mean = np.where(laws.centred, sums.total / np.maximum(sums.cells, 1), 0.0)
    apart = sums.person_square - 2 * mean * sums.person + mean**2
    noise = laws.spread * (sums.squares - sums.cells * mean**2) + laws.held * apart
    if len(slot.family) == 1:
        return float(noise.sum())
    constant = layer_means(slot, column)
    drift = float((sums.person - mean).sum())
    square = float(((noise + apart) / slot.chances).sum()) + 2 * constant * drift + constant**2
    return max(0.0, square - signal)


def _layer_sums(slot: Slot, column: Coefficients) -> _LayerSums:
    """Return the sums of all layers of a slot; the layers that are left out come first."""
    groups = [
        _group_sums(axes, terms) for axes, terms in zip(slot.groups, column.groups, strict=True)
    ]
    joined = [
        np.concatenate(parts)[slot.family.first :]
        for parts in zip(*map(_parts, groups), strict=True)
    ]
    sums = _LayerSums(*joined)
    return sums if column.scales is None else sums.times(column.scales)


def _parts(sums: _LayerSums) -> tuple[Floats, ...]:
    return sums.squares, sums.total, sums.person_square, sums.person, sums.cells


def _group_sums(axes: tuple[Axis, ...], terms: Sequence[AxisProduct]) -> _LayerSums:
    """Return the sums of all layers of one group: outer products of sums over each axis."""
    cells = _outer(
        [np.array([len(axis.tree.real(level)) for level in axis.levels], float) for axis in axes]
    )
    squares, total = np.zeros(len(cells)), np.zeros(len(cells))
    person_square, person = np.zeros(len(cells)), np.zeros(len(cells))
    weights = np.array([term.weight for term in terms])
    pairs = [_paired(axis, [term.axes[index] for term in terms]) for index, axis in enumerate(axes)]
    for left, weight in enumerate(weights):
        factors = weight * weights
        squares += _outer_sum([pair.over_cells[left] for pair in pairs], factors)
        person_square += _outer_sum([pair.over_people[left] for pair in pairs], factors)
    for term in terms:
        singles = [_summed(axis, levels) for axis, levels in zip(axes, term.axes, strict=True)]
        total += term.weight * _outer([single.over_cells for single in singles])
        person += term.weight * _outer([single.over_people for single in singles])
    return _LayerSums(squares, total, person_square, person, cells)


@dataclass(frozen=True, eq=False)
class _AxisSums:
    """Sums over the nodes of an axis, with one entry for each of its levels.

    ``over_cells`` counts every node once, and ``over_people`` weights it with its share of people.
    """

    over_cells: Floats
    over_people: Floats


def _paired(axis: Axis, terms: Sequence[Levels]) -> _AxisSums:
    """Return the sums of products of two terms: (terms, levels, terms)."""
    shape = (len(terms), len(axis.levels), len(terms))
    over_cells, over_people = np.zeros(shape), np.zeros(shape)
    for index, level in enumerate(axis.levels):
        known = {
            number: vector
            for number, levels in enumerate(terms)
            if (vector := levels[level]) is not None
        }
        if known:
            vectors = np.stack(list(known.values()))
            among = np.ix_(list(known), [index], list(known))
            over_cells[among] = (vectors @ vectors.T)[:, None, :]
            over_people[among] = ((vectors * _shares(axis, level)) @ vectors.T)[:, None, :]
    return _AxisSums(over_cells, over_people)


def _outer_sum(parts: Sequence[Floats], weights: Floats) -> Floats:
    """Return the outer product over axes of (levels, terms), summed over terms with weights."""
    product_of_axes = weights[None, :]
    for part in parts:
        product_of_axes = (product_of_axes[:, None, :] * part[None]).reshape(-1, len(weights))
    return np.asarray(product_of_axes.sum(axis=1))


def _summed(axis: Axis, levels: Levels) -> _AxisSums:
    """Return the sums of one number per node."""
    over_cells, over_people = np.zeros(len(axis.levels)), np.zeros(len(axis.levels))
    for index, level in enumerate(axis.levels):
        vector = levels[level]
        if vector is not None:
            over_cells[index] = vector.sum()
            over_people[index] = vector @ _shares(axis, level)
    return _AxisSums(over_cells, over_people)


def _shares(axis: Axis, level: int) -> Floats:
    """Return the share of people in each node if they are spread evenly over the values."""
    tree = axis.tree
    if axis.coins:
        sides = len(tree.real(level))
        return np.full(sides, 1 / sides)
    width = tree.width(level)
    starts = np.arange(-(-tree.size // width)) * width
    shares = np.minimum(width, tree.size - starts) / tree.size
    if not tree.doubled:
        return np.asarray(shares)
    return np.ones(1) if level == 0 else np.concatenate([shares, shares]) / 2


def _outer(parts: list[Floats]) -> Floats:
    return np.asarray(reduce(np.multiply.outer, parts)).ravel()
