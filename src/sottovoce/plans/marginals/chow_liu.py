"""Which attributes depend on each other: mutual information, and the Chow-Liu tree.

A tree over all attributes, each with one parent, is the simplest model of a whole record that keeps
the pairs with the most mutual information.  Synthetic records are drawn from it; they contain
nobody's data. Where many pairs depend on each other about as much as their noise, the tree is
little better than any other.  A pair that no view contains counts as independent.

Source: Cormode 2018, section 6.2.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.marginal_table import Model, View
from sottovoce.postprocess.norm_sub import norm_sub


def to_distribution(shares: Floats) -> Floats:
    """Return the nearest table of non-negative shares that sum to 1 (Norm-Sub)."""
    return norm_sub(shares.ravel()).reshape(shares.shape)


def mutual_information(shares: Floats) -> float:
    """Return the mutual information of two attributes in nats; that of noisy tables leans upwards.

    >>> round(mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])), 3)
    0.693
    """
    table = to_distribution(shares)
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    positive = table > 0
    return float((table[positive] * np.log(table[positive] / independent[positive])).sum())


@dataclass(frozen=True, eq=False)
class Tree:
    """A Chow-Liu tree: every attribute after its parent.

    ``parents`` are those of the attributes in ``order``, -1 for the root.  ``information`` is the
    mutual information of each with its parent, and ``tables`` their joint table, parent first.
    """

    order: tuple[int, ...]
    parents: tuple[int, ...]
    information: tuple[float, ...]
    tables: tuple[Floats, ...]

    @property
    def edges(self) -> list[View]:
        """Return the pairs of attributes that the tree joins, in ascending order."""
        pairs = zip(self.order[1:], self.parents[1:], strict=True)
        return sorted(tuple(sorted(pair)) for pair in pairs)

    def records(self, count: int, rng: Rng) -> Ints:
        """Return (count, attributes): records drawn from the tree, attributes given parents."""
        records = np.zeros((count, len(self.order)), np.int64)
        for attribute, parent, table in zip(self.order, self.parents, self.tables, strict=True):
            rows = np.zeros(count, np.int64) if parent < 0 else records[:, parent]
            bounds = np.cumsum(_conditional(table), axis=1)
            uniforms = rng.longs(count) / 2.0**64
            values = (uniforms[:, None] >= bounds[rows]).sum(axis=1)
            records[:, attribute] = np.minimum(values, bounds.shape[1] - 1)
        return records


def chow_liu(model: Model, attributes: int) -> Tree:
    """Return the tree with the most mutual information over all attributes (Prim's algorithm).

    Ties go to the first pair.
    """
    if attributes < 2:
        raise ParameterError("`attributes` of a tree must be at least 2")
    information = pairwise(attributes, lambda pair: mutual_information(model.table(pair).shares))
    order = [0]
    parents = [-1]
    gains = [0.0]
    while len(order) < attributes:
        outside = [attribute for attribute in range(attributes) if attribute not in order]
        pairs = [(parent, child) for parent in order for child in outside]
        parent, child = max(pairs, key=lambda pair: (information[pair], -pair[0], -pair[1]))
        order.append(child)
        parents.append(parent)
        gains.append(information[parent, child])
    tables = [to_distribution(model.table((0,)).shares)[None]]
    for child, parent in zip(order[1:], parents[1:], strict=True):
        tables.append(directed_table(model, parent, child))
    return Tree(tuple(order), tuple(parents), tuple(gains), tuple(tables))


def pairwise(attributes: int, measure: Callable[[View], float]) -> Floats:
    """Return (attributes, attributes): a symmetric measure of every pair, 0 on the diagonal."""
    measures = np.zeros((attributes, attributes))
    for first in range(attributes):
        for second in range(first + 1, attributes):
            measures[first, second] = measures[second, first] = measure((first, second))
    return measures


def directed_table(model: Model, rows: int, columns: int) -> Floats:
    """Return the distribution of two attributes, with the values of the first as rows."""
    table = to_distribution(model.table((min(rows, columns), max(rows, columns))).shares)
    return table if rows < columns else table.T


def _conditional(table: Floats) -> Floats:
    """Return the distribution of every row; for an empty row that of all rows together."""
    totals = table.sum(axis=1, keepdims=True)
    overall = table.sum(axis=0)
    return np.where(totals > 0, table / np.where(totals > 0, totals, 1.0), overall / overall.sum())
