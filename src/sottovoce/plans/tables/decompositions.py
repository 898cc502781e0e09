"""A range as nodes of a tree: added up, or added and taken away, or several of these weighed
against each other.

A decomposition maps (level, node) to a coefficient; over any value the coefficients of the nodes
that contain it sum to the target.  Fewer nodes are fewer noisy terms, and decompositions that share
little average out.

Source: Wang 2021, section 7.3; Xu 2020, section 6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import product
from math import prod
from operator import attrgetter
from typing import NamedTuple

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
    nodes: dict[Node, float] = {}
    above = np.zeros(1, bool)  # whether a node lies in one that was taken
    for level in range(tree.height + 1):
        if level:
            above = np.repeat(above, tree.children(level - 1))
        whole = wanted.reshape(-1, tree.width(level)).all(axis=1)
        # Nobody holds the padding: it is not taken.
        taken = np.intersect1d(np.flatnonzero(whole & ~above), tree.real(level))
        nodes |= {(level, int(node)): 1.0 for node in taken}
        above = above | whole
    return nodes


def smallest(tree: Hierarchy, low: int, high: int, count: int = 1) -> list[dict[Node, float]]:
    """Return ``count`` decompositions by coefficients 1 and -1, those with the fewest nodes first.

    >>> [len(nodes) for nodes in smallest(Hierarchy(25, 5), 10, 24, 2)]
    [3, 3]
    """
    return smallest_sets(tree, _range(tree, low, high), count)


def smallest_sets(
    tree: Hierarchy, chosen: Bools, count: int = 1, *, null_parts: bool = True
) -> list[dict[Node, float]]:
    """Return ``count`` such decompositions of a set of leaves.

    ``null_parts`` admits parts that add up to nothing, such as a node less all of its children:
    without them some of the smallest are missing.
    """
    real = np.zeros(tree.leaves, bool)
    real[tree.real(tree.height)] = True
    search = _Search(tree, _sums_before(real), _sums_before(real & chosen), count, null_parts)
    return [dict(option.nodes) for option in search.best(0, 0, 0)]


def _sums_before(marked: Bools) -> Ints:
    """Return how many leaves before each, and before the end, are marked."""
    return np.concatenate([[0], np.cumsum(marked)])


class _Option(NamedTuple):
    """A decomposition under construction: how many nodes it has, and their coefficients."""

    cost: int = 0
    nodes: tuple[tuple[Node, float], ...] = ()

    def plus(self, other: "_Option") -> "_Option":
        """Return both together."""
        return _Option(self.cost + other.cost, self.nodes + other.nodes)


_NOTHING = _Option()


@dataclass(frozen=True, eq=False)
class _Search:
    """Dynamic programming over the tree: the cheapest ways to reach the target below a node.

    The coefficients of a node and its ancestors sum to 0 or 1, and over a leaf to its target.
    """

    tree: Hierarchy
    real_before: Ints  # how many leaves before each hold a value; the others are padding
    chosen_before: Ints  # how many of them are chosen
    count: int
    null_parts: bool

    def best(self, level: int, node: int, above: int) -> list[_Option]:
        """Return the cheapest decompositions within a node, whose ancestors sum to ``above``."""
        real = self._leaves(self.real_before, level, node)
        chosen = self._leaves(self.chosen_before, level, node)
        if not real:  # nobody holds the padding
            return [_NOTHING]
        if chosen not in (0, real):
            return self._of_node(level, node, above)
        target = int(chosen > 0)
        needs_nothing = target == above
        if needs_nothing and (self.count == 1 or not self.null_parts):
            return [_NOTHING]
        # Nodes of a level with as many leaves of one target differ only in where they stand.
        key = (level, real, target, above)
        if key not in self._alike:
            self._alike[key] = (node, self._of_node(level, node, above))
        first, options = self._alike[key]
        return [self._moved(option, level, node - first) for option in options]

    @cached_property
    def _alike(self) -> dict[tuple[int, int, int, int], tuple[int, list[_Option]]]:
        return {}

    def _moved(self, option: _Option, level: int, steps: int) -> _Option:
        """Return a decomposition within the node that stands so many nodes further right."""
        if not steps:
            return option
        step = steps * self.tree.width(level)
        moved = [
            ((below, node + step // self.tree.width(below)), coefficient)
            for (below, node), coefficient in option.nodes
        ]
        return _Option(option.cost, tuple(moved))

    def _leaves(self, before: Ints, level: int, node: int) -> int:
        width = self.tree.width(level)
        return int(before[(node + 1) * width] - before[node * width])

    def _of_node(self, level: int, node: int, above: int) -> list[_Option]:
        options = self._below(level, node, above)
        coefficient = 1 if above == 0 else -1
        own = _Option(1, (((level, node), float(coefficient)),))
        options += [own.plus(rest) for rest in self._below(level, node, above + coefficient)]
        return nsmallest(self.count, options, key=attrgetter("cost"))

    def _below(self, level: int, node: int, above: int) -> list[_Option]:
        """Return the cheapest decompositions by descendants of a node."""
        if level == self.tree.height:
            target = self._leaves(self.chosen_before, level, node)
            return [_NOTHING] if above == target else []
        step = self.tree.children(level)
        merged = [_NOTHING]
        for child in range(node * step, (node + 1) * step):
            below = self.best(level + 1, child, above)
            if below == [_NOTHING]:
                continue  # padding, and what needs no node
            merged = self._cheapest_pairs(merged, below)
        return merged

    def _cheapest_pairs(self, left: list[_Option], right: list[_Option]) -> list[_Option]:
        pairs = nsmallest(
            self.count, product(left, right), key=lambda pair: pair[0].cost + pair[1].cost
        )
        return [one.plus(other) for one, other in pairs]


def published_weights(joint: Sequence[Sequence[Decomposition]]) -> Floats:
    """Return weights by the number of nodes of each product, as if none shared any node (RDC).

    A product has one decomposition per column.

    >>> published_weights([[{(0, 0): 1.0}], [{(1, 0): 1.0, (1, 1): 1.0}]]).round(3).tolist()
    [0.667, 0.333]
    """
    nodes = [prod(len(part) for part in parts) for parts in joint]
    inverse = 1 / np.array(nodes, float)
    return np.asarray(inverse / inverse.sum())


def best_weights(joint: Sequence[Sequence[Decomposition]]) -> Floats:
    """Return the weights of least variance, shared nodes included (generalised least squares)."""
    shared = np.array([[_inner(left, right) for right in joint] for left in joint])
    solved = np.linalg.lstsq(shared, np.ones(len(shared)), rcond=None)[0]
    return np.asarray(solved / solved.sum())


def over_values(tree: Hierarchy, decomposition: Decomposition) -> Floats:
    """Return the sum of the coefficients over every value, padding included: the target."""
    total = np.zeros(tree.leaves)
    for (level, node), coefficient in decomposition.items():
        width = tree.width(level)
        total[node * width : (node + 1) * width] += coefficient
    return total


def _inner(left: Sequence[Decomposition], right: Sequence[Decomposition]) -> float:
    """Return the inner product of two products of decompositions."""
    product_of_sums = 1.0
    for left_part, right_part in zip(left, right, strict=True):
        product_of_sums *= sum(
            coefficient * right_part.get(node, 0.0) for node, coefficient in left_part.items()
        )
    return product_of_sums


def _range(tree: Hierarchy, low: int, high: int) -> Bools:
    if not 0 <= low <= high < tree.size:
        raise ParameterError(
            "`low` and `high` must be values of the tree, with `low` not above `high`"
        )
    leaves = np.arange(tree.leaves)
    return (leaves >= low) & ((leaves <= high) | (high == tree.size - 1))
