"""Marginal tables: the shares of all cells of a few attributes, with the covariance of the cells.

A view is a set of attributes, given by their numbers in ascending order.  The last axes of a table
are the attributes of its view in the same order; axes before those are collections of the same
view.  A covariance has one row and one column for every cell of the flattened table.

There is one way to marginalise: ``project`` sums over the attributes that are not kept, and
``expand`` gives a marginal the axes that it lacks, so that it can be combined with the table again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.core.influence import GroupInfluence, InfluenceLaw, MeanInfluence
from sottovoce.errors import NoDataError, ParameterError

View = tuple[int, ...]


def project(table: Floats, view: View, kept: View) -> Floats:
    """Return the marginal of a table over the attributes that are kept.

    >>> project(np.array([[0.1, 0.2], [0.3, 0.4]]), (2, 5), (5,)).tolist()
    [0.4, 0.6000000000000001]
    """
    return np.asarray(table.sum(axis=_axes_left_out(view, kept)))


def expand(marginal: Floats, kept: View, view: View) -> Floats:
    """Return a marginal with an axis of length 1 for every attribute of ``view`` that it lacks.

    >>> expand(np.array([0.4, 0.6]), (5,), (2, 5)).shape
    (1, 2)
    """
    return np.expand_dims(marginal, _axes_left_out(view, kept))


def _axes_left_out(view: View, kept: View) -> tuple[int, ...]:
    """Return the axes of the attributes that are not kept, counted from the last."""
    return tuple(axis - len(view) for axis, attribute in enumerate(view) if attribute not in kept)


def shape_of(sizes: Sequence[int], view: View) -> tuple[int, ...]:
    """Return the shape of the table of a view; ``sizes`` are those of all attributes."""
    return tuple(sizes[attribute] for attribute in view)


@dataclass(frozen=True, eq=False)
class MarginalTable:
    """The estimated shares of the cells of a view.

    - ``steps`` names the steps that may have biased the shares; without steps they are unbiased.
    - ``raw`` is the table before these steps, if there is one.
    - ``uniform_variance`` is the variance of a cell if all cells are equally frequent; 0 if it is
      not known.
    - ``centred_variance`` is the mean variance of contrasts of cells whose squared
      coefficients sum to 1.
    - ``guessed`` means that no report contains all these attributes, so that dependence among all
      of them was not measured.
    - ``law`` is the largest influence of one report on the counts behind the shares; None if it is
      not known.
    """

    view: View
    shares: Floats
    covariance: Floats
    steps: tuple[str, ...] = ()
    raw: "MarginalTable | None" = None
    uniform_variance: float = 0.0
    law: InfluenceLaw | None = None
    centred_variance: float = 0.0
    guessed: bool = False

    @property
    def precision(self) -> float:
        """Return the inverse of the variance of a cell.

        It is the same whatever was reported, because weights that look at the data are biased.
        """
        mean_variance = float(np.trace(self.covariance)) / self.shares.size
        return 1 / (self.uniform_variance or mean_variance)

    def project(self, view: View) -> "MarginalTable":
        """Return the marginal over some of the attributes, with its covariance."""
        if view == self.view:
            return self
        if not set(view) <= set(self.view):
            raise ParameterError("a table can be projected only onto attributes that it has")
        shares = project(self.shares, self.view, view)
        shape = self.shares.shape
        rows = self.covariance.reshape(-1, *shape)
        half = project(rows, self.view, view).reshape(-1, shares.size)
        columns = half.T.reshape(-1, *shape)
        covariance = project(columns, self.view, view).reshape(shares.size, shares.size)
        cells_per_sum = self.shares.size / shares.size
        uniform_variance = self.uniform_variance * cells_per_sum
        law = None
        if self.law is not None:
            cells = np.arange(shares.size, dtype=np.float64).reshape(shares.shape)
            cell_of = np.broadcast_to(expand(cells, view, self.view), shape)
            law = GroupInfluence(self.law, cell_of.ravel().astype(np.int64))
        table = MarginalTable(view, shares, covariance, uniform_variance=uniform_variance)
        return replace(table, law=law)


class Model(Protocol):
    """The tables known after a collection: those of any view, or of views up to some order."""

    @property
    def users(self) -> int: ...

    def table(self, view: View) -> MarginalTable:
        """Return the table of a view."""

    def unbiased(self, view: View) -> MarginalTable:
        """Return the table that tests read: unbiased, or as near to it as the method gets."""


def weighted_mean(tables: Sequence[MarginalTable]) -> MarginalTable:
    """Return the mean of independent tables of one view, weighted by their precision.

    Groups that were drawn from the same people are not quite independent.  Where the drawing is the
    largest error, the mean errs less than stated.
    """
    if not tables:
        raise NoDataError("no report contains these attributes together")
    weights = np.array([table.precision for table in tables])
    weights /= weights.sum()
    weighted = list(zip(weights, tables, strict=True))
    shares = sum(weight * table.shares for weight, table in weighted)
    covariance = sum(weight**2 * table.covariance for weight, table in weighted)
    laws = tuple(table.law for table in tables if table.law is not None)
    law = MeanInfluence(weights, laws) if len(laws) == len(tables) else None
    return MarginalTable(tables[0].view, np.asarray(shares), np.asarray(covariance), law=law)


def table_of_estimate(view: View, sizes: Sequence[int], estimate: Estimate) -> MarginalTable:
    """Return the table that a group of users reported.

    Its covariance includes that the group was drawn from the population.
    """
    noise = estimate.noise
    users = estimate.users
    population = estimate.population
    shares = estimate.frequencies
    noise_covariance = noise.covariance(estimate.votes, users) / users**2
    covariance = noise_covariance + sampling_covariance(shares, users, population)
    uniform = np.full(len(shares), 1 / len(shares))
    noise_variances = noise.variances(uniform * users, users) / users**2
    variances = noise_variances + np.diag(sampling_covariance(uniform, users, population))
    table = shares.reshape(shape_of(sizes, view))
    law = None
    if estimate.law is not None:
        law = GroupInfluence(estimate.law, np.arange(len(shares)), estimate.scale)
    # The mean over all contrasts: what the total varies is no contrast.
    total_variance = noise.linear(np.ones(len(shares)), uniform * users, users) / users**2
    centred = (float(variances.sum()) - total_variance / len(shares)) / (len(shares) - 1)
    uniform_variance = float(variances.mean())
    reported = MarginalTable(view, table, covariance, uniform_variance=uniform_variance, law=law)
    return replace(reported, centred_variance=centred)


def sampling_covariance(shares: Floats, users: int, population: int) -> Floats:
    """Return the covariance of the shares of a group that was drawn from a population.

    The group is drawn without replacement: (population - users) / (population - 1) of the
    covariance of independent draws is left.
    """
    possible = np.clip(shares, 0, 1)
    possible /= max(1.0, float(possible.sum()))  # or sums of cells would have a negative variance
    spread = np.diag(possible) - np.outer(possible, possible)
    return np.asarray(spread / users * (population - users) / max(population - 1, 1))
