"""Bounds of a whole distribution that hold if some of the reports are false.

Numbers are reported as cells, most likely of a window around the true one.  Let G(c) be the share
of reports at or below cell c, and w(c, i) the probability that an honest report of index i is.
w falls with i, because the window moves up.  If a share F of people is below index j, the honest
part of G lies between

    F w(c, j - 1) + (1 - F) w(c, last)        and        F w(c, 0) + (1 - F) w(c, j)

for every c, whatever the distribution is.  Solved for F these are bounds, and the best c is taken.
That is allowed because all G(c) together are within

    sqrt(ln(2 / (1 - level)) / (2 n))

of what is expected with the probability ``level``, for n people drawn at random.  Of the reports a
share b may be false, and lie anywhere: the honest part of G is between (G - b) / (1 - b) and G /
(1 - b).  Nothing is estimated here, so that no decoder can be led astray.

Source: Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Total

_CELLS_AT_ONCE = 1 << 20  # pairs of a cell and an index that are compared together
_LEAST_GAP = 1e-12  # of two probabilities that tell people below from people above


@dataclass(frozen=True, eq=False)
class CumulativeBand:
    """How many reports are in every cell, and the law of an honest report.

    Index i has the window of ``window`` cells from cell i on.  Each cell in it has the probability
    ``inside``, each other one ``outside``.
    """

    counts: Floats
    inside: float
    outside: float
    window: int

    @property
    def size(self) -> int:
        """Return how many indices there are."""
        return len(self.counts) - int(self.window) + 1

    def bounds(self, level: float, fakes: float) -> tuple[Floats, Floats]:
        """Return the bounds of the share of people below index 0, 1, ... and ``size``."""
        return _bounds(self, level, fakes)

    def chances(self, cells: Ints, indices: Ints) -> Floats:
        """Return (cells, indices): how likely the report of an index is at or below a cell."""
        inside = np.clip(cells[:, None] - indices + 1, 0, self.window)
        outside = cells[:, None] + 1 - inside
        return np.asarray(self.inside * inside + self.outside * outside)


@lru_cache(maxsize=8)
def _bounds(band: CumulativeBand, level: float, fakes: float) -> tuple[Floats, Floats]:
    reports = float(band.counts.sum())
    margin = sqrt(log(2 / (1 - level)) / (2 * reports * (1 - fakes)))
    below = np.cumsum(band.counts) / reports
    most = below / (1 - fakes) + margin
    least = (below - fakes) / (1 - fakes) - margin
    low, high = np.zeros(band.size + 1), np.ones(band.size + 1)
    high[0], low[-1] = 0.0, 1.0
    indices = np.arange(band.size)
    step = max(1, _CELLS_AT_ONCE // band.size)
    for start in range(0, len(below), step):
        cells = np.arange(start, min(start + step, len(below)))
        chances = band.chances(cells, indices)
        first, last = chances[:, :1], chances[:, -1:]
        # Entry j of both: people below index j + 1 are at index j at most.
        upper = _solved(most[cells, None] - last, chances[:, :-1] - last, if_level=np.inf)
        lower = _solved(least[cells, None] - chances[:, 1:], first - chances[:, 1:], -np.inf)
        high[1:-1] = np.minimum(high[1:-1], upper.min(axis=0))
        low[1:-1] = np.maximum(low[1:-1], lower.max(axis=0))
    # The share below grows with the index, so that bounds of neighbours count too.
    low = np.maximum.accumulate(np.clip(low, 0.0, 1.0))
    high = np.minimum.accumulate(np.clip(high, 0.0, 1.0)[::-1])[::-1]
    return low, high


def _solved(numerator: Floats, gap: Floats, if_level: float) -> Floats:
    """Return the quotient, or the given default for cells that do not separate indices."""
    return np.where(gap > _LEAST_GAP, numerator / np.maximum(gap, _LEAST_GAP), if_level)


Intervals = Callable[[float], tuple[float, float]]  # a confidence level to bounds


@dataclass(frozen=True)
class QuantileTotal(Total):
    """A quantile: the number that a ``share`` of people is below, between the ``edges``.

    ``intervals`` gives its intervals, which are normal ones without it.
    """

    band: CumulativeBand | None = None
    edges: Floats | None = None
    share: float = 0.5
    intervals: Intervals | None = None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        return _joined(self, level, super().interval)

    def attacked(self, level: float, fakes: float) -> tuple[float, float] | None:
        if self.band is None or self.edges is None:
            return None
        least, most = self.band.bounds(level, fakes)
        # Fewer people than the share are below an edge: the quantile is not below it either.
        lowest = self.edges[np.flatnonzero(most < self.share)[-1]]
        highest = self.edges[np.flatnonzero(least >= self.share)[0]]
        low, high = self.interval(level)
        return min(low, float(lowest)), max(high, float(highest))


@dataclass(frozen=True)
class RangeTotal(Total):
    """How many of ``users`` people are between two indices, from ``first`` to before ``last``.

    ``intervals`` gives its intervals, which are normal ones without it.
    """

    band: CumulativeBand | None = None
    first: int = 0
    last: int = 0
    users: int = 0
    intervals: Intervals | None = None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        return _joined(self, level, super().interval)

    def attacked(self, level: float, fakes: float) -> tuple[float, float] | None:
        if self.band is None:
            return None
        least, most = self.band.bounds(level, fakes)
        lowest = max(float(least[self.last] - most[self.first]), 0.0)
        highest = min(float(most[self.last] - least[self.first]), 1.0)
        low, high = self.interval(level)
        return min(low, self.users * lowest), max(high, self.users * highest)


def _joined(
    total: QuantileTotal | RangeTotal, level: float, normal: Intervals
) -> tuple[float, float]:
    """Return the bounds of an interval, extended to the number itself."""
    if total.intervals is None:
        return normal(level)
    low, high = total.intervals(level)
    return min(low, total.total), max(high, total.total)
