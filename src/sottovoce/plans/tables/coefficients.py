"""Coefficients for the cells of all layers of one factor, which make reports estimate a target.

A ``Target`` gives a number to every record: 1 or 0 by its conditions, times the value of a measured
column.  Its ``Coefficients`` are a sum of products over axes.  On each axis a method spreads the
numbers of the column's values over the levels of the tree; the coefficient of a cell is the product
over axes. ``CASES`` lists how an axis is treated, in order: the first case that applies is taken.

Source: Wang 2021, section 7.3; Xu 2020, sections 3 to 6.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import islice, product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.blue import blue
from sottovoce.plans.tables.decompositions import (
    Decomposition,
    additive_set,
    best_weights,
    published_weights,
    smallest_sets,
)
from sottovoce.plans.tables.layered_blue import (
    AxisParts,
    Levels,
    known_root,
    layered_blue,
    single_part,
    tree_parts,
)
from sottovoce.plans.tables.layout import TREE_MEASURES, WEIGHT, Axis, Factor
from sottovoce.plans.tables.method import WEIGHTED, Method

PER_COLUMN = {
    1: 8,
    2: 4,
    3: 4,
}  # decompositions of each column that enter the products, by the number of columns
DEFAULT_K = {"rdc": 0, "gls": 8}  # 0: 2 to the number of columns
_EXACT = 1e-12  # variance that stands for "known exactly"


@dataclass(frozen=True, eq=False)
class Target:
    """A number for every record, which a query adds up over all records.

    A record whose restricted columns all have values in their ``sets`` contributes the product of
    the numbers of its measured columns, or 1.  Any other record contributes 0.

    ``weight`` is how many records of a list table one sampled record represents.  ``further`` are
    the numbers of measured columns beside the first.
    """

    factor: Factor
    sets: Mapping[int, Bools]
    measured: int | None = None
    numbers: Floats | None = None  # of the values of the measured column
    weight: float = 1.0
    further: Mapping[int, Floats] = field(default_factory=dict)

    @cached_property
    def key(self) -> Any:
        """Return a cache key: equal for equal targets of one factor."""
        numbers = None if self.numbers is None else self.numbers.tobytes()
        sets = tuple(sorted((column, chosen.tobytes()) for column, chosen in self.sets.items()))
        further = tuple((column, each.tobytes()) for column, each in self.further.items())
        return sets, self.measured, numbers, self.weight, further

    def measures(self, column: int) -> bool:
        """Return whether the numbers of a column are added up."""
        return self.measured is not None and column in (self.measured, *self.further)

    def values(self, column: int) -> Floats | None:
        """Return the number of every value of a column; None if all of them are 1."""
        chosen = self.sets.get(column)
        numbers = self.further.get(column, self.numbers)
        if numbers is None or not self.measures(column):
            return None if chosen is None else chosen.astype(float)
        return numbers if chosen is None else numbers * chosen

    def check_measure(self, measure: str) -> None:
        """Refuse the measure ROUND if no rounding coins were collected."""
        if self.measured is None or measure in TREE_MEASURES or self.factor.rounds(self.measured):
            return
        raise ParameterError(
            "`MEASURE = ROUND` needs a collection with rounding coins for the measured column"
        )


@dataclass(frozen=True, eq=False)
class AxisProduct:
    """``weight`` times the product over axes of the coefficients of their nodes."""

    weight: float
    axes: tuple[Levels, ...]

    def times(self, weight: float) -> "AxisProduct":
        """Return the product times a number."""
        return AxisProduct(weight * self.weight, self.axes)

    def vectors(self, levels: Sequence[int]) -> tuple[Floats, ...] | None:
        """Return the coefficients of one layer, a vector per axis.

        None if it has no part in the product.
        """
        vectors = [axis[level] for axis, level in zip(self.axes, levels, strict=True)]
        known = tuple(vector for vector in vectors if vector is not None)
        return known if len(known) == len(vectors) else None

    @property
    def root(self) -> float:
        """Return the coefficient of the layer that has everything in one cell."""
        vectors = self.vectors([0] * len(self.axes))
        return (
            0.0 if vectors is None else self.weight * prod(float(vector[0]) for vector in vectors)
        )


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A sum of products for every group of a factor's layers.

    ``known`` is added for every person.  ``scales`` multiplies the products of every layer, where
    layers are weighed against each other.
    """

    groups: tuple[tuple[AxisProduct, ...], ...]
    known: float = 0.0
    scales: Floats | None = None

    @classmethod
    def sum(cls, parts: "Sequence[tuple[float, Coefficients]]") -> "Coefficients":
        """Return a weighted sum of coefficients of one factor."""
        groups = []
        for group in range(len(parts[0][1].groups)):
            terms: list[AxisProduct] = []
            for weight, coefficients in parts:
                terms += [term.times(weight) for term in coefficients.groups[group]]
            groups.append(tuple(terms))
        known = sum(weight * coefficients.known for weight, coefficients in parts)
        return cls(tuple(groups), known, parts[0][1].scales)

    def scale(self, member: int) -> float:
        """Return what the products of a layer are multiplied by."""
        return 1.0 if self.scales is None else float(self.scales[member])

    @property
    def squared_sum(self) -> float:
        """Return the sum of the squares of all coefficients, where layers have no scales."""
        total = 0.0
        for terms in self.groups:
            for left, right in product(terms, repeat=2):
                axes = zip(left.axes, right.axes, strict=True)
                total += left.weight * right.weight * prod(_inner(*pair) for pair in axes)
        return total


