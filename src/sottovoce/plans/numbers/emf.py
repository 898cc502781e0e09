"""EMF, the expectation-maximisation filter: honest values and false reports from one histogram.

Honest people randomise their value, so that the chances of outputs are a channel M times the
unknown shares x.  Whoever lies sends any output directly.  The filter fits both at once: x over the
values, and y over the outputs that may be poisoned, with x + y summing to 1.  With counts c of N
reports and the chances D of the outputs, one step is

    D_i = (M x)_i + y_i
    x_k <- x_k sum of c_i M_ik / D_i over i, / N        y_j <- y_j c_j / D_j / N

from equal entries 1 / (values + poisoned outputs).  The log-likelihood, the sum of c_i ln D_i,
never falls.  It is expectation maximisation over the channel (M | identity), so it runs on
``maths.em``; an output that starts with y = 0 keeps it.  If the ``share`` of false reports is
known, the step scales the two parts apart instead:

    x <- (1 - share) x / sum of x        y <- share y / sum of y

If every output may be poisoned, y can explain any histogram alone and nothing is learned about x:
that is refused.  If none may be, it is plain EM.

``y`` summed up estimates the share of false reports.  That is trustworthy at a small epsilon only:
honest reports are nearly uniform there.  At epsilon 2 clean reports look as if a third were false.

Source: Du 2025, sections 6.2.1 (algorithm 6) and 6.3.2 (theorem 13), corrected.
"""

from dataclasses import dataclass, replace
from math import exp

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.errors import MismatchError, NoDataError, ParameterError
from sottovoce.maths.em import (
    Channel,
    Iterate,
    Iteration,
    MStep,
    in_proportion,
    likelihood_gain_below,
    normalised,
    smoothed,
)
from sottovoce.mechanisms.square_wave import TOLERANCE

MAX_STEPS = 10_000
_GAIN = 0.01  # of log-likelihood, times e^epsilon, below which a fit stops


@dataclass(frozen=True, eq=False)
class OutputCounts:
    """How often every output was reported: (collections, outputs), a row for each collection.

    ``channel`` holds the chances of outputs under each of ``size`` values.  ``epsilon`` is that of
    one report.
    """

    counts: Floats
    channel: Channel
    size: int
    epsilon: float

    def __post_init__(self) -> None:
        if self.counts.ndim != 2:
            raise MismatchError("`counts` must have a row for each collection")
        if not (self.counts.sum(axis=1) > 0).all():
            raise NoDataError("every row of counts needs a report")

    @property
    def reports(self) -> Floats:
        """Return how many reports every row has."""
        return np.asarray(self.counts.sum(axis=1), np.float64)

    @property
    def outputs(self) -> int:
        """Return how many outputs there are."""
        return int(self.counts.shape[1])

    @property
    def tolerance(self) -> float:
        """Return the gain per report below which a fit stops: 0.01 e^epsilon for all of them."""
        return min(_GAIN * exp(self.epsilon) / float(self.reports.max()), 0.5)

    def rows(self, indices: Ints) -> "OutputCounts":
        """Return some of the rows; one may be taken several times."""
        return replace(self, counts=self.counts[indices])

    def without(self, poison: Floats) -> "OutputCounts":
        """Return the counts without false reports, given as (rows, outputs) shares of reports."""
        remaining = self.counts - self.reports[:, None] * poison
        return replace(self, counts=np.maximum(remaining, 0.0))


@dataclass(frozen=True, eq=False)
class Filtered:
    """The result of a filter for every row.

    ``honest`` are the shares of values, and ``poison`` are the shares of false reports by output.
    Both are shares of all reports.  The log-likelihood is summed over all reports of a row.
    """

    honest: Floats
    poison: Floats
    log_likelihood: Floats
    iterations: Ints
    converged: Bools

    @property
    def share(self) -> Floats:
        """Return the estimated share of false reports, for every row."""
        return np.asarray(self.poison.sum(axis=1))

    @property
    def distribution(self) -> Floats:
        """Return how honest people are distributed over the values, for every row."""
        return in_proportion(self.honest)


@dataclass(frozen=True)
class PoisonedChannel:
    """The channel of honest values, and beside it one column for every output: (M | identity)."""

    honest: Channel
    size: int

    def forward(self, frequencies: Floats) -> Floats:
        chances = self.honest.forward(frequencies[..., : self.size])
        chances += frequencies[..., self.size :]
        return chances

    def backward(self, weights: Floats) -> Floats:
        return np.concatenate([self.honest.backward(weights), weights], axis=-1)


