"""Expectation maximisation: the distribution that best explains a histogram of randomised outputs.

One step multiplies every frequency by the mean of observed / expected over the outputs of its
value:

    frequencies *= channel' (observed / (channel frequencies))

Plain EM climbs to the maximum of the likelihood, which fits the noise as well: stop it early, or
use it for spiky shapes and a large epsilon.  EMS smooths after every step and settles at a fixed
point, which is not the maximum; use it for smooth shapes.  A step costs one pass over the channel,
whatever the number of users.

Source: Li et al. 2020.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.errors import MismatchError, NoDataError, ParameterError

TOLERANCE = 1e-7  # of the log-likelihood of one report
MAX_STEPS = 10_000


@runtime_checkable
class Channel(Protocol):
    """The chances of outputs under values, as a linear map on the last axis."""

    def forward(self, frequencies: Floats) -> Floats:
        """Return (..., outputs): the chance of every output."""

    def backward(self, weights: Floats) -> Floats:
        """Return (..., size): the mean weight of the outputs of every value."""


@dataclass(frozen=True, eq=False)
class Dense:
    """A channel written out as an (outputs, size) matrix."""

    matrix: Floats

    def forward(self, frequencies: Floats) -> Floats:
        return np.asarray(frequencies @ self.matrix.T)

    def backward(self, weights: Floats) -> Floats:
        return np.asarray(weights @ self.matrix)


@dataclass(frozen=True)
class Sliding:
    """The channel of Square Wave.

    The ``window`` outputs from the value's own on have the chance ``inside``, all others
    ``outside``. Prefix sums make both products cost one pass over values and outputs.
    """

    inside: float
    outside: float
    window: int

    def forward(self, frequencies: Floats) -> Floats:
        return self._mixed(_padded(frequencies, self.window, self.window - 1))

    def backward(self, weights: Floats) -> Floats:
        return self._mixed(_padded(weights, 1, 0))

    def _mixed(self, padded: Floats) -> Floats:
        sums = padded.cumsum(axis=-1)
        windows = sums[..., self.window :] - sums[..., : -self.window]
        return np.asarray(self.outside * sums[..., -1:] + (self.inside - self.outside) * windows)


@dataclass(frozen=True, eq=False)
class Fit:
    """Where the iteration ended, for every row.

    The log-likelihood is that of all reports of a row together.
    """

    frequencies: Floats
    log_likelihood: Floats
    largest_change: Floats
    iterations: Ints
    converged: Bools


def em(
    counts: Ints,
    channel: Channel | Floats,
    *,
    smooth: bool,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
) -> Fit:
    """Return the frequencies behind (..., outputs) counts, from a uniform start.

    Every row is fitted by itself.

    A row stops when the log-likelihood per report changes by less than ``tolerance``.

    >>> channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> fit = em(np.array([60, 40]), channel, smooth=False, tolerance=1e-12)
    >>> fit.frequencies.round(3).tolist(), bool(fit.converged)
    ([0.7, 0.3], True)
    """
    matrix = channel if isinstance(channel, Channel) else Dense(channel)
    if isinstance(matrix, Dense) and counts.shape[-1] != len(matrix.matrix):
        raise MismatchError("`counts` must have one entry for every output of `channel`")
    if not 0 <= tolerance < 1:
        raise ParameterError("`tolerance` must be at least 0 and below 1")
    if max_steps < 1:
        raise ParameterError("`max_steps` must be at least 1")
    users = counts.sum(axis=-1)
    if not (users > 0).all():
        raise NoDataError("every row of counts needs a report")
    shares = (counts / users[..., None]).reshape(-1, counts.shape[-1])
    size = matrix.backward(shares).shape[-1]
    start = np.full((len(shares), size), 1 / size)
    m_step = smoothed if smooth else normalised
    iteration = Iteration(matrix, likelihood_gain_below(tolerance), max_steps, m_step)
    fit = iteration.run(shares, start)
    shape = users.shape
    return Fit(
        fit.frequencies.reshape(*shape, -1),
        fit.log_likelihood.reshape(shape) * users,
        fit.largest_change.reshape(shape),
        fit.iterations.reshape(shape),
        fit.converged.reshape(shape),
    )


@dataclass(frozen=True, eq=False)
class Iterate:
    """The frequencies of all rows after a step, and the chance of every output under them."""

    frequencies: Floats
    shares: Floats
    chances: Floats

    @classmethod
    def of(cls, frequencies: Floats, shares: Floats, channel: Channel) -> "Iterate":
        """Return the iterate of some frequencies; an impossible output counts for nothing."""
        chances = channel.forward(frequencies)
        chances[chances <= 0] = 1.0
        return cls(frequencies, shares, chances)

    @cached_property
    def log_likelihood(self) -> Floats:
        """Return the log-likelihood of one report, for every row."""
        return np.asarray((self.shares * np.log(self.chances)).sum(axis=-1))

    def change(self, before: "Iterate") -> Floats:
        """Return the largest change of a frequency, for every row."""
        return np.asarray(np.abs(self.frequencies - before.frequencies).max(axis=-1))

    def among(self, rows: Bools) -> "Iterate":
        """Return the iterate of some rows."""
        return Iterate(self.frequencies[rows], self.shares[rows], self.chances[rows])


StopRule = Callable[[Iterate, Iterate], Bools]
MStep = Callable[[Iterate, Floats], Floats]  # the iterate before and expected counts to frequencies


def normalised(before: Iterate, expected: Floats) -> Floats:
    """Return the frequencies that make expected counts most likely: in proportion to them."""
    return in_proportion(expected)


def smoothed(before: Iterate, expected: Floats) -> Floats:
    """Return frequencies in proportion to expected counts averaged with their neighbours.

    The weights are 1, 2, 1.  At the ends the count itself replaces the missing neighbour.
    """
    ends = np.concatenate([expected[..., :1], expected, expected[..., -1:]], axis=-1)
    return in_proportion(np.asarray((ends[..., :-2] + 2 * expected + ends[..., 2:]) / 4))


def in_proportion(amounts: Floats) -> Floats:
    """Return amounts scaled to sum to 1 in every row."""
    return np.asarray(amounts / amounts.sum(axis=-1, keepdims=True))


def likelihood_gain_below(tolerance: float) -> StopRule:
    """Return the rule that stops rows whose log-likelihood per report hardly changes any more."""

    def stopped(before: Iterate, after: Iterate) -> Bools:
        return np.abs(after.log_likelihood - before.log_likelihood) < tolerance

    return stopped


def change_below(tolerance: float) -> StopRule:
    """Return the rule that stops rows of which no frequency changes by the tolerance any more."""

    def stopped(before: Iterate, after: Iterate) -> Bools:
        return after.change(before) < tolerance

    return stopped


@dataclass(frozen=True, eq=False)
class Iteration:
    """Expectation maximisation over a channel: a rule stops each row, or ``max_steps``."""

    channel: Channel
    stop: StopRule
    max_steps: int
    m_step: MStep = normalised

    def run(self, shares: Floats, start: Floats) -> Fit:
        """Return the end of every row of (rows, outputs) observed shares.

        A row that has stopped is not touched again.  The log-likelihoods are those of one report.
        """
        rows = len(shares)
        frequencies = np.empty(start.shape)
        log_likelihood = np.empty(rows)
        largest_change = np.empty(rows)
        iterations = np.zeros(rows, np.int64)
        converged = np.zeros(rows, bool)
        active = np.arange(rows)
        before = Iterate.of(start, shares, self.channel)
        for step in range(1, self.max_steps + 1):
            after = self._step(before)
            stopped = self.stop(before, after)
            ended = stopped | (step == self.max_steps)
            if ended.any():
                rows_ended = active[ended]
                frequencies[rows_ended] = after.frequencies[ended]
                log_likelihood[rows_ended] = after.log_likelihood[ended]
                largest_change[rows_ended] = after.change(before)[ended]
                iterations[rows_ended] = step
                converged[rows_ended] = stopped[ended]
                active = active[~ended]
                after = after.among(~ended)
            if not active.size:
                break
            before = after
        return Fit(frequencies, log_likelihood, largest_change, iterations, converged)

    def _step(self, before: Iterate) -> Iterate:
        """Return the iterate after one step, with frequencies that sum to 1."""
        expected = before.frequencies * self.channel.backward(before.shares / before.chances)
        return Iterate.of(self.m_step(before, expected), before.shares, self.channel)


def _padded(numbers: Floats, left: int, right: int) -> Floats:
    padded = np.zeros((*numbers.shape[:-1], left + numbers.shape[-1] + right))
    padded[..., left : left + numbers.shape[-1]] = numbers
    return padded
