"""What every report says about some targets: unbiased numbers that add up, and multiply, person by person.

A report of layer l scores L times its vote for the layer's coefficients.  The mean of these coefficients, which no
report can tell apart from what it says about everybody, is left out and added for all layers at once: that spares the
noise of which layer a person was asked about, and leaves what holds of everybody exact.

Source: Xu 2020, section 5; docs/affine-response.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.encodings.cell import Cell
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.affine import AffineResponse, factor_table
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.tables.layout import Factor, Slot
from sottovoce.plans.tables.targets import Target, Term
from sottovoce.tasks.question import Address

Terms: TypeAlias = list[tuple[float, list[Floats]]]  # of one layer: weights, and a vector for each axis


class _Tables:
    """The transformed factors of targets, each made once: many layers have a level of a column in common."""

    def __init__(self) -> None:
        self._made: dict[int, Floats] = {}

    def __call__(self, factor: Floats) -> Floats:
        found = self._made.get(id(factor))
        if found is None:
            found = self._made[id(factor)] = factor_table(factor)
        return found


@dataclass(frozen=True, eq=False)
class Scoring:
    """The targets of one factor; picklable, so that any process can score reports."""

    factor: Factor
    targets: tuple[Target, ...]
    shares: tuple[tuple[float, ...], ...] = ()  # by slot and member, the share of people really asked; or none

    def __call__(self, slot: int, member: int, reports: Reports) -> Floats:
        """Return (reports, targets): the scores of the reports at one address."""
        asked = self._slot(slot)
        mechanism = asked.family[member].mechanism
        if not isinstance(mechanism, PureMechanism):
            raise ParameterError("only a pure mechanism scores reports")
        chance = self.shares[slot - self.factor.slots[0].number][member] if self.shares else asked.chance(member)
        found = np.empty((len(reports), len(self.targets)))
        for at, one in enumerate(self.targets):
            found[:, at] = self._bases[asked.number][at]
            terms = layer(asked, member, one)
            if terms and not (centred(mechanism) and _even(terms)):
                mean = sum(weight * prod(float(one.mean()) for one in vectors) for weight, vectors in terms)
                votes = _votes(asked.family.cell(member), mechanism, terms, reports, self._tables)
                found[:, at] += (votes - mean * centred(mechanism)) / chance
        return found

    def by_share(self, answered: Mapping[Address, int]) -> "Scoring":
        """Return the same, with the share of people that a layer was really put to instead of its chance (Hajek).

        Where nobody was asked about a layer that matters there is no such share: then chances stay.
        """
        counts = {(address.slot, address.member): count for address, count in answered.items()}
        shares = []
        for slot in self.factor.slots:
            row = [counts.get((slot.number, member), 0) for member in range(len(slot.family))]
            needed = [any(layer(slot, member, one) for one in self.targets) for member in range(len(slot.family))]
            if any(need and not count for need, count in zip(needed, row, strict=True)):
                return self
            shares.append(tuple(count / sum(row) for count in row))
        return replace(self, shares=tuple(shares))

    @cached_property
    def _tables(self) -> "_Tables":
        return _Tables()

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}  # what was worked out is worked out again

    @cached_property
    def _bases(self) -> dict[int, list[float]]:
        """Return what every report of a slot says of each target whatever its layer."""
        first = self.factor.slots[0].number
        return {
            slot.number: [bases(slot, one) + (slot.number == first) * one.known for one in self.targets]
            for slot in self.factor.slots
        }

    def _slot(self, number: int) -> Slot:
        return self.factor.slots[number - self.factor.slots[0].number]


def centred(mechanism: PureMechanism) -> bool:
    """Return whether one report's votes for all cells of a layer sum to one."""
    return mechanism.noise.score_moments.centred


def _even(terms: Terms) -> bool:
    """Return whether all cells have the same coefficient: then a report says nothing that is not known."""
    return all((vector == vector[0]).all() for _, vectors in terms for vector in vectors)


