"""Expectation maximisation: the distribution that best explains a histogram of randomised outputs.

Plain EM climbs to the likelihood's maximum, which fits the noise as well: stop it early, or take it
for spiky shapes and large epsilon.  EMS smooths after every step and settles at a fixed point,
which is not the maximum; take it for smooth shapes.  Users never enter the loop: a step costs as
much as one pass over the channel.

Source: Li et al. 2020.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.errors import MismatchError, NoDataError, ParameterError

TOLERANCE = 1e-7  # of the log-likelihood of one report
MOST = 10_000


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
    """The channel of Square Wave: one chance for the ``window`` outputs from the value's own on,
    another for the rest.

    Prefix sums make both products cost one pass over values and outputs.
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
    """Where the iteration ended, for every row of counts; the log-likelihood is that of all its
    reports together.
    """

    frequencies: Floats
    log_likelihood: Floats
    largest_change: Floats
    iterations: Ints
    converged: Bools


def em(counts: Ints, channel: Channel | Floats, *, smooth: bool, tolerance: float = TOLERANCE, most: int = MOST) -> Fit:
    """Return the frequencies behind (..., outputs) counts, every row on its own, from a uniform
    start.

    A row stops when the log-likelihood per report changes by less than the tolerance, or after
    ``most`` steps.

    >>> fit = em(np.array([60, 40]), np.array([[0.75, 0.25], [0.25, 0.75]]), smooth=False, tolerance=1e-12)
    >>> fit.frequencies.round(3).tolist(), bool(fit.converged)
    ([0.7, 0.3], True)
    """
    matrix = channel if isinstance(channel, Channel) else Dense(channel)
    if isinstance(matrix, Dense) and counts.shape[-1] != len(matrix.matrix):
        raise MismatchError("these counts are not of the channel's outputs")
    if not 0 <= tolerance < 1 or most < 1:
        raise ParameterError("a tolerance is at least 0 and below 1, and at least one step is taken")
    users = counts.sum(axis=-1)
    if not (users > 0).all():
        raise NoDataError("every row of counts needs a report")
    shares = (counts / users[..., None]).reshape(-1, counts.shape[-1])
    found, shape = _climb(shares, matrix, (tolerance, most), smooth=smooth), users.shape
    return Fit(
        found.frequencies.reshape(*shape, -1),
        found.log_likelihood.reshape(shape) * users,
        found.largest_change.reshape(shape),
        found.iterations.reshape(shape),
        found.converged.reshape(shape),
    )


def _climb(shares: Floats, channel: Channel, limits: tuple[float, int], *, smooth: bool) -> Fit:
    """Return the end of every row; a row that has stopped is not touched again."""
    rows, size = channel.backward(shares).shape
    end = Fit(np.empty((rows, size)), np.empty(rows), np.empty(rows), np.zeros(rows, np.int64), np.zeros(rows, bool))
    live, tolerance, most = np.arange(rows), *limits
    before = np.full((rows, size), 1 / size)
    chances, known = _seen(before, shares, channel)
    for step in range(1, most + 1):
        after = _step(before, shares / chances, channel, smooth=smooth)
        chances, gained = _seen(after, shares, channel)
        still = np.abs(gained - known) < tolerance
        if still.any() or step == most:
            done = still | (step == most)
            stopped = live[done]
            end.frequencies[stopped], end.log_likelihood[stopped] = after[done], gained[done]
            end.largest_change[stopped] = np.abs(after - before).max(axis=-1)[done]
            end.iterations[stopped], end.converged[stopped] = step, still[done]
            live, shares, chances = live[~done], shares[~done], chances[~done]
            after, gained = after[~done], gained[~done]
        if not live.size:
            break
        before, known = after, gained
    return end


def _step(frequencies: Floats, weights: Floats, channel: Channel, *, smooth: bool) -> Floats:
    """Return the frequencies after one step, of mass 1."""
    moved = frequencies * channel.backward(weights)
    if smooth:
        moved = _smoothed(moved)
    return np.asarray(moved / moved.sum(axis=-1, keepdims=True))


def _smoothed(frequencies: Floats) -> Floats:
    """Return the frequencies spread with the weights 1, 2, 1 over their neighbours, reflected at
    the ends.
    """
    ends = np.concatenate([frequencies[..., :1], frequencies, frequencies[..., -1:]], axis=-1)
    return np.asarray((ends[..., :-2] + 2 * frequencies + ends[..., 2:]) / 4)


def _seen(frequencies: Floats, shares: Floats, channel: Channel) -> tuple[Floats, Floats]:
    """Return the chance of every output, and the log-likelihood of one report; what cannot be seen
    counts nothing.
    """
    chances = channel.forward(frequencies)
    chances[chances <= 0] = 1.0
    return chances, np.asarray((shares * np.log(chances)).sum(axis=-1))


def _padded(numbers: Floats, left: int, right: int) -> Floats:
    padded = np.zeros((*numbers.shape[:-1], left + numbers.shape[-1] + right))
    padded[..., left : left + numbers.shape[-1]] = numbers
    return padded
