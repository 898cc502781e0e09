"""A range as nodes of a tree: added up, or added and taken away, or several of these weighed
against each other.

A decomposition maps (level, node) to a coefficient; over any value the coefficients of the nodes
that contain it sum to the target.  Fewer nodes are fewer noisy terms, and decompositions that share
little average out.

Source: Wang 2021, section 7.3; Xu 2020, section 6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import product
from math import prod

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.errors import ParameterError
from sottovoce.maths.interval_tree import Hierarchy

Node = tuple[int, int]
Decomposition = Mapping[Node, float]


def additive(tree: Hierarchy, low: int, high: int) -> dict[Node, float]:
    """Return the fewest disjoint nodes that make up a range, both ends included.

    A range to the last value is extended over the padding, which nobody holds.

    >>> sorted(additive(Hierarchy(8, 2), 1, 6))
    [(2, 1), (2, 2), (3, 1), (3, 6)]
    """
    return additive_set(tree, _range(tree, low, high))


def additive_set(tree: Hierarchy, wanted: Bools) -> dict[Node, float]:
    """Return the fewest disjoint nodes that make up a set of leaves."""
    found: dict[Node, float] = {}
    above = np.zeros(1, bool)  # whether a node lies in one that was taken
    for level in range(tree.height + 1):
        if level:
            above = np.repeat(above, tree.children(level - 1))
        whole = wanted.reshape(-1, tree.width(level)).all(axis=1)
        taken = np.intersect1d(
            np.flatnonzero(whole & ~above), tree.real(level)
        )  # nobody holds the padding
        found |= {(level, int(node)): 1.0 for node in taken}
        above = above | whole
    return found


def smallest(tree: Hierarchy, low: int, high: int, count: int = 1) -> list[dict[Node, float]]:
    """Return so many decompositions with coefficients 1 and -1 and the fewest nodes, the smallest
    first.

    >>> [len(one) for one in smallest(Hierarchy(25, 5), 10, 24, 2)]
    [3, 3]
    """
    return smallest_sets(tree, _range(tree, low, high), count)


def smallest_sets(tree: Hierarchy, wanted: Bools, count: int = 1) -> list[dict[Node, float]]:
    """Return so many such decompositions of a set of leaves."""
    search = _Search(tree, np.concatenate([[0], np.cumsum(wanted)]), count)
    return [dict(nodes) for _, nodes in search.best(0, 0, 0)][:count]


@dataclass(frozen=True, eq=False)
class _Search:
    """Dynamic programming over the tree: the best ways to write what is left of the target below a
    node.
    """

    tree: Hierarchy
    before: Ints  # how many leaves in front of each are wanted
    count: int

    def best(
        self, level: int, node: int, above: int
    ) -> list[tuple[int, tuple[tuple[Node, float], ...]]]:
        """Return the cheapest decompositions within a node, given the sum of the coefficients above
        it.
        """
        width = self.tree.width(level)
        inside = self.before[(node + 1) * width] - self.before[node * width]
        if (
            (inside == width and above == 1)
            or (inside == 0 and above == 0)
            or not self._held(level, node)
        ):
            return [(0, ())]
        options = []
        for coefficient in (0, 1 if above == 0 else -1):
            own: tuple[tuple[Node, float], ...] = (
                (((level, node), float(coefficient)),) if coefficient else ()
            )
            options += [
                (abs(coefficient) + cost, own + rest)
                for cost, rest in self._below(level, node, above + coefficient)
            ]
        return nsmallest(self.count, options, key=lambda option: option[0])

    def _held(self, level: int, node: int) -> bool:
        """Return whether a node is more than padding."""
        return node in self.tree.real(level)

    def _below(
        self, level: int, node: int, above: int
    ) -> list[tuple[int, tuple[tuple[Node, float], ...]]]:
        if level == self.tree.height:
            wanted = self.before[node + 1] - self.before[node]
            return [(0, ())] if above == wanted else []
        step = self.tree.children(level)
        merged: list[tuple[int, tuple[tuple[Node, float], ...]]] = [(0, ())]
        for child in range(node * step, (node + 1) * step):
            below = self.best(level + 1, child, above)
            joined = [
                (one[0] + other[0], one[1] + other[1]) for one, other in product(merged, below)
            ]
            merged = nsmallest(self.count, joined, key=lambda option: option[0])
        return merged


def published_weights(joint: Sequence[Sequence[Decomposition]]) -> Floats:
    """Return weights by the number of nodes of each product, one decomposition per column, as if
    none shared any (RDC).

    >>> published_weights([[{(0, 0): 1.0}], [{(1, 0): 1.0, (1, 1): 1.0}]]).round(3).tolist()
    [0.667, 0.333]
    """
    inverse = np.array([1 / prod(len(part) for part in one) for one in joint])
    return np.asarray(inverse / inverse.sum())


def best_weights(joint: Sequence[Sequence[Decomposition]]) -> Floats:
    """Return the weights of least variance, shared nodes taken into account (generalised least
    squares).
    """
    shared = np.array([[_shared(one, other) for other in joint] for one in joint])
    solved = np.linalg.lstsq(shared, np.ones(len(shared)), rcond=None)[0]
    return np.asarray(solved / solved.sum())


def over_values(tree: Hierarchy, decomposition: Decomposition) -> Floats:
    """Return what a decomposition says about every value, padding included: the target, if it is
    right.
    """
    found = np.zeros(tree.leaves)
    for (level, node), coefficient in decomposition.items():
        width = tree.width(level)
        found[node * width : (node + 1) * width] += coefficient
    return found


def _shared(one: Sequence[Decomposition], other: Sequence[Decomposition]) -> float:
    """Return the inner product of two products of decompositions."""
    columns = zip(one, other, strict=True)
    return prod(
        sum(value * right.get(node, 0.0) for node, value in left.items()) for left, right in columns
    )


def _range(tree: Hierarchy, low: int, high: int) -> Bools:
    if not 0 <= low <= high < tree.size:
        raise ParameterError(
            "a range lies within the values, and its low end is not above its high end"
        )
    leaves = np.arange(tree.leaves)
    return (leaves >= low) & ((leaves <= high) | (high == tree.size - 1))
