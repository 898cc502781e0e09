"""What every report says about some coefficients: unbiased scores that add up, and multiply, person
by person.

A report of layer l, picked with chance P, scores 1/P times its vote for the coefficients of the
layer. The part of an answer that is the same for every layer is not estimated: the mean coefficient
of a layer is left out of its votes, and the sum of the means over all layers is added to every
score.  That removes the noise of which layer a person was asked about, and makes what holds of
everybody exact.  It needs votes that sum to one over a layer (``ScoreMoments.centred``).

Source: Xu 2020, section 5; docs/affine-response.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from math import prod
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Reports
from sottovoce.core.product_target import OuterProduct, ProductTarget
from sottovoce.encodings.cell import Cell
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.coefficients import AxisProduct, Coefficients
from sottovoce.plans.tables.layout import Axis, Factor, Slot
from sottovoce.tasks.question import Address


@dataclass(frozen=True, eq=False)
class Scoring:
    """Several coefficients for the reports of one factor; picklable, so that any process can score
    reports.

    ``shares`` replaces the chances of layers by shares of people, by slot and layer.
    """

    factor: Factor
    columns: tuple[Coefficients, ...]
    shares: tuple[tuple[float, ...], ...] = ()

    def __call__(self, slot_number: int, member: int, reports: Reports) -> Floats:
        """Return (reports, columns): the scores of the reports about one layer."""
        first = self.factor.slots[0].number
        slot = self.factor.slots[slot_number - first]
        mechanism = slot.mechanism(member)
        centred = bool(slot.laws.centred[member])
        chance = self.shares[slot_number - first][member] if self.shares else slot.chance(member)
        scores = np.empty((len(reports), len(self.columns)))
        for index, column in enumerate(self.columns):
            scores[:, index] = self.constants[slot_number][index]
            terms = layer_terms(slot, member, column)
            if not terms or (centred and all(term.constant for term in terms)):
                continue  # the report says nothing that is not known
            votes = mechanism.score_terms(reports, self._target(slot, member, terms))
            mean = sum(term.mean for term in terms) if centred else 0.0
            scores[:, index] += (votes - mean) / chance
        return scores

    def by_share(self, report_counts: Mapping[Address, int]) -> "Scoring":
        """Return the same with the share of people that was asked about a layer instead of its
        chance (Hajek).

        Where nobody was asked about a layer that matters there is no such share: then the chances
        stay.
        """
        counts = {(address.slot, address.member): count for address, count in report_counts.items()}
        shares = []
        for slot in self.factor.slots:
            members = range(len(slot.family))
            asked = [counts.get((slot.number, member), 0) for member in members]
            if any(not asked[member] and self._uses(slot, member) for member in members):
                return self
            shares.append(tuple(count / sum(asked) for count in asked))
        return replace(self, shares=tuple(shares))

    def used_share(self, column: int) -> float:
        """Return the share of reports whose layer has a part in some coefficients."""
        shares = []
        for slot in self.factor.slots:
            members = range(len(slot.family))
            used = [member for member in members if layer_terms(slot, member, self.columns[column])]
            shares.append(sum(slot.chance(member) for member in used))
        return float(np.mean(shares))

    def __getstate__(self) -> dict[str, Any]:
        return {
            each.name: getattr(self, each.name) for each in fields(self)
        }  # caches are computed again

    def _uses(self, slot: Slot, member: int) -> bool:
        return any(layer_terms(slot, member, column) for column in self.columns)

    def _target(self, slot: Slot, member: int, terms: tuple[OuterProduct, ...]) -> ProductTarget:
        """Return the terms of a layer in the order in which its cells are numbered."""
        cell = slot.cell(member)
        if cell.aligned:
            return ProductTarget(
                cell.radices, tuple(_aligned(term, cell) for term in terms), self._transformed
            )
        radices = tuple(map(len, terms[0].factors))
        return ProductTarget(radices, terms, self._transformed)

    @cached_property
    def _transformed(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def constants(self) -> dict[int, list[float]]:
        """Return what every report of a slot scores whatever its layer."""
        first = self.factor.slots[0].number
        constants = {
            slot.number: [layer_means(slot, column) for column in self.columns]
            for slot in self.factor.slots
        }
        known = [column.known for column in self.columns]
        constants[first] = [
            mean + exact for mean, exact in zip(constants[first], known, strict=True)
        ]
        return constants


def _aligned(term: OuterProduct, cell: Cell) -> OuterProduct:
    """Return a term with its factors in the order of the bits of a large layer, without absent
    coins.
    """
    columns = term.factors[: len(cell.columns)]
    coins = term.factors[len(cell.columns) :]
    weight = term.weight * prod(float(coin[0]) for coin in coins if len(coin) == 1)
    factors = [*columns, *(coin for coin in coins if len(coin) > 1)]
    if len(factors) != len(cell.order):
        raise ParameterError(
            "layers of more than 2^20 cells with several coins cannot be scored: use fewer columns"
        )
    return OuterProduct(weight, tuple(factors[axis] for axis in cell.order))


def layer_terms(slot: Slot, member: int, column: Coefficients) -> tuple[OuterProduct, ...]:
    """Return the terms of some coefficients that a layer has a part in."""
    group, levels = slot.levels(member)
    scale = column.scale(member)
    vectors = [(term.weight, term.vectors(levels)) for term in column.groups[group]]
    return tuple(
        OuterProduct(scale * weight, factors) for weight, factors in vectors if factors is not None
    )


def layer_means(slot: Slot, column: Coefficients) -> float:
    """Return the sum over all layers of the mean of their coefficients.

    0 where votes do not sum to one.
    """
    if not slot.laws.centred[0]:
        return 0.0
    if column.scales is not None:
        (axes,) = slot.groups
        means = sum(_means_by_layer(axes, term) for term in column.groups[0])
        return float(np.dot(column.scales, (means + np.zeros(1))[slot.family.first :]))
    total = 0.0
    for axes, terms in zip(slot.groups, column.groups, strict=True):
        total += sum(_product_of_means(axes, term) for term in terms)
    left_out = sum(term.root for term in column.groups[0])
    return total - slot.family.first * left_out


def _product_of_means(axes: tuple[Axis, ...], term: AxisProduct) -> float:
    return term.weight * prod(float(means.sum()) for means in _axis_means(axes, term))


def _means_by_layer(axes: tuple[Axis, ...], term: AxisProduct) -> Floats:
    """Return the mean coefficient of every layer of a group."""
    means = reduce(np.multiply.outer, _axis_means(axes, term))
    return np.asarray(term.weight * means.ravel())


def _axis_means(axes: tuple[Axis, ...], term: AxisProduct) -> list[Floats]:
    """Return the mean over the nodes of every level that is asked about, for each axis."""
    means = []
    for axis, levels in zip(axes, term.axes, strict=True):
        vectors = [levels[level] for level in axis.levels]
        means.append(np.array([0.0 if vector is None else vector.mean() for vector in vectors]))
    return means
