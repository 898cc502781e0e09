"""The bound of the privacy blanket for large batches, summed without any simplification.

    delta(epsilon) = E over B of mass / m * E[((E - e) T + (1 - e E) U - (e - 1) (R + (E - 1) N))+]

with m = 1 + B + fakes draws, of which T support the first value only, U the second only, and R all
others, among them N that support both.  Every B, T, U and N within so many standard deviations of
its mean is listed.  What the accountant states must be above, and not by much.

Source: Balle et al. 2019, section 5; docs/shuffling.md.
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

import numpy as np

from sottovoce.accounting.blanket import Blanket
from sottovoce.arrays import Floats, Ints

_DEVIATIONS = 9  # beyond them a normal variable has a probability of 1e-19
_FEW = 25  # counts of a small mean are skewed: so many more are listed


@dataclass(frozen=True)
class SummedBlanket:
    """The sum for so many users and fakes."""

    blanket: Blanket
    users: int
    fakes: int = 0

    def delta(self, epsilon: float) -> float:
        """Return the sum at an epsilon."""
        draws = _likely(self.users - 1, self.blanket.mass)
        law = _binomial(self.users - 1, draws, self.blanket.mass)
        deltas = [self._delta_of_draws(1 + self.fakes + int(count), epsilon) for count in draws]
        return float(law @ np.array(deltas))

    def _delta_of_draws(self, draws: int, epsilon: float) -> float:
        """Return delta for a known number of draws from the blanket."""
        blanket = self.blanket
        odds = exp(blanket.epsilon_local)
        central = exp(epsilon)
        single = min(1.0, 2 * blanket.share * (1 - blanket.overlap))
        both = 0.0 if single == 1 else min(1.0, blanket.share * blanket.overlap / (1 - single))
        # Axes: K = T + U, then T, then N.
        singles = _likely(draws, single)[:, None, None]
        firsts = _halves(singles)
        seconds = singles - firsts
        rest = draws - singles
        fewest = int(_likely(int(rest.min()), both)[0])
        most = int(_likely(int(rest.max()), both)[-1])
        boths = np.arange(fewest, most + 1)[None, None, :]
        gain = (odds - central) * firsts + (1 - central * odds) * seconds
        gain = gain - (central - 1) * (rest + (odds - 1) * boths)
        law = _binomial(draws, singles, single) * _binomial(singles, firsts, 0.5)
        law = law * _binomial(rest, boths, both)
        return blanket.mass / draws * float((law * np.maximum(0.0, gain)).sum())


def _likely(trials: int, chance: float) -> Ints:
    """Return the counts that a binomial variable is likely to have."""
    mean = trials * chance
    spread = _DEVIATIONS * sqrt(mean * (1 - chance)) + _FEW * (0 < chance < 1)
    return np.arange(max(0, int(mean - spread)), min(trials, int(mean + spread) + 1) + 1)


def _halves(singles: Ints) -> Ints:
    """Return, for every K, likely counts of K fair coins; some may lie outside [0, K]."""
    width = int(_DEVIATIONS * sqrt(float(singles.max())) / 2) + _FEW
    return singles // 2 + np.arange(-width, width + 1)[None, :, None]


def _binomial(trials: Any, counts: Any, chance: float) -> Floats:
    """Return binomial probabilities, 0 outside [0, trials]."""
    from scipy.special import gammaln, xlog1py, xlogy

    possible = (counts >= 0) & (counts <= trials)
    successes = np.where(possible, counts, 0)
    failures = np.where(possible, trials - successes, 0)
    ways = gammaln(successes + failures + 1) - gammaln(successes + 1) - gammaln(failures + 1)
    logs = ways + xlogy(successes, chance) + xlog1py(failures, -chance)
    return np.where(possible, np.exp(logs), 0.0)
