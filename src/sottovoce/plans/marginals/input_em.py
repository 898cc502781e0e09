"""InpEM: everybody reports all attributes, each with a part of the budget; expectation maximisation joins them.

A baseline.  It has no guarantee, and with many attributes or a small epsilon it stops where it started: then ``failed``
is said, and the table is next to uniform.

Source: Cormode 2018, section 4.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.encodings.view import View as Cell
from sottovoce.mechanisms.product import Product
from sottovoce.plans.marginals.tables import Table, View
from sottovoce.postprocess.norm_sub import norm_sub
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Question

CHANGE = 1e-5  # of any cell, below which the iteration stops
MOST = 200_000
REPLICATES = 40
_COLD = 0.001  # how much of the uniform start is left in a warm one: a cell at zero would stay there


def ask(epsilon: float, sizes: tuple[int, ...]) -> Question:
    """Return the question for the whole record, the budget split over its attributes."""
    return Question(Product(epsilon, prod(sizes), sizes), Cell(tuple(range(len(sizes))), sizes))


@dataclass(frozen=True, eq=False)
class Climbed:
    """A table, the steps it took, and whether the first of them already was the last."""

    shares: Floats
    steps: int

    @property
    def failed(self) -> bool:
        """Return whether the iteration stopped where it started."""
        return self.steps == 1


@dataclass(frozen=True, eq=False)
class InputEM:
    """The records that were reported, each once, and how often."""

    mechanism: Product
    columns: tuple[Ints, ...]
    times: Ints
    warm: bool = False

    @classmethod
    def read(cls, collected: Collected, *, warm: bool = False) -> "InputEM":
        """Return the records of a collection of one round."""
        mechanism = collected.rounds[0].question(Address()).mechanism
        assert isinstance(mechanism, Product)
        if mechanism.has_tally:
            counts = collected.tally(Address())["records"]
            records, times = np.flatnonzero(counts), counts[counts > 0]
        else:
            records, times = np.unique(np.concatenate(list(collected.reports(Address()))), return_counts=True)
        return cls(mechanism, tuple(mechanism.digits(records)), times, warm)

    @property
    def users(self) -> int:
        return int(self.times.sum())

    def climb(self, view: View) -> Climbed:
        """Return the table of a view that explains the reports best, from the uniform one or an unbiased start."""
        shares, steps = climbed(self._observed(view)[None], self._channels(view), warm=self.warm)
        return Climbed(shares[0], int(steps[0]))

    def table(self, view: View) -> Table:
        """Return the table of a view; its covariance is the spread of replicates of the reports."""
        shape, observed = tuple(self.mechanism.sizes[one] for one in view), self._observed(view)
        dice = np.random.default_rng(0)  # errors do not change when an answer is read again
        drawn = dice.multinomial(self.users, observed, REPLICATES) / self.users
        shares, steps = climbed(np.vstack([observed, drawn]), self._channels(view), warm=self.warm)
        errors, step = shares[1:] - shares[0], "expectation maximisation"
        said = f"{step} (failed: stopped at its start)" if steps[0] == 1 else f"{step} ({steps[0]:,} steps)"
        return Table(view, shares[0].reshape(shape), errors.T @ errors / REPLICATES, (said,))

    def _observed(self, view: View) -> Floats:
        """Return the shares of the reported cells of a view."""
        cells = np.zeros(len(self.times), np.int64)
        for one in view:
            cells = cells * self.mechanism.sizes[one] + self.columns[one]
        counts = np.bincount(cells, self.times, prod(self.mechanism.sizes[one] for one in view))
        return np.asarray(counts / self.users)

    def _channels(self, view: View) -> list[Floats]:
        return [self.mechanism.channels[one] for one in view]


def climbed(observed: Floats, channels: Sequence[Floats], *, warm: bool = False) -> tuple[Floats, Ints]:
    """Return the distribution behind every row of observed shares, and the steps it took; each row stops by itself.

    A warm start inverts the channel first.
    """
    whole = np.ones((1, 1))
    for channel in channels:
        whole = np.kron(whole, channel).astype(np.float64)
    shares = np.full(observed.shape, 1 / observed.shape[1])
    if warm:
        inverted = norm_sub(observed @ np.linalg.inv(whole).T)
        shares = (1 - _COLD) * inverted + _COLD * shares
    steps, left = np.zeros(len(observed), np.int64), np.arange(len(observed))
    while len(left) and steps.max() < MOST:
        now = shares[left]
        climbing = now * ((observed[left] / (now @ whole.T)) @ whole)
        shares[left] = climbing
        steps[left] += 1
        left = left[np.abs(climbing - now).max(axis=1) >= CHANGE]
    return shares, steps