@dataclass(frozen=True, eq=False)
class KnownAxes:
    """What was computed for single axes of one factor by one method, by what is wanted of each."""

    levels: dict[Any, Levels] = field(default_factory=dict)
    parts: dict[Any, AxisParts] = field(default_factory=dict)


def coefficients(target: Target, method: Method, known: KnownAxes | None = None) -> Coefficients:
    """Return the coefficients that a method gives a target.

    ``known`` keeps what was computed for single axes by the same method: targets of one factor
    that want the same of an axis share its vectors.
    """
    known = KnownAxes() if known is None else known
    slot = target.factor.slots[0]
    if method.name == "blue" and slot.weighted:
        return _layered_coefficients(target, method, known)
    rounding = method.measure == "round" and target.measured is not None
    shares = [1 / len(slot.groups)] * len(slot.groups)
    if rounding and slot.family.rounding in (
        "one",
        "mirror",
    ):  # only the group of the measured column has its coin
        shares = [float(column == target.measured) for column in slot.family.groups]
    groups = []
    for axes, share in zip(slot.groups, shares, strict=True):
        terms = group_terms(target, method, axes, known) if share else ()
        groups.append(tuple(term.times(share) for term in terms))
    roots = sum(term.root for terms in groups for term in terms)
    return Coefficients(tuple(groups), roots if target.factor.known else 0.0)


def _layered_coefficients(target: Target, method: Method, known: KnownAxes) -> Coefficients:
    """Return the coefficients of least variance for layers that are not equally likely."""
    factor = target.factor
    slot = factor.slots[0]
    parts = target_parts(target, method, known)
    scales = slot.precisions(by_level=method.signal > 0)
    left_out = np.zeros(slot.family.first)
    products = layered_blue(parts, np.concatenate([left_out, scales]), root_known=factor.known)
    terms = tuple(AxisProduct(1.0, vectors) for vectors in products)
    root = known_root(parts) if factor.known else None
    return Coefficients((terms,), root or 0.0, scales)


def target_parts(target: Target, method: Method, known: KnownAxes | None = None) -> list[AxisParts]:
    """Return the parts of a target on every axis of its layers."""
    known = KnownAxes() if known is None else known
    (axes,) = target.factor.slots[0].groups
    wanted = [AxisTarget(target, method, axis, alone=len(axes) == 1) for axis in axes]
    return [_shared_parts(part, known) for part in wanted]


def _shared_parts(part: "AxisTarget", known: KnownAxes) -> AxisParts:
    if part.key not in known.parts:
        known.parts[part.key] = _parts(part)
    return known.parts[part.key]


def _parts(part: "AxisTarget") -> AxisParts:
    axis = part.axis
    if part.is_coin:
        return single_part(_coin_levels(part), axis.levels)
    if part.measured_by_tree and not part.measured_linearly:
        return single_part(_leaf_levels(part), axis.levels)
    leaves = part.measured_leaves if part.measured_linearly else part.leaves
    return tree_parts(axis.tree, axis.levels, leaves)


def group_terms(
    target: Target, method: Method, axes: Sequence[Axis], known: KnownAxes
) -> tuple[AxisProduct, ...]:
    """Return the terms of one group of layers."""
    parts = [AxisTarget(target, method, axis, alone=len(axes) == 1) for axis in axes]
    if method.name in WEIGHTED and any(part.decomposes for part in parts):
        return _weighted_terms(method, parts)
    return (AxisProduct(1.0, tuple(_shared_levels(part, known) for part in parts)),)


