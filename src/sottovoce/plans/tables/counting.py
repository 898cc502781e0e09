"""How many people hold each value of a column, all values at once: the sums of reports are decoded
once.

Totals and squares come from the decoded votes of every layer (``decoding``), one layer after
another: what is collected bounds how many tallies are in memory together.

Source: docs/affine-response.md; Xu 2020, section 3.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.influence import CellInfluences, StatedInfluence
from sottovoce.errors import NoDataError
from sottovoce.plans.tables.coefficients import Coefficients
from sottovoce.plans.tables.decoding import Decoding
from sottovoce.plans.tables.demand import ScoreColumn
from sottovoce.plans.tables.influence import score_influence
from sottovoce.plans.tables.layout import Factor, Layout
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.predict import quiet_variance
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.query import Column, GroupBy, Query
from sottovoce.tasks.collected import Collected


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """The totals of all values of a column, their variances, and what one message does to them."""

    totals: Floats
    variances: Floats
    influence: StatedInfluence


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
        sums = study.decoding.sums(slot)
        totals += sums.scores
        variances += sums.products - sums.scores**2 / users
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

    @cached_property
    def decoding(self) -> Decoding:
        """Return what decodes the scores of all values, and their squares."""
        numbers = np.arange(len(self.coefficients))
        scoring = Scoring(self.factor, tuple(self.coefficients))
        return Decoding(scoring, np.stack([numbers, numbers], axis=1), self.collected)
