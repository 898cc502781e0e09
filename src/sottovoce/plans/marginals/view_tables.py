"""View tables: the table of any attributes from views that agree with each other.

A table inside a view is that view, projected.  Any other is the one with the most entropy among
those that have the views' marginals (``maximum_entropy.py``).  Errors come from replicates of the
views: noise with the covariance of the reports, or draws of what the truth may be, goes through the
same steps.  How views and replicates are made is the difference between methods.

Source: Wang 2021, section 6.2.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.consistency import ROUNDS
from sottovoce.plans.marginals.marginal_table import MarginalTable, View, project
from sottovoce.plans.marginals.maximum_entropy import FittedTable, fit_tables, maximal
from sottovoce.plans.marginals.reported_views import ReportedViews

REPLICATES = 200
_ROUNDING = 1e-12  # residuals below it are those of the arithmetic


@dataclass(frozen=True, eq=False)
class ViewTables(ABC):
    """The tables of any attributes, from views as they were reported."""

    reported: ReportedViews
    sizes: tuple[int, ...]
    rounds: int = ROUNDS

    @property
    @abstractmethod
    def views(self) -> dict[View, Floats]:
        """Return the shares of all views after all steps; they agree with each other."""

    @property
    @abstractmethod
    def replicates(self) -> dict[View, Floats]:
        """Return for every view its shares, followed by ``REPLICATES`` replicates of them."""

    @abstractmethod
    def steps(self, fitted: FittedTable) -> tuple[str, ...]:
        """Return the steps that may have biased the shares of a table."""

    def unreported(self, view: View) -> Floats:
        """Return draws of the interactions that no report contains, for replicates of a table."""
        return np.zeros(())

    @property
    def users(self) -> int:
        return self.reported.users

    def fit(self, view: View) -> FittedTable:
        """Return the table of any attributes, without its errors."""
        return self._fit(view, {reported: table[None] for reported, table in self.views.items()})[0]

    def table(self, view: View) -> MarginalTable:
        """Return the table of any attributes; its covariance includes the known bias."""
        estimate, *replicates = self._fit(view, self.replicates)
        cells = np.stack([replicate.table for replicate in replicates])
        errors = (cells - estimate.table + self.unreported(view)).reshape(len(cells), -1)
        covariance = errors.T @ errors / len(errors)
        contained = self.reported.contains(view)
        raw = self.reported.table(view) if contained else None
        steps = self.steps(estimate)
        return MarginalTable(view, estimate.table, covariance, steps, raw, guessed=not contained)

    @property
    def seed(self) -> Ints:
        """Return numbers that follow from the collection, so that errors replay exactly."""
        shares = np.concatenate([table.shares.ravel() for table in self.reported.tables.values()])
        return np.asarray(np.abs(np.rint(shares * self.users)), np.int64)

    def noise(self, view: View, generator: np.random.Generator) -> Floats:
        """Return (replicates, attributes...): noise with the covariance of a reported view."""
        table = self.reported.tables[view]
        normal = generator.standard_normal((REPLICATES, table.shares.size))
        noise = normal @ _square_root(table.covariance)
        return np.asarray(noise.reshape(REPLICATES, *table.shares.shape))

    def _fit(self, view: View, views: Mapping[View, Floats]) -> list[FittedTable]:
        """Return the table of some attributes for every row of the views."""
        unknown = set(view) - self.reported.attributes
        if unknown:
            raise ParameterError("an attribute of this marginal is in no view")
        container = next((wider for wider in views if set(view) <= set(wider)), None)
        if container is not None:
            projected = project(views[container], container, view)
            return [FittedTable(table, 0.0, 0) for table in projected]
        shared = [tuple(attribute for attribute in view if attribute in known) for known in views]
        marginals = {kept: _marginal(views, kept) for kept in maximal(shared)}
        return fit_tables(view, dict(enumerate(self.sizes)), marginals)


def entropy_step(fitted: FittedTable) -> tuple[str, ...]:
    """Return the step of a table that maximum entropy filled in; of another table none."""
    if not fitted.sweeps:
        return ()
    is_rounding = fitted.residual < _ROUNDING  # which differs from processor to processor
    residual = f"below {_ROUNDING:g}" if is_rounding else f"{fitted.residual:.2g}"
    return (f"maximum entropy ({fitted.sweeps} sweeps, residual {residual})",)


def _marginal(views: Mapping[View, Floats], kept: View) -> Floats:
    """Return the marginal of some attributes from the first view that contains them; all agree."""
    view = next(view for view in views if set(kept) <= set(view))
    return project(views[view], view, kept)


def _square_root(covariance: Floats) -> Floats:
    """Return the symmetric matrix whose square is the covariance.

    No other root is unique: where eigenvalues are equal, each processor may find other vectors, and
    errors would not replay on another machine.
    """
    values, vectors = np.linalg.eigh(covariance)
    rounding = len(values) * np.finfo(float).eps * values.max()
    roots = np.sqrt(np.where(values > rounding, values, 0.0))
    return np.asarray((vectors * roots) @ vectors.T)
