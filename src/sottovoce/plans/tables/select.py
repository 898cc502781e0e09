"""Pass ``select``: Predictions -> QueryPlan.  The method with the least predicted error of the
first row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sottovoce.plans.tables.coefficients import Coefficients
from sottovoce.plans.tables.demand import Demand, Row, ScoreColumn, ScoreTotal
from sottovoce.plans.tables.layout import Layout
from sottovoce.plans.tables.method import Method
from sottovoce.plans.tables.predict import Prediction
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.plans.tables.source import Source
from sottovoce.sql.query import Query


@dataclass(frozen=True, eq=False)
class QueryPlan:
    """How a query is answered: what is scored and summed, by which coefficients, and what that
    promises.

    ``compared`` are the predictions that the chosen one was selected from.
    """

    prediction: Prediction
    compared: tuple[Prediction, ...] = ()

    @property
    def demand(self) -> Demand:
        """Return what the rows of the answer need."""
        return self.prediction.candidate.demand

    @property
    def method(self) -> Method:
        """Return the chosen method."""
        return self.prediction.candidate.method

    @property
    def layout(self) -> Layout:
        """Return how people are asked."""
        return self.demand.layout

    @property
    def query(self) -> Query:
        """Return the query as it is answered."""
        return self.demand.query

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the rows of the answer, for each public group."""
        return self.demand.rows

    @property
    def totals(self) -> tuple[ScoreTotal, ...]:
        """Return the sums over people."""
        return self.demand.totals

    def coefficients(self, score: ScoreColumn) -> Coefficients:
        """Return the coefficients of a column of scores."""
        return self.prediction.candidate.coefficients(score)

    def scoring(self, factor: int, columns: Sequence[int]) -> Scoring:
        """Return what scores the reports of a factor for some of its columns."""
        chosen = [self.coefficients(ScoreColumn(factor, column)) for column in columns]
        return Scoring(self.layout.factors[factor], tuple(chosen))

    @cached_property
    def scorings(self) -> dict[int, Scoring]:
        """Return what scores the reports of every factor for all its columns."""
        sums = self.demand.target_sums
        return {
            factor: self.scoring(factor, range(len(columns))) for factor, columns in sums.items()
        }

    @cached_property
    def variances(self) -> tuple[float, ...]:
        """Return the predicted variance of one person's part of every total."""
        return tuple(map(self.prediction.variance, self.totals))


def select(predictions: tuple[Prediction, ...], source: Source) -> QueryPlan:
    """Return the plan of least predicted error among those that compare reports with few enough
    cells.
    """
    options = predictions[0].candidate.demand.query.options
    limit = options.max_cells or source.layout.max_cells
    allowed = [each for each in predictions if not limit or each.cells <= limit] or [
        predictions[-1]
    ]
    chosen = (
        allowed[0] if len(allowed) == 1 else min(allowed, key=lambda prediction: prediction.cost)
    )
    return QueryPlan(chosen, predictions)