def _weighted_terms(method: Method, parts: "Sequence[AxisTarget]") -> tuple[AxisProduct, ...]:
    """Return the k smallest products of one decomposition per range, with weights that sum to 1."""
    ranges = [part for part in parts if part.decomposes]
    k = method.k or DEFAULT_K[method.name] or 1 << len(ranges)
    count = PER_COLUMN.get(len(ranges), 3) if k > 1 else 1
    if len(ranges) == 1:
        count = max(count, k)
    published = method.name == "rdc"
    # The best weights gain nothing from null parts (docs/decisions/0076-null-parts.md).
    listed = [
        smallest_sets(part.axis.tree, part.leaves > 0, count, null_parts=published)
        for part in ranges
    ]
    joint = sorted(product(*listed), key=lambda chosen: prod(len(each) for each in chosen))
    chosen = list(islice(joint, k))
    weights = (published_weights if published else best_weights)(chosen)
    fixed = [None if part.decomposes else _levels(part) for part in parts]
    terms = []
    for weight, decompositions in zip(weights, chosen, strict=True):
        remaining = iter(decompositions)
        axes = [
            _spread(part.axis, next(remaining)) if levels is None else levels
            for part, levels in zip(parts, fixed, strict=True)
        ]
        terms.append(AxisProduct(float(weight), tuple(axes)))
    return tuple(terms)


@dataclass(frozen=True, eq=False)
class AxisTarget:
    """The part of a target and a method that concerns one axis."""

    target: Target
    method: Method
    axis: Axis
    alone: bool  # whether it is the only axis of its layers

    @cached_property
    def key(self) -> Any:
        """Return a cache key: equal for axes that get equal coefficients.

        It holds for axes of one factor and one method.
        """
        if self.is_coin:
            return self.axis, self.alone, self.coin_leaves.tobytes()
        if self.measured_by_coin:
            return self.axis, self.alone, self.target.key
        chosen = self.target.sets.get(self.axis.column)
        values = self.target.values(self.axis.column)
        return (
            self.axis,
            self.alone,
            self.measured_by_tree,
            None if chosen is None else chosen.tobytes(),
            None if values is None else values.tobytes(),
        )

    @property
    def is_coin(self) -> bool:
        return bool(self.axis.coins)

    @property
    def measured_by_tree(self) -> bool:
        """Return whether the numbers of the column itself are added."""
        return self.target.measures(self.axis.column) and self.method.measure in TREE_MEASURES

    @property
    def measured_linearly(self) -> bool:
        return self.measured_by_tree and self.method.measure == "lin"

    @property
    def measured_by_coin(self) -> bool:
        return self.axis.column == self.target.measured and self.method.measure == "round"

    @property
    def only_root(self) -> bool:
        return self.asked == [0]

    @property
    def by_blue(self) -> bool:
        return self.method.name == "blue"

    @property
    def mirrored(self) -> bool:
        """Return whether the ends of the range stand in the two halves of a doubled tree."""
        return self.axis.tree.doubled and self.measured_by_coin

    @property
    def decomposes(self) -> bool:
        """Return whether it is a restricted range, which has several decompositions."""
        restricted = not self.chosen.all()
        summed = self.measured_by_tree or self.mirrored
        return restricted and not self.axis.tree.flat and not summed and self.complete

    @property
    def chosen(self) -> Bools:
        """Return the values that meet the conditions."""
        return self.target.sets.get(self.axis.column, np.ones(self.axis.tree.size, bool))

    @cached_property
    def asked(self) -> list[int]:
        """Return the levels that reports are about."""
        return self.target.factor.levels_asked(self.axis)

    @property
    def complete(self) -> bool:
        """Return whether all levels of the tree are asked about, or known."""
        known = {0} if self.target.factor.known else set()
        return known | set(self.asked) == set(range(self.axis.tree.height + 1))

    @property
    def ends(self) -> tuple[float, float]:
        """Return the lowest and the highest number of the measured column."""
        numbers = self.target.numbers
        assert numbers is not None
        return float(numbers[0]), float(numbers[-1])

    @property
    def leaves(self) -> Floats:
        """Return the number of every leaf: the condition, and in a doubled tree the ends of the
        range.
        """
        chosen = self.chosen.astype(float)
        if not self.axis.tree.doubled:
            return _padded(chosen, self.axis.tree.leaves)
        low, high = self.ends if self.measured_by_coin else (1.0, 1.0)
        half = self.axis.tree.leaves // 2
        return np.concatenate([_padded(low * chosen[::-1], half), _padded(high * chosen, half)])

    @property
    def coin_leaves(self) -> Floats:
        """Return the number of every combination of the sides of some coins."""
        ends = [_coin_ends(self, coin) for coin in self.axis.coins]
        return np.asarray(reduce(np.multiply.outer, ends).ravel())

    @property
    def measured_leaves(self) -> Floats:
        """Return the numbers of the values that meet the conditions."""
        values = self.target.values(self.axis.column)
        assert values is not None
        if not self.axis.tree.doubled:
            return _padded(values, self.axis.tree.leaves)
        half = self.axis.tree.leaves // 2
        return np.concatenate([_padded(values[::-1], half), _padded(values, half)])


def _shared_levels(part: AxisTarget, known: KnownAxes) -> Levels:
    if part.key not in known.levels:
        known.levels[part.key] = _levels(part)
    return known.levels[part.key]


