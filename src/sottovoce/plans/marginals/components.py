"""Components: a table as a sum of parts, one for every set of attributes, and the pooling of parts.

The component of a set S of attributes is the marginal of S after the mean over each of its axes was
subtracted: what S says beyond all smaller sets.  A table of the attributes A is the sum

    table = 1 / cells(A) + sum over S within A of  component(S) cells(S) / cells(A)

Components of different sets are orthogonal.  A view of L cells whose contrasts of cells have
variance v reports the component of S with variance v L / cells(S) in each of its

    degrees(S) = product of (values - 1)

directions.  All views that contain S report it independently, so the best unbiased estimate weighs
them by the inverse of that variance.  With errors of equal variance in all contrasts of a view this
is generalised least squares over all views at once: the components decouple.

Source: Wang 2021, section 6.2.3, for the weights of a single set.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.marginals.marginal_table import (
    MarginalTable,
    View,
    expand,
    project,
    shape_of,
)
from sottovoce.plans.marginals.reported_views import ReportedViews

Components = dict[View, Floats]


def subsets(view: View) -> Iterator[View]:
    """Yield all sets of attributes of a view but the empty one, smaller ones first."""
    for size in range(1, len(view) + 1):
        yield from combinations(view, size)


def centre(table: Floats, attributes: int) -> Floats:
    """Return a table minus its mean over each of its last axes: a component.

    >>> centre(np.array([[0.5, 0.2], [0.2, 0.1]]), 2).round(3).tolist()
    [[0.05, -0.05], [-0.05, 0.05]]
    """
    for axis in range(1, attributes + 1):
        table = table - table.mean(axis=-axis, keepdims=True)
    return table


def assemble(components: Mapping[View, Floats], view: View, sizes: tuple[int, ...]) -> Floats:
    """Return the table of a view; a component that is not given counts as 0."""
    cells = prod(shape_of(sizes, view))
    table = np.full(shape_of(sizes, view), 1 / cells)
    for attributes in subsets(view):
        if attributes in components:
            share = prod(shape_of(sizes, attributes)) / cells
            table = table + share * expand(components[attributes], attributes, view)
    return table


def component_variances(
    covariance: Floats, view: View, sizes: tuple[int, ...]
) -> dict[View, float]:
    """Return for every component of a view the sum of the variances of its cells.

    ``covariance`` is that of the cells of the view.  The covariance of the marginal of T has the
    trace t(T), and by inclusion and exclusion the component of S has

        sum over T within S of  (-1)^(|S| - |T|) t(T) / (product of values of S without T)

    >>> component_variances(np.diag([0.1, 0.3]), (4,), (0, 0, 0, 0, 2))
    {(4,): 0.2}
    """
    traces = _marginal_traces(covariance.reshape(shape_of(sizes, view) * 2), view)
    return {
        attributes: sum(
            (-1) ** (len(attributes) - len(kept))
            * traces[kept]
            / prod(sizes[attribute] for attribute in attributes if attribute not in kept)
            for kept in ((), *subsets(attributes))
        )
        for attributes in subsets(view)
    }


def _marginal_traces(covariance: Floats, view: View) -> dict[View, float]:
    """Return the trace of the covariance of every marginal of a view, also of the empty one.

    ``covariance`` has one axis for every attribute, and the same axes once more.
    """
    if not view:
        return {(): float(covariance)}
    first, *rest = view
    traces = {}
    kept = np.trace(covariance, axis1=0, axis2=len(view))
    for attributes, trace in _marginal_traces(np.asarray(kept), tuple(rest)).items():
        traces[first, *attributes] = trace
    summed = covariance.sum(axis=(0, len(view)))
    return traces | _marginal_traces(summed, tuple(rest))


@dataclass(frozen=True, eq=False)
class PooledComponents:
    """The pooling of the components of all reported views."""

    reported: ReportedViews
    sizes: tuple[int, ...]

    @cached_property
    def precisions(self) -> dict[View, dict[View, float]]:
        """Return for every component the views that report it, each with its precision."""
        by_component: dict[View, dict[View, float]] = {}
        for view, table in self.reported.tables.items():
            precision = 1 / (table.centred_variance * table.shares.size)
            for attributes in subsets(view):
                cells = prod(shape_of(self.sizes, attributes))
                by_component.setdefault(attributes, {})[view] = precision * cells
        return dict(sorted(by_component.items(), key=lambda entry: (len(entry[0]), entry[0])))

    @cached_property
    def variances(self) -> dict[View, float]:
        """Return the variance of every pooled component in each of its directions."""
        return {
            attributes: 1 / sum(views.values()) for attributes, views in self.precisions.items()
        }

    @cached_property
    def plug_in_variances(self) -> dict[View, float]:
        """Return the same variances as the reported shares suggest them.

        Weights do not depend on the data, so they stay.  Where many cells are rare, as with large
        epsilon or few users, these are much smaller than those of equal shares.
        """
        totals = {
            view: component_variances(table.covariance, view, self.sizes)
            for view, table in self.reported.tables.items()
        }
        return {
            attributes: sum(
                (precision * self.variances[attributes]) ** 2 * totals[view][attributes]
                for view, precision in views.items()
            )
            / self.degrees(attributes)
            for attributes, views in self.precisions.items()
        }

    @cached_property
    def values(self) -> Components:
        """Return the pooled components: unbiased."""
        return self.pool({view: table.shares for view, table in self.reported.tables.items()})

    def pool(self, tables: Mapping[View, Floats]) -> Components:
        """Return the weighted means of the components of some tables of all views."""
        pooled: Components = {}
        for attributes, views in self.precisions.items():
            total = self.variances[attributes]
            marginal = sum(
                precision * total * project(tables[view], view, attributes)
                for view, precision in views.items()
            )
            pooled[attributes] = centre(np.asarray(marginal), len(attributes))
        return pooled

    def degrees(self, attributes: View) -> int:
        """Return in how many directions a component can vary."""
        return prod(self.sizes[attribute] - 1 for attribute in attributes)

    def table(self, view: View) -> MarginalTable:
        """Return the unbiased table of some attributes that a view contains, with its covariance.

        Every view that shares an attribute with it adds the covariance of its own part.
        """
        shares = assemble(self.values, view, self.sizes)
        covariance = np.zeros((shares.size, shares.size))
        for reported, table in self.reported.tables.items():
            shared = tuple(attribute for attribute in view if attribute in reported)
            if shared:
                part = self._part(reported, shared, view)
                covariance += part @ table.project(shared).covariance @ part.T
        return MarginalTable(view, shares, covariance)

    def _part(self, reported: View, shared: View, view: View) -> Floats:
        """Return (cells of the view, shared cells): the contribution of a reported view."""
        shape = shape_of(self.sizes, shared)
        units = np.eye(prod(shape)).reshape(-1, *shape)
        components = {
            attributes: self.precisions[attributes][reported]
            * self.variances[attributes]
            * centre(project(units, shared, attributes), len(attributes))
            for attributes in subsets(shared)
        }
        rows = assemble(components, view, self.sizes) - assemble({}, view, self.sizes)
        return np.asarray(rows.reshape(len(units), -1).T)
