"""MAX(column): beyond which value the reports show nobody.

Single people cannot be seen.  So values are tested one after the other, from the far end on: how
many records are at this value or beyond it?  The first value that nobody seems to be beyond is the
answer.  The interval reaches from the end of the column's range to the last value beyond which
there are certainly some records: tests in a fixed order keep their level together.
"""

from collections.abc import Sequence
from math import nan

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.sql.aggregates.base import Combination, Moment
from sottovoce.sql.aggregates.quantile import Quantile

SOMEBODY = 0.5  # records that are more than none


class Max(Quantile):
    """The largest value, as far as reports can tell."""

    sql_names = ("MAX",)
    constant_count = 0
    extreme_share = 1.0
    formula = "the last value beyond which records are counted"
    notice = (
        "MIN and MAX: a few people at the ends of a column cannot be seen, so the interval reaches "
        "to the end of its range; QUANTILE(column, 0.01) is more certain"
    )

    @property
    def moments(self) -> tuple[Moment, ...]:
        """Return how many records have every value or one beyond it.

        All records are at the first value or beyond it.  So the first value of a private column is
        left out, unless the count of all records is wanted.
        """
        return tuple(
            Moment(self._terms(f"beyond {point!r}", self._beyond(point), 0.0))
            for point in self.steps[self._left_out :].tolist()
        )

    @property
    def steps(self) -> Floats:
        """Return the values from the one that everybody is at or beyond to the far end."""
        return self.points

    def _beyond(self, point: float) -> Bools:
        return np.asarray(self.numbers >= point)

    @property
    def _left_out(self) -> int:
        return 0 if self._has_count else 1

    def _last(self, somebody: Bools) -> float:
        """Return the last value that somebody is at or beyond, with nobody missing before it."""
        return float(self.steps[max(0, _run(somebody) - 1 + self._left_out)])

    def combine(self, totals: Sequence[float]) -> Combination:
        if not any(totals):
            return Combination(nan, None)
        return Combination(self._last(np.array(totals) > SOMEBODY), None)

    def bounds(
        self, totals: Sequence[float], covariance: Floats, reach: float
    ) -> tuple[float, float]:
        errors = reach * np.sqrt(np.maximum(0.0, np.diag(covariance)))
        certain = self._last(np.array(totals) - errors > SOMEBODY)
        end = float(self.steps[-1]) if errors.any() else certain
        return min(certain, end), max(certain, end)


def _run(passed: Bools) -> int:
    """Return how many tests are passed before the first that is not."""
    return len(passed) if passed.all() else int(np.argmin(passed))
