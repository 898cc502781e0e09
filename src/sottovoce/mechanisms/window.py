"""Windows: every input owns a row of neighbouring cells, and a report is a cell, more likely of the window than not.

What Duchi's mechanism, Piecewise and Square Wave share; they differ only in how many cells there are and how wide a
window is.  Of N cells and windows of W, the window of place j in 0 .. T = N - W is [j, j + W).  An index falls between
two places and is rounded to one of them at random, without bias.  Then the report is uniform in the window with
probability k, else uniform among the T cells outside.

The estimate rests on integers alone.  Write y = 2 cell - (N - 1), which is symmetric about 0.  The window's mean of y
is c = 2j - T, and all cells together have the mean 0, so the mean outside is -c W / T, and

    E[y | j] = k c - (1 - k) c W / T = c (k N - W) / T.

Place j stands for the number c / T, or a fixed part of it.  So y / (k N - W) is exactly unbiased for it, whatever the
integers N and W and however k was rounded.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.packing import below, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.maths import exact
from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.numeric import NumericMechanism


@dataclass(frozen=True)
class Window(NumericMechanism):
    """Report a cell of the window with probability ``keep`` of 2^64, one outside of it otherwise."""

    epsilon: float
    size: int
    keep: int = threshold()

    largest = (1 << 24) + 1

    @property
    @abstractmethod
    def window(self) -> int:
        """Return the cells of a window."""

    @property
    def travel(self) -> int:
        """Return how far the window can move, which is also the number of cells outside of it."""
        return self.outputs - self.window

    def prepare(self) -> None:
        odds = exact.scale(self.window, exact.exp(self.epsilon))
        self.settle("keep", exact.threshold_below(exact.divide(odds, exact.add(odds, self.travel))))

    @property
    def worst_ratio(self) -> Fraction:
        # The first cell, under the first and the last index: their places are certain, one window has it, one not.
        return Fraction(self.keep * self.travel, (exact.UNIT - self.keep) * self.window)

    @property
    def inside(self) -> float:
        """Return the chance of one cell of the window."""
        return self.keep / (exact.UNIT * self.window)

    @property
    def outside(self) -> float:
        """Return the chance of one cell outside of the window."""
        return (exact.UNIT - self.keep) / (exact.UNIT * self.travel)

    @property
    def width(self) -> int:
        return np.dtype(unsigned(self.outputs)).itemsize

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one cell per value.

        The order of draws is frozen: the rounding of all users, their keep coins, a cell in the window, a cell outside.
        A draw that has one outcome is left out.
        """
        places = self._rounded(self.check(values), rng)
        near = rng.bernoulli(self.keep, len(places))
        window = places + _drawn(self.window, len(places), rng)
        others = _drawn(self.travel, len(places), rng)
        others += self.window * (others >= places)  # step over the window: uniform over the other cells
        return np.where(near, window, others)

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.outputs)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.outputs, rows(data, unsigned(self.outputs))).astype(np.int64)

    def outcomes(self) -> Reports:
        return np.arange(self.outputs)

    def codes(self, reports: Reports) -> Ints:
        return reports

    def likelihood(self, reports: Reports) -> Floats:
        places, rest = self._places(np.arange(self.size))
        share = rest / (self.size - 1)
        within = (1 - share) * self._within(reports, places) + share * self._within(reports, places + 1)
        return np.asarray(self.outside + (self.inside - self.outside) * within)

    def numbers(self, outputs: Ints) -> Floats:
        return np.asarray((2 * outputs - (self.outputs - 1)) * self._stretch, np.float64)

    def variance(self, values: Values) -> Floats:
        """Return the exact variance of each index, its rounding included.

        The mean of y^2 is c^2 + (W^2 - 1) / 3 in a window and (N^2 - 1) / 3 over all cells.  Rounding splits c, of mean
        T x, into two numbers 2 apart.
        """
        cells, window, travel = self.outputs, self.window, self.travel
        x, share = self.points(values) / self.end, self._places(values)[1] / (self.size - 1)
        near = (travel * x) ** 2 + 4 * share * (1 - share) + (window**2 - 1) / 3
        others = cells * (cells**2 - 1) / 3 - window * near
        squares = self.inside * window * near + self.outside * others
        return np.asarray(self._stretch**2 * squares - (self.end * x) ** 2, np.float64)

    @property
    def _stretch(self) -> float:
        return self.end * exact.UNIT / (self.keep * self.outputs - exact.UNIT * self.window)

    def _places(self, values: Values) -> tuple[Ints, Ints]:
        """Return the place at or before each index, and how far beyond it the index is, in parts of size - 1."""
        whole, rest = np.divmod(values * self.travel, self.size - 1)
        return whole, rest

    def _rounded(self, values: Values, rng: Rng) -> Ints:
        places, rest = self._places(values)
        if self.travel % (self.size - 1):
            places += rng.integers(self.size - 1, len(values)) < rest
        return places

    def _within(self, reports: Reports, places: Ints) -> Floats:
        beyond = reports[:, None] - places
        return np.asarray((beyond >= 0) & (beyond < self.window), np.float64)


def _drawn(limit: int, count: int, rng: Rng) -> Ints:
    return rng.integers(limit, count) if limit > 1 else np.zeros(count, np.int64)
