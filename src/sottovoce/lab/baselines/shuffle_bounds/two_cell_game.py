"""The game behind the closed form of Balle et al., computed instead of bounded.

Suppose the collector is told whose reports are true.  For direct response, and for local hashing
into as many buckets, the rest of the n - 1 other reports put X1 into one value's cell and X2 into
another's, each with probability 1 / (E + d - 1).  The person's report lies in the first cell:

    delta(epsilon) = E[(1 - e^epsilon X2 / (X1 + 1))+]

It bounds the true delta, and is two to three times tighter in epsilon than the closed form.  The
accountant is tighter still, because it also counts that the person's own report may be random.

Source: Wang 2021, section 9.2; Balle et al. 2019, section 5.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, log, sqrt

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.maths.crossing import crossing

_DEVIATIONS = 10  # of a count, beyond which nothing is summed
_TOLERANCE = 1e-6  # of the epsilon that is found


@dataclass(frozen=True)
class TwoCellGame:
    """The game for so many users; ``cells`` are the values, or the buckets of a hash."""

    local: float
    cells: int
    users: int

    def delta(self, epsilon: float) -> float:
        """Return delta of the game at an epsilon."""
        counts = self._counts
        losses = np.maximum(0.0, 1 - exp(epsilon) * counts / (counts[:, None] + 1))
        return float((self._law * losses).sum())

    def epsilon(self, delta: float) -> float:
        """Return the epsilon of the game at a delta."""

        def surplus(epsilon: float) -> float:
            return log(max(self.delta(epsilon) / delta, 1e-6))

        return crossing(surplus, 0.0, self.local, _TOLERANCE)

    @property
    def chance(self) -> float:
        """Return the probability that another person's report is random and in a given cell."""
        return 1 / (exp(self.local) + self.cells - 1)

    @cached_property
    def _counts(self) -> Ints:
        """Return the counts of a cell that are likely enough to matter."""
        mean = (self.users - 1) * self.chance
        spread = _DEVIATIONS * sqrt(mean) + _DEVIATIONS
        return np.arange(max(0, int(mean - spread)), min(self.users - 1, int(mean + spread)) + 1)

    @cached_property
    def _law(self) -> Floats:
        """Return the joint law of (X1, X2)."""
        from scipy.stats import binom

        others = self.users - 1
        first = binom.pmf(self._counts, others, self.chance)
        # Of the reports that are not in the first cell, each is in the second with this chance.
        chance = self.chance / (1 - self.chance)
        second = binom.pmf(self._counts, (others - self._counts)[:, None], chance)
        return np.asarray(first[:, None] * second)