def _levels(part: AxisTarget) -> Levels:
    return next(case.make(part) for case in CASES if case.applies(part))


def _coin_levels(part: AxisTarget) -> Levels:
    """Return the numbers of all combinations of some coins, or of their root where the coins do not
    matter.
    """
    leaves = part.coin_leaves
    if WEIGHT in part.axis.coins or (leaves != 1).any() or 0 not in part.axis.levels:
        return (None, leaves)
    return _blue_levels(part, leaves) if part.by_blue else (np.ones(1), None)


def _coin_ends(part: AxisTarget, coin: int) -> Floats:
    """Return what the two sides of a coin stand for."""
    if coin == WEIGHT:
        return np.array([0.0, part.target.weight])
    if part.method.measure == "round" and coin == part.target.measured:
        return np.array(part.ends)
    return np.ones(2)


def _root_levels(part: AxisTarget) -> Levels:
    return (np.ones(1), *([None] * part.axis.tree.height))


def _leaf_levels(part: AxisTarget) -> Levels:
    tree = part.axis.tree
    return (*([None] * tree.height), part.measured_leaves[tree.real(tree.height)])


def _blue_levels(part: AxisTarget, leaves: Floats) -> Levels:
    """Return the coefficients of least variance for a number per leaf."""
    tree = part.axis.tree
    levels = range(tree.height + 1)
    nodes = np.array([len(tree.real(level)) for level in levels])
    asked = [level in part.asked for level in levels]
    variances = np.where(asked, 1 + part.method.signal / nodes, np.inf)
    if part.target.factor.known and part.alone:
        variances[0] = _EXACT
    spread = blue(tree, leaves, variances)
    return tuple(
        spread[level][tree.real(level)] if np.isfinite(variances[level]) else None
        for level in levels
    )


def _mirrored_levels(part: AxisTarget) -> Levels:
    """Return the two halves of a doubled tree apart, each times its end of the range."""
    tree = part.axis.tree
    half = tree.leaves // 2
    total: dict[tuple[int, int], float] = {}
    for index, (end, mask) in enumerate(
        zip(part.ends, (part.chosen[::-1], part.chosen), strict=True)
    ):
        leaves = np.zeros(tree.leaves, bool)
        leaves[index * half : (index + 1) * half] = _padded(mask.astype(float), half) > 0
        for node, coefficient in _decomposition(part, leaves).items():
            total[node] = total.get(node, 0.0) + coefficient * end
    return _spread(part.axis, total)


def _decomposed_levels(part: AxisTarget) -> Levels:
    return _spread(part.axis, _decomposition(part, part.leaves > 0))


def _decomposition(part: AxisTarget, leaves: Bools) -> Decomposition:
    """Return nodes that make up a set of leaves: single leaves where the tree is not complete."""
    tree = part.axis.tree
    if not part.complete:
        return {(tree.height, int(leaf)): 1.0 for leaf in np.flatnonzero(leaves)}
    if part.method.name == "add" and not tree.flat:
        return additive_set(tree, leaves)
    return smallest_sets(tree, leaves)[0]


class Case(NamedTuple):
    """One way to treat an axis, and when it applies."""

    applies: Callable[[AxisTarget], bool]
    make: Callable[[AxisTarget], Levels]


CASES = (
    Case(lambda part: part.is_coin, _coin_levels),
    Case(
        lambda part: part.measured_linearly, lambda part: _blue_levels(part, part.measured_leaves)
    ),
    Case(lambda part: part.measured_by_tree, _leaf_levels),
    Case(lambda part: part.only_root, _root_levels),
    Case(lambda part: part.by_blue, lambda part: _blue_levels(part, part.leaves)),
    Case(lambda part: part.mirrored, _mirrored_levels),
    Case(lambda part: True, _decomposed_levels),
)


def _padded(values: Floats, leaves: int) -> Floats:
    """Return the values with the last one repeated over the padding, which nobody holds."""
    return np.concatenate([values, np.full(leaves - len(values), values[-1])])


def _spread(axis: Axis, decomposition: Decomposition) -> Levels:
    """Return the coefficients of a decomposition level by level, of nodes that hold values."""
    tree = axis.tree
    levels: list[Floats | None] = [None] * (tree.height + 1)
    for (level, node), coefficient in decomposition.items():
        vector = levels[level]
        if vector is None:
            vector = levels[level] = np.zeros(tree.nodes(level))
        vector[node] += coefficient
    return tuple(
        None if vector is None else vector[tree.real(level)] for level, vector in enumerate(levels)
    )


def _inner(left: Levels, right: Levels) -> float:
    """Return the inner product of the coefficients of two terms on one axis."""
    total = 0.0
    for left_level, right_level in zip(left, right, strict=True):
        if left_level is not None and right_level is not None:
            total += float(left_level @ right_level)
    return total
