"""The tables of any attributes from reported views, by pooled and shrunken components.

    1. Components of all views are pooled with the weights of least squares (``components.py``) and
       shrunken towards what smaller sets predict (``shrunken_components.py``).
    2. Views are assembled from them.  Negative cells are removed, and views that overlap are made
       to agree again (``consistency.py``).
    3. A table inside a view is that view, projected.  Any other is the one with the most entropy
       among those that have the views' marginals (``maximum_entropy.py``).

Errors come from draws of what the truth may be, given the reports, which go through the same steps.
They contain noise, the drawing of users, the doubt about shrunken components, and interactions that
no view contains as far as typical tables have them.  Averaged over the cells of many tables,
intervals of 95 % contain about 95 %; for a single table that is unlike all others they may not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.components import PooledComponents, assemble, subsets
from sottovoce.plans.marginals.consistency import ROUNDS, make_consistent
from sottovoce.plans.marginals.marginal_table import (
    MarginalTable,
    View,
    expand,
    project,
    shape_of,
)
from sottovoce.plans.marginals.maximum_entropy import FittedTable, fit_tables, maximal
from sottovoce.plans.marginals.reported_views import ReportedViews
from sottovoce.plans.marginals.shrunken_components import ShrunkenComponents

REPLICATES = 200
_MAX_DRAWN_ORDER = 4  # an interaction of more attributes is too weak to be drawn


@dataclass(frozen=True, eq=False)
class PooledTables:
    """The tables of any attributes, from views as they were reported."""

    reported: ReportedViews
    sizes: tuple[int, ...]
    rounds: int = ROUNDS

    @property
    def users(self) -> int:
        return self.reported.users

    @cached_property
    def components(self) -> PooledComponents:
        """Return the components of all views, unbiased."""
        return PooledComponents(self.reported, self.sizes)

    @cached_property
    def shrunken(self) -> ShrunkenComponents:
        """Return the components after shrinkage."""
        return ShrunkenComponents(self.components)

    @cached_property
    def views(self) -> dict[View, Floats]:
        """Return the shares of all views after all steps."""
        return self._assemble(self.shrunken.values)

    def fit(self, view: View) -> FittedTable:
        """Return the table of any attributes, without its errors."""
        return self._fit(view, {reported: table[None] for reported, table in self.views.items()})[0]

    def table(self, view: View) -> MarginalTable:
        """Return the table of any attributes; its covariance includes bias, as far as known."""
        estimate, *replicates = self._fit(view, self.replicates)
        cells = np.stack([replicate.table for replicate in replicates])
        errors = (cells - estimate.table + self._unreported(view)).reshape(len(cells), -1)
        covariance = errors.T @ errors / len(errors)
        contained = self.reported.contains(view)
        raw = self.reported.table(view) if contained else None
        steps = self._steps(estimate, contained=contained)
        return MarginalTable(view, estimate.table, covariance, steps, raw, guessed=not contained)

    def unbiased(self, view: View) -> MarginalTable:
        """Return the unbiased table, pooled over all views, of attributes that a view contains."""
        if not self.reported.contains(view):
            raise NoDataError(
                "no report says anything about these attributes together:"
                " no view contains all of them"
            )
        return self.components.table(view)

    def _steps(self, fitted: FittedTable, *, contained: bool) -> tuple[str, ...]:
        steps = [f"{len(self.views)} views pooled and shrunken"]
        factors = [order.factor_count for order in self.shrunken.orders.values()]
        if any(factors):
            steps.append(f"common factors of pairs: {max(factors)}")
        if not contained:
            residual = f"{fitted.sweeps} sweeps, residual {fitted.residual:.2g}"
            steps.append(f"maximum entropy ({residual})")
        return tuple(steps)

    # --- errors ---

    @cached_property
    def replicates(self) -> dict[View, Floats]:
        """Return for every view its shares, followed by draws of what the truth may be."""
        generator = np.random.default_rng(self.seed)
        noise = {view: self.noise(view, generator) for view in self.reported.tables}
        draws = self.shrunken.draw(self.components.pool(noise), generator)
        return {
            view: np.concatenate([self.views[view][None], rows])
            for view, rows in self._assemble(draws).items()
        }

    @property
    def seed(self) -> Ints:
        """Return numbers that follow from the collection, so that errors replay exactly."""
        shares = np.concatenate([table.shares.ravel() for table in self.reported.tables.values()])
        return np.asarray(np.abs(np.rint(shares * self.users)), np.int64)

    def noise(self, view: View, generator: np.random.Generator) -> Floats:
        """Return (replicates, attributes...): noise with the covariance of a reported view."""
        table = self.reported.tables[view]
        normal = generator.standard_normal((REPLICATES, table.shares.size))
        noise = normal @ _square_root(table.covariance).T
        return np.asarray(noise.reshape(REPLICATES, *table.shares.shape))

    def _unreported(self, view: View) -> Floats:
        """Return replicates of all interactions within a view that no report contains."""
        shape = shape_of(self.sizes, view)
        drawn = np.zeros((REPLICATES, *shape))
        generator = np.random.default_rng([*view, *self.seed[:8].tolist()])
        for attributes in subsets(view):
            if len(attributes) > _MAX_DRAWN_ORDER:
                break  # smaller sets come first
            if attributes not in self.components.precisions:
                residual = self.shrunken.draw_unreported(attributes, REPLICATES, generator)
                share = prod(shape_of(self.sizes, attributes)) / prod(shape)
                drawn += share * expand(residual, attributes, view)
        return drawn

    # --- tables ---

    def _assemble(self, components: Mapping[View, Floats]) -> dict[View, Floats]:
        """Return all views without negative cells; they agree with each other."""
        tables = {view: assemble(components, view, self.sizes) for view in self.reported.tables}
        precisions = {
            view: 1 / table.centred_variance for view, table in self.reported.tables.items()
        }
        return make_consistent(tables, precisions, self.rounds)

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


def _marginal(views: Mapping[View, Floats], kept: View) -> Floats:
    """Return the marginal of some attributes from the first view that contains them; all agree."""
    view = next(view for view in views if set(kept) <= set(view))
    return project(views[view], view, kept)


def _square_root(covariance: Floats) -> Floats:
    """Return a matrix whose product with its transpose is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
