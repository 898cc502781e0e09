"""Which attributes hang together: mutual information, the Chow-Liu tree, and invented records drawn from it.

A tree over all attributes, each with one parent, is the simplest model of a whole record that respects the pairs that
matter most.  Records drawn from it hold nobody's data.  Where many pairs hang together about as much as their noise,
the tree is little better than any other; a pair that no view of CALM holds counts as independent.

Source: Cormode 2018, section 6.2.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.tables import Model, View
from sottovoce.postprocess.norm_sub import norm_sub


def possible(shares: Floats) -> Floats:
    """Return the nearest table of non-negative shares that sum to 1 (Norm-Sub)."""
    return norm_sub(shares.ravel()).reshape(shares.shape)


def mutual_information(shares: Floats) -> float:
    """Return the mutual information of two attributes in nats; of noisy tables it leans upwards.

    >>> round(mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])), 3)
    0.693
    """
    table = possible(shares)
    apart = np.outer(table.sum(axis=1), table.sum(axis=0))
    held = table > 0
    return float((table[held] * np.log(table[held] / apart[held])).sum())


@dataclass(frozen=True, eq=False)
class Tree:
    """Every attribute after its parent, -1 for the root, and the table of both, parent first."""

    order: tuple[int, ...]
    parents: tuple[int, ...]
    information: tuple[float, ...]
    tables: tuple[Floats, ...]

    @property
    def edges(self) -> list[View]:
        """Return the pairs of attributes that the tree joins, in ascending order."""
        return sorted(tuple(sorted(pair)) for pair in zip(self.order[1:], self.parents[1:], strict=True))

    def records(self, count: int, rng: Rng) -> Ints:
        """Return (count, attributes): records drawn from the tree, each attribute given its parent."""
        made = np.zeros((count, len(self.order)), np.int64)
        for one, parent, table in zip(self.order, self.parents, self.tables, strict=True):
            rows = np.zeros(count, np.int64) if parent < 0 else made[:, parent]
            bounds = np.cumsum(_conditional(table), axis=1)
            drawn = rng.longs(count) / 2.0**64
            made[:, one] = np.minimum((drawn[:, None] >= bounds[rows]).sum(axis=1), bounds.shape[1] - 1)
        return made


def chow_liu(model: Model, attributes: int) -> Tree:
    """Return the tree of most mutual information over all attributes (Prim); ties go to the first pair."""
    if attributes < 2:
        raise ParameterError("a tree needs at least two attributes")
    information = pairwise(attributes, lambda pair: mutual_information(model.table(pair).shares))
    order, parents, gains = [0], [-1], [0.0]
    while len(order) < attributes:
        outside = [one for one in range(attributes) if one not in order]
        best = max((information[inside, one], -inside, -one) for inside in order for one in outside)
        order.append(-best[2])
        parents.append(-best[1])
        gains.append(best[0])
    tables = [possible(model.table((0,)).shares)[None]]
    tables += [_directed(model, parent, one) for one, parent in zip(order[1:], parents[1:], strict=True)]
    return Tree(tuple(order), tuple(parents), tuple(gains), tuple(tables))


def pairwise(attributes: int, measure: Callable[[View], float]) -> Floats:
    """Return (attributes, attributes): a symmetric measure of every pair, 0 on the diagonal."""
    table = np.zeros((attributes, attributes))
    for one in range(attributes):
        for other in range(one + 1, attributes):
            table[one, other] = table[other, one] = measure((one, other))
    return table


def _directed(model: Model, parent: int, child: int) -> Floats:
    table = possible(model.table((min(parent, child), max(parent, child))).shares)
    return table if parent < child else table.T


def _conditional(table: Floats) -> Floats:
    """Return the shares of every row; of an empty one those of all rows together."""
    totals, overall = table.sum(axis=1, keepdims=True), table.sum(axis=0)
    return np.where(totals > 0, table / np.where(totals > 0, totals, 1.0), overall / overall.sum())