def layer(asked: Slot, member: int, target: Target) -> Terms:
    """Return the terms of a target that a layer has a part in: their weights, and a vector for each axis."""
    group, levels = asked.levels(member)
    found = []
    for term in target.groups[group]:
        vectors = [axis[level] for axis, level in zip(term.axes, levels, strict=True)]
        used = [one for one in vectors if one is not None]
        if len(used) == len(vectors):
            found.append((term.weight, used))
    return found


def bases(asked: Slot, target: Target) -> float:
    """Return the sum over all layers of the mean of their coefficients, by group a product over axes."""
    if not centred(_pure(asked, 0)):
        return 0.0
    total = sum(_base(asked, group, term) for group, terms in enumerate(target.groups) for term in terms)
    return total - asked.family.first * _root(target)


def _base(asked: Slot, group: int, term: Term) -> float:
    sums = [
        sum(float(vector.mean()) for vector in (levels[level] for level in axis.levels) if vector is not None)
        for axis, levels in zip(asked.groups[group], term.axes, strict=True)
    ]
    return term.weight * prod(sums)


def _root(target: Target) -> float:
    """Return the coefficient of the layer that is left out."""
    roots = [(term.weight, [levels[0] for levels in term.axes]) for term in target.groups[0]]
    return sum(weight * prod(float(one[0]) for one in root if one is not None) for weight, root in roots if _all(root))


def _all(vectors: Sequence[Floats | None]) -> bool:
    return all(one is not None for one in vectors)


def _pure(asked: Slot, member: int) -> PureMechanism:
    mechanism = asked.family[member].mechanism
    assert isinstance(mechanism, PureMechanism)
    return mechanism


def _votes(cell: Cell, mechanism: PureMechanism, terms: Terms, reports: Reports, tables: _Tables) -> Floats:
    if not cell.aligned and len(terms) == 1 and type(mechanism) is AffineResponse:
        ((weight, (*slow, fast)),) = terms
        return mechanism.score_outer(reports, weight * reduce(np.multiply.outer, slow, np.ones(1)).ravel(), fast)
    if not cell.aligned:
        coefficients = sum(weight * reduce(np.multiply.outer, vectors).ravel() for weight, vectors in terms)
        return mechanism.score(reports, _filled(np.asarray(coefficients), mechanism))
    if isinstance(mechanism, AffineResponse):
        order = [place for place in cell.order if cell.bits[place]]
        scored = [
            weight
            * prod(float(vectors[place][0]) for place in cell.order if not cell.bits[place])
            * mechanism.score_product(reports, [tables(vectors[place]) for place in reversed(order)])
            for weight, vectors in terms
        ]
        return np.asarray(sum(scored))
    return mechanism.score_among(reports, *_used_cells(cell, terms))


def _used_cells(cell: Cell, terms: Terms) -> tuple[Ints, Floats]:
    """Return the cells of a large layer that any term has a coefficient for, and their sums."""
    numbers, coefficients = [], []
    for weight, vectors in terms:
        used = [np.flatnonzero(vectors[place]) for place in cell.order]
        values = [vectors[place][one] for place, one in zip(cell.order, used, strict=True)]
        sizes = [1 << cell.bits[place] for place in cell.order]
        scales = np.cumprod([1, *reversed(sizes[1:])])[::-1]
        numbers.append(reduce(np.add.outer, [one * scale for one, scale in zip(used, scales, strict=True)]).ravel())
        coefficients.append(weight * reduce(np.multiply.outer, values).ravel())
    cells, places = np.unique(np.concatenate(numbers), return_inverse=True)
    return np.asarray(cells), np.asarray(np.bincount(places, np.concatenate(coefficients), len(cells)), float)


def _filled(coefficients: Floats, mechanism: PureMechanism) -> Floats:
    """Return the coefficients, with a harmless one for a cell that nobody holds where a layer has a single cell."""
    if len(coefficients) == mechanism.size:
        return coefficients
    spare = coefficients.mean() if centred(mechanism) else 0.0
    return np.pad(coefficients, (0, mechanism.size - len(coefficients)), constant_values=spare)
