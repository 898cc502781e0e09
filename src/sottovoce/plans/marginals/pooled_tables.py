"""The tables of any attributes from reported views, by pooled and shrunken components.

    1. Components of all views are pooled with the weights of least squares (``components.py``) and
       shrunken towards what smaller sets predict (``shrunken_components.py``).
    2. Views are assembled from them.  Negative cells are removed, and views that overlap are made
       to agree again (``consistency.py``).
    3. Tables follow from the views (``view_tables.py``).

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

from sottovoce.arrays import Floats
from sottovoce.errors import NoDataError
from sottovoce.plans.marginals.components import PooledComponents, assemble, subsets
from sottovoce.plans.marginals.consistency import make_consistent
from sottovoce.plans.marginals.marginal_table import MarginalTable, View, expand, shape_of
from sottovoce.plans.marginals.maximum_entropy import FittedTable
from sottovoce.plans.marginals.shrunken_components import ShrunkenComponents
from sottovoce.plans.marginals.view_tables import REPLICATES, ViewTables, entropy_step

_MAX_DRAWN_ORDER = 4  # an interaction of more attributes is too weak to be drawn


@dataclass(frozen=True, eq=False)
class PooledTables(ViewTables):
    """The tables of any attributes, from views as they were reported."""

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

    def unbiased(self, view: View) -> MarginalTable:
        """Return the unbiased table, pooled over all views, of attributes that a view contains."""
        if not self.reported.contains(view):
            raise NoDataError(
                "no report contains these attributes together: no view contains all of them"
            )
        return self.components.table(view)

    def steps(self, fitted: FittedTable) -> tuple[str, ...]:
        factors = [order.factor_count for order in self.shrunken.orders.values()]
        common = f"common factors of pairs: {max(factors)}" if any(factors) else ""
        pooled = f"{len(self.views)} views pooled and shrunken"
        return (pooled, *([common] if common else []), *entropy_step(fitted))

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

    def unreported(self, view: View) -> Floats:
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

    def _assemble(self, components: Mapping[View, Floats]) -> dict[View, Floats]:
        """Return all views without negative cells; they agree with each other."""
        tables = {view: assemble(components, view, self.sizes) for view in self.reported.tables}
        precisions = {
            view: 1 / table.centred_variance for view, table in self.reported.tables.items()
        }
        return make_consistent(tables, precisions, self.rounds)
