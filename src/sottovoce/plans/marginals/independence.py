"""Are two attributes independent?  A test that knows how noisy the table is.

Pearson's statistic takes a table's noise for dependence: it rejects most independent pairs.  Here the deviations from
independence are weighed by their own covariance (Wald), noise of reports and sampling of people included.  Pearson's is
kept beside it as the counter-example that it is.  On independent pairs the test rejects 4 to 6 % at a level of 5 %
(2,500 collections each); of tables that CALM made consistent a little more, so it reads the ones that were reported.

Source: Cormode 2018, section 6.1.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.arrays import Floats
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.tables import Table
from sottovoce.postprocess.norm_sub import norm_sub

_SMALLEST = 1e-12
_NOTHING = 1e-8  # a deviation that only comes from where an iteration stops


@dataclass(frozen=True)
class Dependence:
    """A statistic with its degrees of freedom and the chance to see as much under independence.

    ``naive`` is Pearson's statistic, which does not know about the noise: never a test.
    """

    statistic: float
    degrees: int
    p_value: float
    naive: float

    def rejects(self, level: float = 0.05) -> bool:
        """Return whether independence is rejected at a level."""
        return self.p_value < level

    @property
    def remark(self) -> str:
        """Return the verdict at a level of 5 % in a sentence."""
        chance = f"p = {self.p_value:.2g}" if self.p_value >= 0.0001 else "p < 0.0001"
        verdict = "These attributes are dependent" if self.rejects() else "There is no sign that they are dependent"
        freedom = f"{self.degrees} degree{'s' if self.degrees > 1 else ''} of freedom"
        test = f"a test that knows how noisy the table is, statistic {self.statistic:.3g} with {freedom}"
        return f"{verdict} ({chance}): {test}."


def dependence(table: Table, users: int) -> Dependence:
    """Return what a table of two attributes says about their independence, before any step that biased it."""
    if len(table.view) != 2:
        raise ParameterError("independence is tested between two attributes")
    shares, covariance = _whole(table.raw or table)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    apart = shares - np.outer(rows, columns)
    if table.steps and not table.raw and np.abs(apart).max() < _NOTHING:
        raise NoDataError("no report says anything about these attributes together: they were taken to be independent")
    slopes = _slopes(rows, columns)
    together = slopes @ (covariance + _sampling(shares, users)) @ slopes.T
    kept = [row * shares.shape[1] + column for row in range(len(rows) - 1) for column in range(len(columns) - 1)]
    statistic = _weighed(apart.ravel()[kept], together[np.ix_(kept, kept)])
    chance = float(optional("scipy.special", "server").chdtrc(len(kept), statistic))
    return Dependence(statistic, len(kept), chance, pearson(shares, users))


def pearson(shares: Floats, users: int) -> float:
    """Return Pearson's statistic of a table brought to the simplex, in counts of people."""
    possible = np.maximum(norm_sub(shares.ravel()).reshape(shares.shape), _SMALLEST)
    expected = np.outer(possible.sum(axis=1), possible.sum(axis=0)) / possible.sum()
    return float(users * ((possible - expected) ** 2 / expected).sum())


def _whole(table: Table) -> tuple[Floats, Floats]:
    """Return the shares and their covariance once the same is added to all cells so that they sum to 1."""
    cells = table.shares.size
    centred = np.eye(cells) - 1 / cells
    return table.shares + (1 - table.shares.sum()) / cells, centred @ table.covariance @ centred


def _weighed(found: Floats, covariance: Floats) -> float:
    try:
        return float(found @ np.linalg.solve(covariance, found))
    except np.linalg.LinAlgError:
        raise NoDataError("independence needs two attributes that take at least two values each") from None


def _slopes(rows: Floats, columns: Floats) -> Floats:
    """Return (cells, cells): how p_ij - p_i p_j moves with every cell of the table."""
    first, second = len(rows), len(columns)
    own = np.eye(first * second)
    row, column = np.kron(np.eye(first), np.ones((1, second))), np.kron(np.ones((1, first)), np.eye(second))
    by_row = np.kron(np.eye(first), columns[:, None]) @ row
    by_column = np.kron(rows[:, None], np.eye(second)) @ column
    return np.asarray(own - by_row - by_column)


def _sampling(shares: Floats, users: int) -> Floats:
    """Return the covariance of the shares of people who were drawn themselves."""
    possible = np.clip(shares.ravel(), 0, 1)
    return np.asarray((np.diag(possible) - np.outer(possible, possible)) / users)
