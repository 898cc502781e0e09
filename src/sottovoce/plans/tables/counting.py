"""How many people hold each value of a column, all values at once: the sums of reports are decoded once for all.

The total of a target is linear in the votes for a layer's cells, and so is the mean square of a score over people who
hold them: both come from the decoded votes of every layer, contracted with the coefficients of all values together.
Layers that are too large to be decoded have few reports each, which are scored.

Source: docs/affine-response.md; Xu 2020, section 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.noise import Noise
from sottovoce.errors import NoDataError
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.tables.layout import Asking, Factor, Slot
from sottovoce.plans.tables.planning import best_way
from sottovoce.plans.tables.scoring import Scoring, bases
from sottovoce.plans.tables.targets import Levels, Target, Wanted, target
from sottovoce.sql.query import Aggregate, Column, Query
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address


@dataclass(frozen=True, eq=False)
class Counts:
    """The totals of all values of a column and their variances."""

    totals: Floats
    variances: Floats


def counts(asking: Asking, collected: Collected, column: Column) -> Counts:
    """Return how many people, or records of a list, hold each value of a column."""
    study = _Study(asking, collected, column)
    if study.scores and not collected.report_counts(0):
        raise NoDataError("the layers of this table are too large for their sums: counts need the reports")
    users, totals = collected.users(0), np.zeros(len(study.targets))
    variances = np.zeros(len(study.targets))
    for slot in study.factor.slots:
        total, square = study.sums(slot)
        totals += total
        variances += square - total**2 / users
    if not asking.services.most(column.table) and len(study.factor.slots) == 1:  # squares of a condition sum to it
        variances -= np.maximum(0.0, totals - totals**2 / users)
    return Counts(totals, np.maximum(variances, 0.0))


@dataclass(frozen=True, eq=False)
class _Study:
    """The targets of all values of a column, and what the reports say about them."""

    asking: Asking
    collected: Collected
    column: Column

    @cached_property
    def factor(self) -> Factor:
        """Return the factor that has reports about the column."""
        return _factor(self.asking, self.column)

    @property
    def scores(self) -> bool:
        """Return whether some layer is too large to be decoded."""
        families = [slot.family for slot in self.factor.slots]
        return any(family.cell(member).aligned for family in families for member in family.representatives())

    @cached_property
    def targets(self) -> list[Target]:
        """Return the coefficients for every value."""
        size = self.asking.attributes(self.column.table)[self.column.place].size
        most = self.asking.services.most(self.column.table)
        weight = most / self.asking.rows[self.column.table] if most else 1.0
        query = Query((self.column.table,), (Aggregate("count", "count"),), group_by=(self.column,))
        way, held = best_way(self.asking, query), np.eye(size, dtype=bool)
        return [target(Wanted(self.factor, {self.column.place: one}, weight=weight), way) for one in held]

    def sums(self, slot: Slot) -> tuple[Floats, Floats]:
        """Return the sums over people of their scores in one slot, and of the squares of these."""
        first = slot is self.factor.slots[0]
        base = np.array([bases(slot, one) + first * one.known for one in self.targets])
        total, square = np.zeros(len(base)), np.zeros(len(base))
        for member in range(len(slot.family)):
            try:
                users, moved, spread = self._layer(slot, member, base)
            except NoDataError:
                continue  # nobody's coin fell there
            total += users * base + moved
            square += users * base**2 + 2 * base * moved + spread
        return total, square

    def _layer(self, slot: Slot, member: int, base: Floats) -> tuple[int, Floats, Floats]:
        """Return the people asked about a layer, and the sums of their scores and of the squares, bases apart."""
        if slot.family.cell(member).aligned:
            scores = np.concatenate(list(self._scored(slot, member))) - base
            return len(scores), scores.sum(axis=0), (scores**2).sum(axis=0)
        tally, mechanism = self.collected.tally(Address(0, member, slot.number)), slot.family[member].mechanism
        assert isinstance(mechanism, PureMechanism)
        found = self._coefficients(slot, member)
        if found is None:
            return tally.users, np.zeros(len(self.targets)), np.zeros(len(self.targets))
        place, own, others = found
        shape = [own.shape[1] if at == place else len(one) for at, one in enumerate(others)]
        votes = mechanism.estimate(tally).totals
        table = np.moveaxis(votes[: prod(shape)].reshape(shape), place, -1).reshape(-1, own.shape[1])
        rest = reduce(np.multiply.outer, [one for at, one in enumerate(others) if at != place], np.ones(()))
        total, square = _moments(own, rest.ravel(), table, mechanism.noise, tally.users)
        return tally.users, total / slot.chance(member), square / slot.chance(member) ** 2

    def _scored(self, slot: Slot, member: int) -> Iterator[Floats]:
        reports = self.collected.reports(Address(0, member, slot.number))
        return (self._scoring(slot.number, member, batch) for batch in reports)

    @cached_property
    def _scoring(self) -> Scoring:
        return Scoring(self.factor, tuple(self.targets))

    def _coefficients(self, slot: Slot, member: int) -> tuple[int, Floats, list[Floats]] | None:
        """Return the axis of the column, the coefficients of all values on it, and those of the other axes."""
        group, levels = slot.levels(member)
        place = next(at for at, axis in enumerate(slot.groups[group]) if axis.column == self.column.place)
        vectors = [axis[level] for axis, level in zip(self._term(0, group), levels, strict=True)]
        stack = [self._term(at, group)[place][levels[place]] for at in range(len(self.targets))]
        known = [one for one in stack if one is not None]
        others = [np.zeros(0) if one is None else one for one in vectors]
        if not known or any(one is None for at, one in enumerate(vectors) if at != place):
            return None
        own = np.stack([np.zeros(len(known[0])) if one is None else one for one in stack])
        share = self.targets[0].groups[group][0].weight
        return place, share * own, others

    def _term(self, value: int, group: int) -> tuple[Levels, ...]:
        return self.targets[value].groups[group][0].axes


def _moments(own: Floats, rest: Floats, votes: Floats, noise: Noise, users: int) -> tuple[Floats, Floats]:
    """Return the sums of people's votes for products of coefficients, means apart, and of their squares."""
    value, squared = own @ (rest @ votes), own**2 @ (rest**2 @ votes)
    squares = (own**2).sum(axis=1) * (rest**2).sum()
    law = noise.score_moments
    if not law.centred:
        return value, users * law.spread * squares + (law.held + 1) * squared
    cells, missing = votes.size, users - votes.sum()  # votes for padding, which nobody holds
    mean = own.sum(axis=1) * rest.sum() / cells
    moved = value + mean * missing - users * mean
    apart = squared + squares / cells * missing - 2 * mean * moved - users * mean**2
    return moved, users * law.spread * (squares - cells * mean**2) + (law.held + 1) * apart


def _factor(asking: Asking, column: Column) -> Factor:
    """Return the factor with reports about a column's values; those of its coin alone come after it."""
    return next(one for one in asking.factors if one.table == column.table and column.place in one.columns)
