"""Tables of shares over a few attributes, each with the whole covariance of its cells.

A table's axes are the attributes of its view in ascending order, and so are those of its covariance, flattened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.errors import NoDataError, ParameterError

View = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Estimated shares of the cells of a view, unbiased unless whoever made it says otherwise."""

    view: View
    shares: Floats
    covariance: Floats
    steps: tuple[str, ...] = ()  # what was done to it that may have biased it
    raw: "Table | None" = None  # before that, where there is such a table
    even: float = 0.0  # the variance of a cell if all were alike; 0 if it is not known

    @property
    def precision(self) -> float:
        """Return the inverse of the variance of a cell, whatever was reported: weights must not see the data."""
        return 1 / (self.even or float(np.trace(self.covariance)) / self.shares.size)

    def onto(self, view: View) -> "Table":
        """Return the marginal over some of the attributes."""
        if view == self.view:
            return self
        sums = marginal_map(self.shares.shape, self.view, view)
        shape = tuple(size for one, size in zip(self.view, self.shares.shape, strict=True) if one in view)
        shares = (sums @ self.shares.ravel()).reshape(shape)
        return Table(view, shares, sums @ self.covariance @ sums.T, even=self.even * self.shares.size / shares.size)


class Model(Protocol):
    """What is known after a collection: the table of any view of at most so many attributes."""

    @property
    def users(self) -> int: ...

    def table(self, view: View) -> Table:
        """Return the table of a view; its attributes are in ascending order."""


def averaged(tables: Sequence[Table]) -> Table:
    """Return the mean of independent tables of one view, weighted by their precision.

    Groups of the same people are not quite independent: where drawing them is what errs most, the mean errs less than
    stated.
    """
    if not tables:
        raise NoDataError("no report says anything about these attributes together")
    weights = np.array([table.precision for table in tables])
    weights /= weights.sum()
    shares = sum(weight * table.shares for weight, table in zip(weights, tables, strict=True))
    covariance = sum(weight**2 * table.covariance for weight, table in zip(weights, tables, strict=True))
    return Table(tables[0].view, np.asarray(shares), np.asarray(covariance))


def of_estimate(view: View, sizes: Sequence[int], estimate: Estimate) -> Table:
    """Return the table that a group of users reported, the drawing of the group included."""
    noise, users = estimate.noise, estimate.users
    shares = estimate.frequencies
    shape = tuple(sizes[one] for one in view)
    together = noise.covariance(estimate.votes, users) / users**2
    level = np.full(len(shares), 1 / len(shares))
    even = noise.variances(level * users, users) / users**2 + np.diag(drawing(level, users, estimate.population))
    covariance = together + drawing(shares, users, estimate.population)
    return Table(view, shares.reshape(shape), covariance, even=float(even.mean()))


def drawing(shares: Floats, users: int, population: int) -> Floats:
    """Return the covariance of the shares of a group that was drawn from a population at random."""
    possible = np.clip(shares, 0, 1)
    possible /= max(1.0, float(possible.sum()))  # or sums of cells would have a negative variance
    spread = np.diag(possible) - np.outer(possible, possible)
    return np.asarray(spread / users * (population - users) / max(population - 1, 1))


def marginal_map(shape: Sequence[int], view: View, kept: View) -> Floats:
    """Return (kept cells, cells): the matrix that sums the cells of a table to those of a marginal."""
    if not set(kept) <= set(view):
        raise ParameterError("a marginal is over attributes that the table has")
    places = cells_onto(shape, view, kept)
    sums = np.zeros((int(places.max()) + 1, prod(shape)))
    sums[places, np.arange(prod(shape))] = 1.0
    return sums


def cells_onto(shape: Sequence[int], view: View, kept: View) -> Ints:
    """Return which cell of a marginal every cell of a table belongs to."""
    grid = np.indices(tuple(shape)).reshape(len(view), -1)
    places = np.zeros(grid.shape[1], np.int64)
    for axis, one in enumerate(view):
        if one in kept:
            places = places * shape[axis] + grid[axis]
    return places
