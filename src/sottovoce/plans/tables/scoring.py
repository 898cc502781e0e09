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

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.core.product_target import OuterProduct
from sottovoce.encodings.cell import Cell
from sottovoce.errors import ParameterError
from sottovoce.plans.tables.coefficients import AxisProduct, Coefficients
from sottovoce.plans.tables.layout import Axis, Factor, Slot
from sottovoce.plans.tables.shared_vectors import SharedTerms, SharedVectors
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

    def __call__(self, slot_number: int, member: int | Ints, reports: Reports) -> Floats:
        """Return (reports, columns): the scores of the reports about one layer.

        Instead of one layer, that of every report may be given, if all of them are ``alike``.
        """
        slot = self._slot(slot_number)
        members = np.atleast_1d(member)
        numbers = np.flatnonzero(np.bincount(members))
        layers = [self._layer(slot, number) for number in numbers.tolist()]
        by_layer = np.stack([layer.gains for layer in layers])
        places = np.searchsorted(numbers, members)
        mechanism = slot.mechanism(int(numbers[0]))
        centred = bool(slot.laws.centred[numbers[0]])
        scores = np.empty((len(reports), len(self.columns)))
        for index, terms in enumerate(layers[0].group.targets):
            scores[:, index] = self.constants[slot_number][index]
            if terms is not None:
                target = self._vectors.target(terms, layers[0].group.radices)
                votes = mechanism.score_terms(reports, target)
                mean = sum(term.mean for term in target.terms) if centred else 0.0
                scores[:, index] += (votes - mean) * by_layer[places, index]
        return scores

    def alike(self, slot_number: int, member: int) -> Any:
        """Return what layers have in common whose reports are compared with the same targets.

        A target that does not depend on some columns is the same, but for a number, in all layers
        that divide these columns into as many cells together.
        """
        return id(self._layer(self._slot(slot_number), member).group)

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

    def _slot(self, slot_number: int) -> Slot:
        return self.factor.slots[slot_number - self.factor.slots[0].number]

    def _chance(self, slot: Slot, member: int) -> float:
        if not self.shares:
            return slot.chance(member)
        return self.shares[slot.number - self.factor.slots[0].number][member]

    def _layer(self, slot: Slot, member: int) -> "_Layer":
        """Return the targets of a layer."""
        address = (slot.number, member)
        if address not in self._layers:
            self._layers[address] = self._new_layer(slot, member)
        return self._layers[address]

    def _new_layer(self, slot: Slot, member: int) -> "_Layer":
        cell = slot.cell(member)
        gains = np.zeros(len(self.columns))
        targets: list[SharedTerms | None] = []
        for index, column in enumerate(self.columns):
            terms = _unscaled_terms(slot, member, column)
            if cell.aligned:
                terms = tuple(_aligned(term, cell) for term in terms)
            shared = self._vectors.shared(terms, merged=not cell.aligned)
            if not terms or (slot.laws.centred[member] and shared.constant):
                targets.append(None)  # the report says nothing that is not known
                continue
            targets.append(shared)
            gains[index] = column.scale(member) * shared.factor / self._chance(slot, member)
        group = _LayerGroup(tuple(targets), cell.radices if cell.aligned else ())
        key = (id(slot.family[member].mechanism), group.key)
        return _Layer(self._groups.setdefault(key, group), gains)

    @cached_property
    def _layers(self) -> "dict[tuple[int, int], _Layer]":
        return {}

    @cached_property
    def _groups(self) -> "dict[Any, _LayerGroup]":
        return {}

    @cached_property
    def _vectors(self) -> SharedVectors:
        return SharedVectors()

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


@dataclass(frozen=True, eq=False)
class _LayerGroup:
    """Layers with the same target for every column, but for a number; None: it says nothing."""

    targets: tuple[SharedTerms | None, ...]
    radices: tuple[int, ...]  # of aligned layers

    @property
    def key(self) -> Any:
        """Return what makes two layers one group."""
        return self.radices, tuple(None if each is None else each.key for each in self.targets)


@dataclass(frozen=True, eq=False)
class _Layer:
    """A layer: ``gains`` is what its votes for the targets of its group are multiplied by."""

    group: _LayerGroup
    gains: Floats


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
    scale = column.scale(member)
    terms = _unscaled_terms(slot, member, column)
    return tuple(OuterProduct(scale * term.weight, term.factors) for term in terms)


def _unscaled_terms(slot: Slot, member: int, column: Coefficients) -> tuple[OuterProduct, ...]:
    group, levels = slot.levels(member)
    vectors = [(term.weight, term.vectors(levels)) for term in column.groups[group]]
    return tuple(
        OuterProduct(weight, factors) for weight, factors in vectors if factors is not None
    )


def layer_means(slot: Slot, column: Coefficients) -> float:
    """Return the sum over all layers of the mean of their coefficients.

    0 where votes do not sum to one.
    """
    if not slot.laws.centred[0]:
        return 0.0
    if column.scales is not None:
        (axes,) = slot.groups
        layers = [_means_by_layer(axes, term) for term in column.groups[0]]
        if not layers:  # nobody can meet the condition
            return 0.0
        return float(np.dot(column.scales, np.sum(layers, axis=0)[slot.family.first :]))
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
