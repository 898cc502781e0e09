"""PriView: the views of CALM published by a trusted curator who holds all records.

The line that CALM is measured against.  Everybody is counted in every view, and the Laplace noise
of a share falls with the number of users, not with its square root.  What is computed from the
views is the same as in CALM.

Source: Wang 2021, chapter 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.settings import entries, epsilon, flag, wholes
from sottovoce.errors import NoDataError
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.marginals.marginal_table import MarginalTable, View, shape_of
from sottovoce.plans.marginals.reported_views import ReportedViews


@dataclass(frozen=True)
class PriView:
    """The views that a curator publishes, and the noise that protects one record.

    Replacing one record by another changes two counts of every view; adding or removing one
    (``replace=False``) changes one count.
    """

    sizes: tuple[int, ...]
    views: tuple[View, ...]
    epsilon: float
    replace: bool = True

    def __post_init__(self) -> None:
        entries("views", self.views, 1)
        for view in self.views:
            wholes("views", view, 0, len(self.sizes) - 1)
        epsilon("epsilon", self.epsilon)
        flag("replace", self.replace)

    def publish(self, records: Ints, seed: int) -> Calm:
        """Return what is known from the noisy views of (users, attributes)."""
        if not len(records):
            raise NoDataError("there are no records")
        sensitivity = 2 if self.replace else 1
        scale = sensitivity * len(self.views) / self.epsilon / len(records)
        generator = SeededRng(seed).generator
        tables = {}
        for view in self.views:
            shares = cell_counts(records, self.sizes, view) / len(records)
            noisy = shares + generator.laplace(0, scale, shares.size)
            covariance = np.eye(shares.size) * 2 * scale**2
            table = noisy.reshape(shape_of(self.sizes, view))
            tables[view] = MarginalTable(view, table, covariance)
        return Calm(ReportedViews(tables, len(records)), self.sizes)


def cell_counts(records: Ints, sizes: Sequence[int], view: View) -> Ints:
    """Return how many records fall into every cell of a view, the last attribute fastest."""
    cells = np.zeros(len(records), np.int64)
    for attribute in view:
        cells = cells * sizes[attribute] + records[:, attribute]
    return np.bincount(cells, minlength=prod(shape_of(sizes, view)))
