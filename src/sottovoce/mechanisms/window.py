"""Window mechanisms: a report is a cell, more likely one of the window around the number than not.

Duchi's mechanism, Piecewise and Square Wave share this code.  They differ only in how many cells
there are and how wide a window is.  Of N cells and windows of W, the window at position j in 0 .. T
= N - W is [j, j + W).  An index falls between two positions and is rounded to one of them at
random, without bias.  Then the report is uniform in the window with probability k, and uniform
among the T cells outside otherwise:

    k = W e^epsilon / (W e^epsilon + T)

The estimate rests on integers alone.  Write y = 2 cell - (N - 1), which is symmetric about 0.  The
mean of y in the window is c = 2 j - T, and over all cells it is 0, so outside it is -c W / T, and

    E[y | j] = k c - (1 - k) c W / T = c (k N - W) / T

Position j stands for the number c / T, or a fixed part of it.  So y / (k N - W) is exactly unbiased
for that number, whatever the integers N and W are and however k was rounded.
"""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.interval_counts import interval_counts
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.plausibility import FALSE_ALARM, PlausibilityTest
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.maths import exact
from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.numeric import NumericMechanism


@dataclass(frozen=True)
class WindowMechanism(NumericMechanism):
    """Report a cell of the window with probability ``keep`` of 2^64, and one outside otherwise."""

    epsilon: float
    size: int
    keep: int = threshold()

    max_size = (1 << 24) + 1

    @property
    @abstractmethod
    def window(self) -> int:
        """Return the cells of a window: W."""

    @property
    def travel(self) -> int:
        """Return how far the window can move, which is also the number of cells outside: T."""
        return self.outputs - self.window

    def prepare(self) -> None:
        # k = W e^epsilon / (W e^epsilon + T)
        weight = self.window * exact.exp(self.epsilon)
        self.set_default("keep", exact.threshold_below(weight / (weight + self.travel)))

    @property
    def worst_ratio(self) -> Fraction:
        # The first cell, under the first and the last index: one window has it, the other has not,
        # and neither position is rounded.
        return Fraction(self.keep * self.travel, (exact.UNIT - self.keep) * self.window)

    @property
    def inside(self) -> float:
        """Return the probability of one cell of the window."""
        return self.keep / (exact.UNIT * self.window)

    @property
    def outside(self) -> float:
        """Return the probability of one cell outside of the window."""
        return (exact.UNIT - self.keep) / (exact.UNIT * self.travel)

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self.outputs)).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one cell per value.

        The order of draws never changes: the rounding of all users, their keep coins, a cell in the
        window, a cell outside.  A draw that has only one outcome is left out.
        """
        positions = self._rounded(self.check(values), rng)
        is_near = rng.bernoulli(self.keep, len(positions))
        near = positions + _draw(self.window, len(positions), rng)
        far = _draw(self.travel, len(positions), rng)
        far += self.window * (far >= positions)  # skip the window: uniform over the other cells
        return np.where(is_near, near, far)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.outputs)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.outputs, rows(data, unsigned(self.outputs))).astype(np.int64)

    def outcomes(self) -> Reports:
        return np.arange(self.outputs)

    def codes(self, reports: Reports) -> Ints:
        return reports

    def likelihood(self, reports: Reports) -> Floats:
        positions, rest = self._positions(np.arange(self.size))
        share = rest / (self.size - 1)  # probability of rounding up to the next position
        in_first = self._is_inside(reports, positions)
        in_next = self._is_inside(reports, positions + 1)
        inside = (1 - share) * in_first + share * in_next
        return np.asarray(self.outside + (self.inside - self.outside) * inside)

    def plausibility(
        self, evidence: Tally, *, fakes: int = 0, alpha: float = FALSE_ALARM
    ) -> tuple[PlausibilityTest, ...]:
        law = WindowLaw(self.outputs, self.window, self.inside, self.outside)
        return (interval_counts("cells", evidence["outputs"], law, alpha),)

    def numbers(self, outputs: Ints) -> Floats:
        return np.asarray((2 * outputs - (self.outputs - 1)) * self._stretch, np.float64)

    def variance(self, values: Values) -> Floats:
        """Return the exact variance of each index, its rounding included.

        The mean of y^2 is c^2 + (W^2 - 1) / 3 in a window and (N^2 - 1) / 3 over all cells.
        Rounding splits c, of mean T x, into two numbers that are 2 apart.
        """
        cells = self.outputs
        x = self.points(values) / self.end
        share = self._positions(values)[1] / (self.size - 1)
        near = (self.travel * x) ** 2 + 4 * share * (1 - share) + (self.window**2 - 1) / 3
        far = cells * (cells**2 - 1) / 3 - self.window * near
        mean_square = self.inside * self.window * near + self.outside * far
        return np.asarray(self._stretch**2 * mean_square - (self.end * x) ** 2, np.float64)

    @property
    def _stretch(self) -> float:
        """Return the factor that makes y unbiased: 1 / (k N - W), times the number at the end."""
        return self.end * exact.UNIT / (self.keep * self.outputs - exact.UNIT * self.window)

    def _positions(self, values: Values) -> tuple[Ints, Ints]:
        """Return the position at or before each index, and the rest in units of 1 / (size - 1)."""
        whole, rest = np.divmod(values * self.travel, self.size - 1)
        return whole, rest

    def _rounded(self, values: Values, rng: Rng) -> Ints:
        """Return a position at or next to each index: the next one with probability ``rest``."""
        positions, rest = self._positions(values)
        if self.travel % (self.size - 1):
            positions += rng.integers(self.size - 1, len(values)) < rest
        return positions

    def _is_inside(self, reports: Reports, positions: Ints) -> Floats:
        """Return (reports, positions): 1 where a cell lies in the window at a position."""
        distance = reports[:, None] - positions
        return np.asarray((distance >= 0) & (distance < self.window), np.float64)


@dataclass(frozen=True)
class WindowLaw:
    """How likely a report lies in an interval of cells, at least and at most over all numbers.

    The probability grows with the cells that the window and the interval share.  They share the
    fewest with the window at one end, and the most where one lies within the other.
    """

    outputs: int
    window: int
    inside: float
    outside: float

    def bounds(self, starts: Ints, stops: Ints) -> tuple[Floats, Floats]:
        """Return the least and the largest probability of each interval [start, stop)."""
        lengths = stops - starts
        at_first = np.clip(np.minimum(stops, self.window) - starts, 0, None)
        at_last = np.clip(stops - np.maximum(starts, self.outputs - self.window), 0, None)
        fewest = np.minimum(at_first, at_last)
        most = np.minimum(lengths, self.window)
        gain = self.inside - self.outside
        return (
            np.asarray(self.outside * lengths + gain * fewest),
            np.asarray(self.outside * lengths + gain * most),
        )


def best_window(cells: int, variance: Callable[[int], Decimal]) -> int:
    """Return the window of the least variance, a convex function of it; of equal ones the narrower.

    >>> best_window(10, lambda window: Decimal(window - 4) ** 2)
    4
    """

    def is_wide_enough(window: int) -> bool:
        return variance(window + 1) >= variance(window)

    return 1 + bisect_left(range(1, cells - 1), True, key=is_wide_enough)


def _draw(limit: int, count: int, rng: Rng) -> Ints:
    return rng.integers(limit, count) if limit > 1 else np.zeros(count, np.int64)
