"""Shrunken components: noisy components move towards the prediction from smaller sets.

Single attributes move towards the typical shares of all attributes (``single_attributes.py``).
Larger sets follow, order by order:

    1. A component is predicted: that of a pair by independence and by common factors
       (``common_factors.py``), a larger one by the table with the most entropy.
    2. The share of its residual that is kept is learnt from all residuals of the order
       (``shrinkage.py``), in units of correlations, because rare values cannot vary much.

Errors are draws of what the truth may be, given the reports: noise as the reports have it where a
residual is believed, and the law of residuals where it is not.  An interaction that no view
contains is drawn from the law of the residuals that were reported, or of typical tables
(``typical_tables.py``), which makes the bias of maximum entropy part of the errors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, groupby
from math import prod, sqrt

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.plans.marginals.common_factors import PairResiduals
from sottovoce.plans.marginals.components import (
    Components,
    PooledComponents,
    assemble,
    centre,
)
from sottovoce.plans.marginals.marginal_table import View, shape_of
from sottovoce.plans.marginals.maximum_entropy import fit_tables
from sottovoce.plans.marginals.shrinkage import SCALES, Residuals, Shrinkage
from sottovoce.plans.marginals.single_attributes import SingleAttribute, shrink_singles
from sottovoce.plans.marginals.typical_tables import faded, scale_weights
from sottovoce.postprocess.norm_sub import norm_sub

_MIN_SPREAD = 1e-6
# Residuals have heavier tails than the law that was fitted to them: their variance is multiplied.
# Calibrated, so that intervals cover on the tables of lab/experiments/joint_tables.py.
CAUTION = 2.0


@dataclass(frozen=True, eq=False)
class ShrunkenOrder:
    """The components of one number of attributes: predicted, and how far to believe the rest.

    ``factor_noise`` is the share of a residual's noise that common factors left in the prediction.
    """

    attributes: tuple[View, ...]
    predicted: Components
    shrinkage: Shrinkage
    factor_count: int = 0
    factor_noise: float = 0.0


@dataclass(frozen=True, eq=False)
class ShrunkenComponents:
    """All components of the reported views after shrinkage."""

    pooled: PooledComponents

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.pooled.sizes

    @property
    def _variances(self) -> dict[View, float]:
        return self.pooled.plug_in_variances

    @cached_property
    def singles(self) -> dict[View, SingleAttribute]:
        """Return the shares of single attributes after shrinkage (``single_attributes.py``)."""
        reported: Components = {}
        variances: dict[View, float] = {}
        for attributes, component in self.pooled.values.items():
            if len(attributes) == 1:
                values = component.size
                reported[attributes] = component + 1 / values
                # A share varies in all directions but that of the sum.
                variances[attributes] = self._variances[attributes] * (1 - 1 / values)
        return shrink_singles(reported, variances)

    def unit(self, attributes: View) -> float:
        """Return the square of the size of a component that has a correlation of 1."""
        return prod(self._spreads[attribute] for attribute in attributes)

    @cached_property
    def _spreads(self) -> dict[int, float]:
        spreads = {}
        for (attribute,), single in self.singles.items():
            uneven = 1 - float((single.shares**2).sum())
            spreads[attribute] = max(uneven, _MIN_SPREAD) / (len(single.shares) - 1)
        return spreads

    @cached_property
    def values(self) -> Components:
        """Return the shrunken components."""
        values = self._single_components()
        for order in self.orders.values():
            values.update(self._shrunken(order))
        return values

    def _single_components(self) -> Components:
        return {
            attributes: single.shares - 1 / single.shares.size
            for attributes, single in self.singles.items()
        }

    @cached_property
    def orders(self) -> dict[int, ShrunkenOrder]:
        """Return for every number of attributes from 2 on how its components were shrunken."""
        values = self._single_components()
        orders = {}
        for order, group in groupby(self.pooled.values, key=len):
            if order > 1:
                shrunken = self._shrink(tuple(group), values)
                orders[order] = shrunken
                values.update(self._shrunken(shrunken))
        return orders

    def _shrunken(self, order: ShrunkenOrder) -> Components:
        rows = zip(order.attributes, order.shrinkage.belief, strict=True)
        return {
            attributes: order.predicted[attributes] + belief * self._residual(order, attributes)
            for attributes, belief in rows
        }

    def _residual(self, order: ShrunkenOrder, attributes: View) -> Floats:
        return np.asarray(self.pooled.values[attributes] - order.predicted[attributes])

    def _shrink(self, group: tuple[View, ...], values: Components) -> ShrunkenOrder:
        """Return one order, given the shrunken components of all smaller ones."""
        if len(group[0]) > 2:
            predicted = predict(group, values, self.sizes)
            return ShrunkenOrder(group, predicted, self._fit(predicted))
        predicted = {pair: _product([values[pair[:1]], values[pair[1:]]]) for pair in group}
        units = {pair: sqrt(self.unit(pair)) for pair in group}
        pairs = PairResiduals(
            self.sizes,
            {pair: (self.pooled.values[pair] - predicted[pair]) / units[pair] for pair in group},
            {pair: self._variances[pair] / units[pair] ** 2 for pair in group},
        )
        count, common = pairs.factors()
        predicted = {pair: predicted[pair] + units[pair] * common[pair] for pair in group}
        return ShrunkenOrder(
            group, predicted, self._fit(predicted), count, pairs.noise_share(count)
        )

    def _fit(self, predicted: Components) -> Shrinkage:
        squares, degrees, variances = [], [], []
        for attributes, prediction in predicted.items():
            unit = self.unit(attributes)
            residual = self.pooled.values[attributes] - prediction
            squares.append(float((residual**2).sum()) / unit)
            degrees.append(float(self.pooled.degrees(attributes)))
            variances.append(self._variances[attributes] / unit)
        return Shrinkage.fit(Residuals(np.array(squares), np.array(degrees), np.array(variances)))

    # --- what the truth may be ---

    def draw(self, noise: Components, generator: np.random.Generator) -> Components:
        """Return (replicates, ...): components that may be the true ones.

        ``noise`` holds replicates of the errors of all pooled components.
        """
        draws: Components = {}
        for attributes, single in self.singles.items():
            doubt = sqrt(single.belief) * noise[attributes]
            draws[attributes] = norm_sub(single.shares + doubt) - 1 / single.shares.size
        for order in self.orders.values():
            for index, attributes in enumerate(order.attributes):
                residual = self._draw_residual(order, index, noise[attributes], generator)
                predicted = order.predicted[attributes]
                if len(attributes) == 2:  # the prediction errs as the single attributes do
                    factors = [draws[attributes[:1]], draws[attributes[1:]]]
                    fixed = [self.values[attributes[:1]], self.values[attributes[1:]]]
                    moved = np.einsum("ri,rj->rij", *factors) - _product(fixed)
                    draws[attributes] = predicted + moved + residual
                else:
                    draws[attributes] = predicted + residual
        return draws

    def _draw_residual(
        self, order: ShrunkenOrder, index: int, noise: Floats, generator: np.random.Generator
    ) -> Floats:
        """Return replicates of the true residual of a component, given its reported one."""
        attributes = order.attributes[index]
        shrinkage = order.shrinkage
        rows = (len(noise), *[1] * len(attributes))
        scale = generator.choice(len(SCALES), len(noise), p=shrinkage.chances[index])
        belief = shrinkage.beliefs[index][scale].reshape(rows)
        factor_noise = order.factor_noise * shrinkage.residuals.variances[index]
        variance = CAUTION * (SCALES[scale] + factor_noise) * self.unit(attributes)
        spread = np.sqrt(variance).reshape(rows)
        unbelieved = spread * centre(generator.standard_normal(noise.shape), len(attributes))
        reported = self._residual(order, attributes)
        return np.asarray(belief * reported + belief * noise + (1 - belief) * unbelieved)

    def draw_unreported(
        self, attributes: View, replicates: int, generator: np.random.Generator
    ) -> Floats:
        """Return (replicates, ...): draws of the residual of a set that no view contains."""
        weights = self._weights(len(attributes))
        scale = generator.choice(len(SCALES), replicates, p=weights)
        rows = (replicates, *[1] * len(attributes))
        spread = np.sqrt(CAUTION * SCALES[scale] * self.unit(attributes)).reshape(rows)
        normal = generator.standard_normal((replicates, *shape_of(self.sizes, attributes)))
        return np.asarray(spread * centre(normal, len(attributes)))

    def _weights(self, order: int) -> Floats:
        """Return the law of residuals of an order, from the reports if they have any."""
        if order in self.orders:
            return self.orders[order].shrinkage.weights
        if not self.orders:
            return scale_weights(order)
        largest = max(self.orders)
        return faded(self.orders[largest].shrinkage.weights, order - largest)


def predict(group: Sequence[View], values: Components, sizes: tuple[int, ...]) -> Components:
    """Return the components of sets of one order that maximum entropy predicts from smaller ones.

    Sets of attributes with equal numbers of values are fitted together.
    """
    predicted: Components = {}
    for shape, sets in _by_shape(group, sizes):
        order = len(shape)
        marginals = {
            kept: np.stack(
                [assemble(values, tuple(row[axis] for axis in kept), sizes) for row in sets]
            )
            for kept in combinations(range(order), order - 1)
        }
        fitted = fit_tables(tuple(range(order)), dict(enumerate(shape)), marginals)
        for attributes, table in zip(sets, fitted, strict=True):
            predicted[attributes] = centre(table.table, order)
    return {attributes: predicted[attributes] for attributes in group}


def _by_shape(
    group: Sequence[View], sizes: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], list[View]]]:
    by_shape: dict[tuple[int, ...], list[View]] = {}
    for attributes in group:
        by_shape.setdefault(shape_of(sizes, attributes), []).append(attributes)
    yield from by_shape.items()


def _product(vectors: Sequence[Floats]) -> Floats:
    return np.asarray(reduce(np.multiply.outer, vectors))
