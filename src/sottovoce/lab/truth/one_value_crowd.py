"""The exact divergence of shuffled reports where all others hold one value, for any mechanism.

If the n - 1 others hold v, the counts N of all n reports have under a value x of the one person

    P[N | x] = Mult(N; n, P_v) * (1 / n) sum over reports k of N_k P_x(k) / P_v(k)

so that, with the multinomial law of n people who all hold v,

    delta(epsilon) = E[(sum over k of N_k (P_x(k) - e^epsilon P_x'(k)) / P_v(k))+] / n

Only the three values matter, so that reports with proportional probabilities under them are one.
No valid bound may be below it.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import exp

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.truth.shuffled import merged


@dataclass(frozen=True, eq=False)
class OneValueCrowd:
    """``likelihood`` is (reports, values); all others hold the value ``held``."""

    likelihood: Floats
    held: int
    users: int

    def delta(self, first: int, second: int, epsilon: float) -> float:
        """Return delta between two values of the one person."""
        kinds = merged(self.likelihood[:, [first, second, self.held]])
        counts = compositions(len(kinds), self.users)
        gain = (kinds[:, 0] - exp(epsilon) * kinds[:, 1]) / kinds[:, 2]
        law = self._law(counts, kinds[:, 2])
        return float(law @ np.maximum(0.0, counts @ gain)) / self.users

    def _law(self, counts: Ints, chances: Floats) -> Floats:
        """Return the multinomial probability of every row of counts."""
        from scipy.special import gammaln

        ways = gammaln(self.users + 1) - gammaln(counts + 1).sum(axis=1)
        return np.asarray(np.exp(ways + counts @ np.log(chances)))


@cache
def compositions(kinds: int, total: int) -> Ints:
    """Return all rows of ``kinds`` counts that sum to ``total``.

    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    bars = np.array(list(combinations(range(total + kinds - 1), kinds - 1)), np.int64)
    bars = bars.reshape(-1, kinds - 1)
    ends = np.full((len(bars), 1), total + kinds - 1)
    starts = np.full((len(bars), 1), -1)
    return np.diff(np.concatenate([starts, bars, ends], axis=1), axis=1) - 1
