"""What a question wants of one factor: coefficients for the cells of all its layers.

A target is a sum of products over axes.  For each column, conditions and a measure give a number for every value; a
method spreads these numbers over the levels of the column's tree, and the coefficient of a cell is the product over
axes.

add     the fewest disjoint nodes               signed  the fewest nodes, some of them taken away
rdc     the k smallest of these, weighed by their sizes, as published
gls     the same with the weights of least variance
blue    all nodes of all levels, the least variance of all

Source: Wang 2021, section 7.3; Xu 2020, sections 3 to 6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import islice, product
from math import prod

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
from sottovoce.plans.tables.layout import WEIGHT, Axis, Factor

PER_COLUMN = {1: 8, 2: 4, 3: 4}  # decompositions of each column that enter the products, by the number of columns
DEFAULT_K = {"rdc": 0, "gls": 8}  # 0: 2 to the number of columns
_EXACT = 1e-12  # the variance of what is known

Levels = tuple[Floats | None, ...]  # by level of the axis's tree, for its nodes that hold values; None: not used


@dataclass(frozen=True, eq=False)
class Term:
    """A product over axes."""

    weight: float
    axes: tuple[Levels, ...]


@dataclass(frozen=True, eq=False)
class Target:
    """The coefficients for every group of a factor's layers; ``known`` is added for every person."""

    groups: tuple[tuple[Term, ...], ...]
    known: float = 0.0


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is asked of one factor: a set of values for each restricted column, and a number for each value of one.

    ``weight`` is what a record of a list that counts stands for.
    """

    factor: Factor
    sets: Mapping[int, Bools]
    measured: int | None = None
    numbers: Floats | None = None  # of the measured column
    weight: float = 1.0


@dataclass(frozen=True)
class Way:
    """How coefficients are made: a method for conditions, one for measures, and the variances of levels."""

    method: str = "blue"
    measure: str = "lin"
    k: int = 0
    signal: float = 0.0  # what holding a node adds to its variance, in units of that of a node nobody holds

    def __str__(self) -> str:
        k = f"({self.k})" if self.method in ("rdc", "gls") and self.k else ""
        return f"{self.method.upper()}{k}" + (" by level" if self.signal else "")


def target(wanted: Wanted, way: Way) -> Target:
    """Return the coefficients for what is wanted."""
    groups = wanted.factor.slots[0].groups
    rounding = way.measure == "round" and wanted.measured is not None
    family = wanted.factor.slots[0].family
    shares = [1 / len(groups)] * len(groups)
    if rounding and family.rounding in ("one", "mirror"):
        shares = [float(column == wanted.measured) for column in family.groups]
    made = tuple(
        _Maker(wanted, way, axes).terms(share) if share else () for axes, share in zip(groups, shares, strict=True)
    )
    return Target(made, _known(made) if wanted.factor.known else 0.0)


def _known(groups: tuple[tuple[Term, ...], ...]) -> float:
    """Return the coefficient of everything, which is not asked: it is true of everybody."""
    total = 0.0
    for term in (term for terms in groups for term in terms):
        roots = [levels[0] for levels in term.axes if levels[0] is not None]
        total += term.weight * prod(float(one[0]) for one in roots) if len(roots) == len(term.axes) else 0.0
    return total


@dataclass(frozen=True, eq=False)
class _Maker:
    """The terms for one group of layers."""

    wanted: Wanted
    way: Way
    axes: tuple[Axis, ...]

    def terms(self, share: float) -> tuple[Term, ...]:
        """Return the terms, times the group's share."""
        if self.way.method in ("rdc", "gls") and len(self._ranges) > 0:
            return tuple(Term(share * weight, axes) for weight, axes in self._weighed())
        return (Term(share, tuple(self._levels(axis) for axis in self.axes)),)

    @cached_property
    def _ranges(self) -> list[int]:
        """Return the axes of ordered columns with a condition, which have several decompositions."""
        return [
            at
            for at, axis in enumerate(self.axes)
            if not axis.tree.flat and self._restricts(axis) and not self._sums(axis) and self._whole(axis)
        ]

    def _sums(self, axis: Axis) -> bool:
        """Return whether an axis itself carries what is added up: its numbers, or in a doubled tree the ends."""
        return self._measures(axis) or (axis.tree.doubled and self._rounded(axis))

    def _restricts(self, axis: Axis) -> bool:
        held = self.wanted.sets.get(axis.column)
        return held is not None and not held.all()

    def _whole(self, axis: Axis) -> bool:
        """Return whether all levels of a tree are asked about, or known."""
        known = {0} if self.wanted.factor.known else set()
        return known | set(_asked(self.wanted.factor, axis)) == set(range(axis.tree.height + 1))

    def _measures(self, axis: Axis) -> bool:
        return axis.column == self.wanted.measured and self.way.measure in ("lin", "enum")

    def _levels(self, axis: Axis) -> Levels:
        if axis.coins:
            return self._coins(axis)
        if self._measures(axis):
            return self._measured(axis)
        if _asked(self.wanted.factor, axis) == [0]:
            return (np.ones(1), *([None] * axis.tree.height))
        values = self._values(axis)
        if self.way.method == "blue":
            return self._blue(axis, values)
        if axis.tree.doubled and self._rounded(axis):
            return self._mirrored(axis, values)
        return _spread(axis, self._decomposition(axis, values > 0))

    def _values(self, axis: Axis) -> Floats:
        """Return what is wanted of every leaf: the condition, and in a doubled tree the ends of the range."""
        tree, numbers = axis.tree, self.wanted.numbers
        held = self.wanted.sets.get(axis.column)
        mask = np.ones(tree.size) if held is None else held.astype(float)
        if not tree.doubled:
            return _padded(mask, tree.leaves)
        low, high = (numbers[0], numbers[-1]) if self._rounded(axis) and numbers is not None else (1.0, 1.0)
        half = tree.leaves // 2
        return np.concatenate([_padded(low * mask[::-1], half), _padded(high * mask, half)])

    def _rounded(self, axis: Axis) -> bool:
        return self.way.measure == "round" and axis.column == self.wanted.measured

    def _measured(self, axis: Axis) -> Levels:
        numbers = self.wanted.numbers
        assert numbers is not None
        held = self.wanted.sets.get(axis.column)
        values = _padded(numbers if held is None else numbers * held, axis.tree.leaves)
        if self.way.measure == "lin":
            return self._blue(axis, values)
        return _at_leaves(axis, values)

    def _coins(self, axis: Axis) -> Levels:
        ends = [self._ends(coin) for coin in axis.coins]
        leaves = reduce(np.multiply.outer, ends).ravel()
        if WEIGHT in axis.coins or (leaves != 1).any() or 0 not in axis.levels:
            return (None, leaves)
        return self._blue(axis, leaves) if self.way.method == "blue" else (np.ones(1), None)

    def _ends(self, coin: int) -> Floats:
        if coin == WEIGHT:
            return np.array([0.0, self.wanted.weight])
        rounded = self.way.measure == "round" and coin == self.wanted.measured
        numbers = self.wanted.numbers
        return np.array([numbers[0], numbers[-1]]) if rounded and numbers is not None else np.ones(2)

    def _blue(self, axis: Axis, values: Floats) -> Levels:
        tree = axis.tree
        asked = set(_asked(self.wanted.factor, axis))
        nodes = np.array([len(tree.real(level)) for level in range(tree.height + 1)])
        variances = np.where([level in asked for level in range(tree.height + 1)], 1 + self.way.signal / nodes, np.inf)
        if self.wanted.factor.known and len(self.axes) == 1:
            variances[0] = _EXACT
        found = blue(tree, values, variances)
        return tuple(
            one[tree.real(level)] if np.isfinite(variances[level]) else None for level, one in enumerate(found)
        )

    def _decomposition(self, axis: Axis, wanted: Bools) -> Decomposition:
        if not self._whole(axis):
            return {(axis.tree.height, int(leaf)): 1.0 for leaf in np.flatnonzero(wanted)}
        if self.way.method == "add" and not axis.tree.flat:
            return additive_set(axis.tree, wanted)
        return smallest_sets(axis.tree, wanted)[0]

    def _mirrored(self, axis: Axis, values: Floats) -> Levels:
        """Return the two halves of a doubled tree apart, each with its end of the range."""
        half, numbers = axis.tree.leaves // 2, self.wanted.numbers
        assert numbers is not None
        total: dict[tuple[int, int], float] = {}
        held = self.wanted.sets.get(axis.column, np.ones(axis.tree.size, bool))
        for at, (end, mask) in enumerate(((numbers[0], held[::-1]), (numbers[-1], held))):
            wanted = np.zeros(axis.tree.leaves, bool)
            wanted[at * half : (at + 1) * half] = _padded(mask.astype(float), half) > 0
            for node, one in self._decomposition(axis, wanted).items():
                total[node] = total.get(node, 0.0) + one * end
        return _spread(axis, total)

    def _weighed(self) -> list[tuple[float, tuple[Levels, ...]]]:
        """Return the k smallest products of one decomposition per column, with weights that sum to 1."""
        k = self.way.k or DEFAULT_K[self.way.method] or 1 << len(self._ranges)
        each = PER_COLUMN.get(len(self._ranges), 3) if k > 1 else 1
        listed = [
            smallest_sets(
                self.axes[at].tree, self._values(self.axes[at]) > 0, max(each, k if len(self._ranges) == 1 else 0)
            )
            for at in self._ranges
        ]
        joint = sorted(product(*listed), key=lambda one: prod(len(part) for part in one))
        chosen = list(islice(joint, k))
        weights = (published_weights if self.way.method == "rdc" else best_weights)(chosen)
        plain = [self._levels(axis) if at not in self._ranges else () for at, axis in enumerate(self.axes)]
        return [(weight, self._filled(plain, one)) for weight, one in zip(weights, chosen, strict=True)]

    def _filled(self, plain: Sequence[Levels], chosen: Sequence[Decomposition]) -> tuple[Levels, ...]:
        axes = list(plain)
        for at, one in zip(self._ranges, chosen, strict=True):
            axes[at] = _spread(self.axes[at], one)
        return tuple(axes)


