"""BLUE over layers with any chances: the combination of least variance of the cells of all layers.

On every axis a target is split into parts: what each level of the tree adds to the level above.  A
part of the whole target is named by one part of each axis.  A layer sees a part if it is at least
as fine on every axis.  With

    precision_k = chance of layer k / variance of the vote for one of its cells
    width_k     = how many values a cell of layer k covers
    lambda_l    = sum over the layers k that see part l of precision_k * width_k

the coefficients of a layer are

    precision_k * width_k * sum over the parts l that it sees of part_l / lambda_l

Where the precisions are a product over axes, as for even chances, this is the product of one BLUE
per axis (``blue``).  The part that is the same for everybody is known and is not estimated.

Source: Xu 2020, section 6.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.maths.interval_tree import Hierarchy

Levels = tuple[
    Floats | None, ...
]  # by level of an axis's tree, for its nodes that hold values; None: not used


@dataclass(frozen=True, eq=False)
class AxisParts:
    """The parts of a target on one axis.

    ``parts`` holds each part times the width of a node, on all levels that see it.  ``widths``
    holds the width of every level that layers ask about, and ``levels`` which these are.  Sums of
    the parts are kept: targets that share an axis share them too.
    """

    parts: tuple[Levels, ...]
    widths: Floats
    levels: tuple[int, ...]
    _sums: dict[bytes, Levels] = field(default_factory=dict)

    @property
    def seen(self) -> Floats:
        """Return (parts, levels): the width of a level that sees a part, and 0 for another."""
        rows = [[part[level] is not None for level in self.levels] for part in self.parts]
        return np.array(rows) * self.widths

    @property
    def root(self) -> float | None:
        """Return the mean of the target, which every level sees; None if it is not a part."""
        vector = self.parts[0][0]
        return None if vector is None else float(vector[0] / self.widths[0])

    def combined(self, weights: Floats) -> Levels:
        """Return a weighted sum of the parts."""
        key = weights.tobytes()
        if key not in self._sums:
            self._sums[key] = self._summed(weights)
        return self._sums[key]

    def _summed(self, weights: Floats) -> Levels:
        levels: list[Floats | None] = [None] * len(self.parts[0])
        for weight, part in zip(weights, self.parts, strict=True):
            for level, vector in enumerate(part):
                if vector is not None and weight:
                    before = levels[level]
                    levels[level] = weight * vector + (0.0 if before is None else before)
        return tuple(levels)


def tree_parts(tree: Hierarchy, levels: tuple[int, ...], target: Floats) -> AxisParts:
    """Return the parts of a number per leaf of a tree; those that are 0 are left out."""
    parts = []
    for level, added in added_by_level(tree, target):
        finer = [_spread(tree, added, level, below) for below in range(level, tree.height + 1)]
        parts.append((*[None] * level, *finer))
    return AxisParts(tuple(parts), np.array([tree.width(level) for level in levels], float), levels)


def single_part(axis: Levels, levels: tuple[int, ...]) -> AxisParts:
    """Return an axis whose coefficients are given, such as the sides of a coin."""
    return AxisParts((axis,), np.ones(len(levels)), levels)


def added_by_level(tree: Hierarchy, target: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield what each level adds to the means of the level above, by node; the root always."""
    above = np.zeros(1)
    for level in range(tree.height + 1):
        means = target.reshape(-1, tree.width(level)).mean(axis=1)
        if level:
            above = np.repeat(above, tree.children(level - 1))
        added = means - above
        if level == 0 or np.abs(added).max() > 1e-12 * np.abs(target).max():
            yield level, added
        above = means


def layered_blue(
    axes: Sequence[AxisParts], precisions: Floats, *, root_known: bool
) -> Iterator[tuple[Levels, ...]]:
    """Yield products over axes; their sum, times the precision of a layer, has least variance.

    ``precisions`` has one entry for every layer, the last axis changing fastest.
    """
    lambdas = seen_precisions(axes, precisions)
    inverse = np.divide(1.0, lambdas, out=np.zeros_like(lambdas), where=lambdas > 0)
    if root_known and known_root(axes) is not None:
        inverse[(0,) * len(axes)] = 0.0
    # The parts of the longest axis are added up, so that one column needs one product.
    longest = max(range(len(axes)), key=lambda axis: len(axes[axis].parts))
    inverse = np.moveaxis(inverse, longest, -1)
    others = [axis for index, axis in enumerate(axes) if index != longest]
    for chosen in product(*[range(len(axis.parts)) for axis in others]):
        weights = inverse[chosen]
        if weights.any():
            vectors = [axis.parts[part] for axis, part in zip(others, chosen, strict=True)]
            vectors.insert(longest, axes[longest].combined(weights))
            yield tuple(vectors)


def seen_precisions(axes: Sequence[AxisParts], precisions: Floats) -> Floats:
    """Return lambda for every part, an axis of the array for every axis."""
    lambdas = precisions.reshape([len(axis.levels) for axis in axes])
    for axis in axes:  # the first axis is replaced and moved to the end
        lambdas = np.tensordot(lambdas, axis.seen, axes=([0], [1]))
    return np.asarray(lambdas)


def known_root(axes: Sequence[AxisParts]) -> float | None:
    """Return the part of a target that is the same for everybody; None if it has none."""
    roots = [axis.root for axis in axes]
    known = [root for root in roots if root is not None]
    return prod(known) if len(known) == len(roots) else None


def _spread(tree: Hierarchy, added: Floats, level: int, below: int) -> Floats:
    """Return a number per node of a level on a finer one, times the width of a finer node."""
    each = tree.width(level) // tree.width(below)
    return np.asarray(tree.width(below) * np.repeat(added, each)[tree.real(below)])
