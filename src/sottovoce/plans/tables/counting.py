"""How many people hold each value of a column, all values at once: the sums of reports are decoded
once.

A total is linear in the votes for the cells of a layer, and so is the mean square of a score over
the people who hold the cells.  Both come from the decoded votes of every layer, contracted with the
coefficients of all values together.  Layers that are too large to be decoded have few reports each,
which are scored one by one.

Source: docs/affine-response.md; Xu 2020, section 3.
"""

from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.influence import CellInfluences, StatedInfluence
from sottovoce.core.noise import Noise
from sottovoce.errors import NoDataError
from sottovoce.plans.tables.coefficients import Coefficients
from sottovoce.plans.tables.demand import ScoreColumn
from sottovoce.plans.tables.influence import score_influence
from sottovoce.plans.tables.layout import Factor, Layout, Slot
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.predict import quiet_variance
from sottovoce.plans.tables.scoring import Scoring, layer_means
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.query import Column, GroupBy, Query
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """The totals of all values of a column, their variances, and what one message does to them."""

    totals: Floats
    variances: Floats
    influence: StatedInfluence


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of the scores of some people and of their squares, an entry per value of the column."""

    users: int
    scores: Floats
    squares: Floats


def counts(layout: Layout, collected: Collected, column: Column) -> ColumnCounts:
    """Return how many people, or records of a list, hold each value of a column."""
    study = _Study(layout, collected, column)
    if study.needs_reports and not collected.report_counts(0):
        raise NoDataError(
            "the layers of this table are too large for their sums: counts need the reports"
        )
    users = collected.users(0)
    totals = np.zeros(len(study.coefficients))
    variances = np.zeros(len(study.coefficients))
    least = np.zeros(len(study.coefficients))
    for slot in study.factor.slots:
        sums = study.slot_sums(slot)
        totals += sums.scores
        variances += sums.squares - sums.scores**2 / users
        least += [users * quiet_variance(slot, column) for column in study.coefficients]
    if not layout.tables.most(column.table) and len(study.factor.slots) == 1:
        # The squares of a condition sum to its count, which is not noise.
        variances -= np.maximum(0.0, totals - totals**2 / users)
    return ColumnCounts(totals, np.maximum(variances, least), study.influence)


@dataclass(frozen=True, eq=False)
class _Study:
    """The coefficients of all values of a column, and what the reports say about them."""

    layout: Layout
    collected: Collected
    column: Column

    @cached_property
    def plan(self) -> QueryPlan:
        """Return the plan of a count for every value."""
        query = Query(
            (self.column.table,), (Count("count"),), group_by=(GroupBy(self.column, "value"),)
        )
        return plan_query(query, Source(self.layout))

    @cached_property
    def _scores(self) -> list[ScoreColumn]:
        """Return the score of every value: each count is one product of one score."""
        totals = [self.plan.totals[row.numbers[0].totals[0]] for row in self.plan.rows]
        return [total.products[0].scores[0] for total in totals]

    @cached_property
    def factor(self) -> Factor:
        """Return the factor with reports about the column."""
        return self.layout.factors[self._scores[0].factor]

    @cached_property
    def coefficients(self) -> list[Coefficients]:
        """Return the coefficients of every value."""
        return [self.plan.coefficients(score) for score in self._scores]

    @property
    def influence(self) -> StatedInfluence:
        """Return the influence of one message on the count of every value."""
        checked = self.collected.coins_checked
        influences = CellInfluences.listed(
            [
                score_influence(self.factor, column, coins_checked=checked)
                for column in self.coefficients
            ]
        )
        return StatedInfluence(influences.up, influences.down, influences.stands_for)

    @property
    def needs_reports(self) -> bool:
        """Return whether some layer is too large to be decoded."""
        families = [slot.family for slot in self.factor.slots]
        return any(
            family.cell(member).aligned
            for family in families
            for member in family.representatives()
        )

    def slot_sums(self, slot: Slot) -> _Sums:
        """Return the sums over everybody of their scores in one slot."""
        constant = np.array([layer_means(slot, column) for column in self.coefficients])
        if slot is self.factor.slots[0]:
            constant += np.array([column.known for column in self.coefficients])
        users = 0
        scores, squares = np.zeros(len(constant)), np.zeros(len(constant))
        for member in range(len(slot.family)):
            try:
                layer = self._layer_sums(slot, member, constant)
            except NoDataError:
                continue  # nobody was asked about this layer
            users += layer.users
            scores += layer.users * constant + layer.scores
            squares += layer.users * constant**2 + 2 * constant * layer.scores + layer.squares
        return _Sums(users, scores, squares)

    def _layer_sums(self, slot: Slot, member: int, constant: Floats) -> _Sums:
        """Return the sums over the people asked about a layer, the constant part of their scores
        left out.
        """
        if slot.cell(member).aligned:
            reports = self.collected.reports(Address(0, member, slot.number))
            scored = (
                np.concatenate([self._scoring(slot.number, member, batch) for batch in reports])
                - constant
            )
            return _Sums(len(scored), scored.sum(axis=0), (scored**2).sum(axis=0))
        tally = self.collected.tally(Address(0, member, slot.number))
        mechanism = slot.mechanism(member)
        vectors = self._layer_vectors(slot, member)
        if vectors is None:
            nothing = np.zeros(len(self.coefficients))
            return _Sums(tally.users, nothing, nothing)
        votes = mechanism.estimate(tally).totals
        sums = _contracted(vectors, votes, mechanism.noise, tally.users)
        chance = slot.chance(member)
        return _Sums(tally.users, sums.scores / chance, sums.squares / chance**2)

    @cached_property
    def _scoring(self) -> Scoring:
        return Scoring(self.factor, tuple(self.coefficients))

    def _layer_vectors(self, slot: Slot, member: int) -> "_LayerVectors | None":
        """Return the coefficients of all values in one layer.

        None if it has no part in any of them.
        """
        group, levels = slot.levels(member)
        axes = slot.groups[group]
        own = next(index for index, axis in enumerate(axes) if axis.column == self.column.index)
        terms = [column.groups[group][0] for column in self.coefficients]
        stacked = [term.axes[own][levels[own]] for term in terms]
        known = [vector for vector in stacked if vector is not None]
        others = [axis[level] for axis, level in zip(terms[0].axes, levels, strict=True)]
        others[own] = np.zeros(0)
        used = [vector for vector in others if vector is not None]
        if not known or len(used) < len(others):
            return None
        rows = [np.zeros(len(known[0])) if vector is None else vector for vector in stacked]
        weight = terms[0].weight * self.coefficients[0].scale(member)
        return _LayerVectors(own, weight * np.stack(rows), used)


@dataclass(frozen=True, eq=False)
class _LayerVectors:
    """The coefficients of all values of a column in one layer: (values, nodes) on its own axis,
    alike on the others.
    """

    axis: int
    own: Floats
    others: list[Floats]  # a vector per axis; that of the own axis is not used

    def table(self, votes: Floats) -> Floats:
        """Return the votes as (cells of the other axes, nodes of the own axis)."""
        nodes = self.own.shape[1]
        shape = [
            nodes if axis == self.axis else len(vector) for axis, vector in enumerate(self.others)
        ]
        grid = votes[: prod(shape)].reshape(shape)
        return np.moveaxis(grid, self.axis, -1).reshape(-1, nodes)

    @property
    def rest(self) -> Floats:
        """Return the coefficients of the cells of the other axes."""
        vectors = [vector for axis, vector in enumerate(self.others) if axis != self.axis]
        return np.asarray(reduce(np.multiply.outer, vectors, np.ones(()))).ravel()


def _contracted(vectors: _LayerVectors, votes: Floats, noise: Noise, users: int) -> _Sums:
    """Return the sums of people's votes, means left out, and of their squares."""
    own, rest, table = vectors.own, vectors.rest, vectors.table(votes)
    value = own @ (rest @ table)
    squared = own**2 @ (rest**2 @ table)
    squares = (own**2).sum(axis=1) * (rest**2).sum()
    law = noise.score_moments
    if not law.centred:
        return _Sums(users, value, users * law.spread * squares + (law.held + 1) * squared)
    cells = table.size
    missing = users - table.sum()  # votes for the padding, which nobody holds
    mean = own.sum(axis=1) * rest.sum() / cells
    scores = value + mean * missing - users * mean
    apart = squared + squares / cells * missing - 2 * mean * scores - users * mean**2
    return _Sums(
        users, scores, users * law.spread * (squares - cells * mean**2) + (law.held + 1) * apart
    )