def _asked(factor: Factor, axis: Axis) -> list[int]:
    """Return the levels of an axis that any slot of the factor asks for."""
    same = [
        level
        for slot in factor.slots
        for axes in slot.groups
        for one in axes
        if (one.column, one.coins, one.tree) == (axis.column, axis.coins, axis.tree)
        for level in one.levels
    ]
    return sorted(set(same))


def _padded(values: Floats, leaves: int) -> Floats:
    """Return the values with the last one over the padding, which nobody holds."""
    return np.concatenate([values, np.full(leaves - len(values), values[-1])])


def _at_leaves(axis: Axis, values: Floats) -> Levels:
    height = axis.tree.height
    return (*([None] * height), values[axis.tree.real(height)])


def _spread(axis: Axis, decomposition: Decomposition) -> Levels:
    """Return the coefficients of a decomposition level by level, of nodes that hold values."""
    tree = axis.tree
    levels: list[Floats | None] = [None] * (tree.height + 1)
    for (level, node), coefficient in decomposition.items():
        if levels[level] is None:
            levels[level] = np.zeros(tree.nodes(level))
        levels[level][node] += coefficient  # type: ignore[index]
    return tuple(None if one is None else one[tree.real(level)] for level, one in enumerate(levels))


def check(wanted: Wanted, way: Way) -> None:
    """Refuse a way of measuring that the collection has no reports for."""
    if wanted.measured is None or way.measure in ("lin", "enum"):
        return
    family = wanted.factor.slots[0].family
    if family.rounding == "none" or wanted.measured not in family.groups:
        raise ParameterError(
            "MEASURE = ROUND needs a collection that rounds this column: ahio, ehio, sr_hio or sc_join"
        )
