"""InpEM: everybody reports all attributes, each with a part of the budget; EM joins them to tables.

A baseline.  It has no guarantee of accuracy.  With many attributes or a small epsilon the iteration
stops where it started; then ``failed`` says so, and the table is next to uniform.

Source: Cormode 2018, section 4.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.encodings.view import View as CellEncoding
from sottovoce.lab.baselines.product_response import ProductResponse
from sottovoce.maths.em import Dense, Fit, Iteration, change_below
from sottovoce.plans.marginals.marginal_table import MarginalTable, View, shape_of
from sottovoce.postprocess.norm_sub import norm_sub
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Question

TOLERANCE = 1e-5  # the iteration stops when no cell changes by so much
MAX_STEPS = 200_000
REPLICATES = 40
_UNIFORM_PART = 0.001  # of a warm start: a cell that starts at 0 would stay there


def ask_record(epsilon: float, sizes: tuple[int, ...]) -> Question:
    """Return the question about the whole record, the budget split over its attributes."""
    mechanism = ProductResponse(epsilon, prod(sizes), sizes)
    return Question(mechanism, CellEncoding(tuple(range(len(sizes))), sizes))


@dataclass(frozen=True, eq=False)
class InputEM:
    """The reported records, each once, and how often each was reported.

    ``warm`` starts the iteration from the inverted channel instead of the uniform table.
    """

    mechanism: ProductResponse
    columns: tuple[Ints, ...]
    times: Ints
    warm: bool = False

    @classmethod
    def read(cls, collected: Collected) -> "InputEM":
        """Return the records of a collection of one round."""
        mechanism = collected.rounds[0].question(Address()).mechanism
        assert isinstance(mechanism, ProductResponse)
        if mechanism.has_tally:
            counts = collected.tally(Address())["records"]
            records = np.flatnonzero(counts)
            times = counts[counts > 0]
        else:
            reports = np.concatenate(list(collected.reports(Address())))
            records, times = np.unique(reports, return_counts=True)
        return cls(mechanism, tuple(mechanism.split(records)), times)

    @property
    def users(self) -> int:
        return int(self.times.sum())

    def fit(self, view: View) -> Fit:
        """Return the table of a view that explains the reports best, as one row."""
        return maximise(self.observed(view)[None], self.channels(view), warm=self.warm)

    def unbiased(self, view: View) -> MarginalTable:
        """Return the same table: the method has no unbiased one."""
        return self.table(view)

    def table(self, view: View) -> MarginalTable:
        """Return the table of a view; its covariance is the spread of replicates of the reports."""
        observed = self.observed(view)
        generator = np.random.default_rng(0)  # the same errors whenever an answer is read
        replicates = generator.multinomial(self.users, observed, REPLICATES) / self.users
        rows = np.vstack([observed, replicates])
        fit = maximise(rows, self.channels(view), warm=self.warm)
        shares = fit.frequencies
        errors = shares[1:] - shares[0]
        covariance = errors.T @ errors / REPLICATES
        table = shares[0].reshape(shape_of(self.mechanism.sizes, view))
        return MarginalTable(view, table, covariance, (_step_text(fit),))

    def observed(self, view: View) -> Floats:
        """Return the shares of the reported cells of a view."""
        cells = np.zeros(len(self.times), np.int64)
        for attribute in view:
            cells = cells * self.mechanism.sizes[attribute] + self.columns[attribute]
        counts = np.bincount(cells, self.times, prod(shape_of(self.mechanism.sizes, view)))
        return np.asarray(counts / self.users)

    def channels(self, view: View) -> list[Floats]:
        """Return the channels of the attributes of a view."""
        return [self.mechanism.channels[attribute] for attribute in view]


def failed(fit: Fit) -> bool:
    """Return whether the iteration of the first row stopped where it started."""
    return int(fit.iterations[0]) == 1


def maximise(observed: Floats, channels: Sequence[Floats], *, warm: bool = False) -> Fit:
    """Return the distribution behind every row of observed shares."""
    product = np.ones((1, 1))
    for channel in channels:
        product = np.kron(product, channel).astype(np.float64)
    start = np.full(observed.shape, 1 / observed.shape[1])
    if warm:
        inverted = norm_sub(observed @ np.linalg.inv(product).T)
        start = (1 - _UNIFORM_PART) * inverted + _UNIFORM_PART * start
    iteration = Iteration(Dense(product), change_below(TOLERANCE), MAX_STEPS)
    return iteration.run(observed, start)


def _step_text(fit: Fit) -> str:
    step = "expectation maximisation"
    if failed(fit):
        return f"{step} (failed: stopped at its start)"
    return f"{step} ({int(fit.iterations[0]):,} steps)"