def emf(
    observed: OutputCounts,
    poisoned: Bools,
    *,
    share: Floats | None = None,
    tolerance: float | None = None,
    max_steps: int = MAX_STEPS,
) -> Filtered:
    """Return honest values and false reports, where (rows, outputs) ``poisoned`` outputs may be so.

    ``share`` fixes the share of false reports of every row.  The fit stops when a step gains less
    than ``tolerance`` of log-likelihood per report (default: as in the source).

    >>> from sottovoce.mechanisms.square_wave import SquareWave
    >>> wave = SquareWave(epsilon=1.0, size=4)
    >>> counts = np.array([[30.0, 20.0, 25.0, 15.0, 10.0, 100.0]])
    >>> observed = OutputCounts(counts, wave.sliding, 4, 1.0)
    >>> emf(observed, np.arange(6)[None] == 5).share.round(3).tolist()
    [0.443]
    """
    _check_poisoned(observed, poisoned)
    honest = np.ones((len(poisoned), observed.size))
    start = in_proportion(np.concatenate([honest, poisoned], axis=1))
    m_step: MStep = normalised
    if share is not None:
        _check_share(share, poisoned)
        m_step = _Pinned(observed.size)
        start = m_step.scaled(start, share[:, None])
    channel = PoisonedChannel(observed.channel, observed.size)
    stop = likelihood_gain_below(observed.tolerance if tolerance is None else tolerance)
    iteration = Iteration(channel, stop, max_steps, m_step)
    fit = iteration.run(observed.counts / observed.reports[:, None], start)
    return Filtered(
        fit.frequencies[:, : observed.size],
        fit.frequencies[:, observed.size :],
        fit.log_likelihood * observed.reports,
        fit.iterations,
        fit.converged,
    )


def unfiltered(observed: OutputCounts, *, smooth: bool = False) -> Filtered:
    """Return plain expectation maximisation, which takes all reports for honest ones.

    With ``smooth`` it is EMS, which settles at a fixed point and is not stopped early.
    """
    m_step = smoothed if smooth else normalised
    stop = likelihood_gain_below(TOLERANCE if smooth else observed.tolerance)
    iteration = Iteration(observed.channel, stop, MAX_STEPS, m_step)
    start = np.full((len(observed.counts), observed.size), 1 / observed.size)
    fit = iteration.run(observed.counts / observed.reports[:, None], start)
    return Filtered(
        fit.frequencies,
        np.zeros(observed.counts.shape),
        fit.log_likelihood * observed.reports,
        fit.iterations,
        fit.converged,
    )


@dataclass(frozen=True)
class _Pinned:
    """The step that keeps the share of false reports, the entries from ``size`` on."""

    size: int

    def __call__(self, before: Iterate, expected: Floats) -> Floats:
        share = before.frequencies[:, self.size :].sum(axis=1, keepdims=True)
        return self.scaled(expected, share)

    def scaled(self, amounts: Floats, share: Floats) -> Floats:
        """Return frequencies with this share of false reports in every row.

        A row whose poisoned outputs were never reported has no false reports.
        """
        poison = amounts[:, self.size :]
        total = poison.sum(axis=1, keepdims=True)
        share = np.where(total > 0, share, 0.0)
        honest = (1 - share) * in_proportion(amounts[:, : self.size])
        return np.concatenate([honest, share * poison / np.where(total > 0, total, 1.0)], axis=1)


def _check_poisoned(observed: OutputCounts, poisoned: Bools) -> None:
    if poisoned.shape != observed.counts.shape:
        raise MismatchError("`poisoned` must have one entry for every entry of the counts")
    if poisoned.all(axis=1).any():
        raise ParameterError(
            "`poisoned` must leave out an output: if all may be poisoned, nothing can be learned"
        )


def _check_share(share: Floats, poisoned: Bools) -> None:
    if share.shape != poisoned.shape[:1] or not ((share > 0) & (share < 1)).all():
        raise ParameterError("`share` must hold a number above 0 and below 1 for every row")
    if not poisoned.any(axis=1).all():
        raise ParameterError("`share` of false reports needs outputs that may be poisoned")
