"""The law of the number of reports that support a value, and what it says about its holders.

If c of n users hold a value, the reports of a pure mechanism that support it are

    Binomial(c, p) + Binomial(n - c, q)

exactly and independently of anything else.  Thresholds and intervals are read from this law rather
than from a normal curve with its variance, because rare supports are skewed: of 5,000 values that
nobody holds, a normal threshold lets some through in nearly every small collection.

* ``unheld_votes`` are the least votes that a value which nobody holds reaches with at most a given
  probability: an exact binomial tail.
* ``bounds`` are the shares of holders that are not refuted by a test of that tail on either side
  (Clopper and Pearson's interval, for two binomials).  Shares below 0 and above 1 are continued by
  the normal law there: nothing is clipped.

Where the n users are drawn from a population of N, the number of holders among them is random.
The law is then interpolated between that of holders who are known (N = n) and that of a draw with
replacement (N infinite), so that the variance is right for every N:

    K(t) = s (c ln(1 - p + p e^t) + (n - c) ln(1 - q + q e^t)) + (1 - s) n ln(1 - a + a e^t)

with s = n / N and a = q + (p - q) c / n.

Source: Clopper and Pearson 1934; Wang 2021, section 3.2.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.fake_count import FakeCount
from sottovoce.maths import binomial
from sottovoce.maths.coin_sums import Coins
from sottovoce.maths.normal import upper_quantile

_MAX_STEPS = 80
_CONVERGED = 1e-9  # of a score, in standard deviations


@dataclass(frozen=True)
class Sampled:
    """The number of ``users`` who reported, all or a random part of a ``population``."""

    users: int
    population: int

    @property
    def part(self) -> float:
        """Return the part of the population that reported."""
        return self.users / self.population

    def drawing(self, votes: Floats) -> Floats:
        """Return the variance of the votes that comes from drawing the users.

        n (N - n) / (N - 1) f (1 - f)        f = votes / n
        """
        shares = np.clip(votes / self.users, 0, 1)
        missing = (self.population - self.users) / max(self.population - 1, 1)
        return np.asarray(self.users * missing * shares * (1 - shares))


@dataclass(frozen=True)
class SupportLaw:
    """The supports of a value: a holder's report supports it with p, any other report with q."""

    p: float
    q: float

    @classmethod
    def of_variance(cls, unheld: float, held: float) -> "SupportLaw":
        """Return the law whose votes have these variances: the inverse of equation 3.2.

            unheld = q (1 - q) / (p - q)^2        held = (1 - p - q) / (p - q)

        >>> round(SupportLaw.of_variance(unheld=2.0, held=1.0).q, 6)
        0.211325
        """
        gap = 1 / sqrt(4 * unheld + (1 + held) ** 2)
        # 1 - 2 q = (1 + held)(p - q), and the other way round for a q above one half
        q = (1 - gap * (1 + held)) / 2
        return cls(q + gap, q)

    @property
    def gap(self) -> float:
        """Return p - q, which one holder adds to the expected supports."""
        return self.p - self.q

    @property
    def fake_count(self) -> FakeCount:
        """Return how many of the reports are fakes."""
        return FakeCount(0.0)

    @property
    def fake_vote(self) -> float:
        """Return the mean vote of a fake."""
        return 0.0

    def supports(self, votes: Floats, users: int) -> Floats:
        """Return how many reports support a value that has these votes."""
        return np.asarray(users * self.q + self.gap * votes)

    def votes(self, supports: float, users: int) -> float:
        """Return the votes of a value from the number of reports that support it."""
        return (supports - users * self.q) / self.gap

    def coins(self, shares: Floats, sample: Sampled) -> Coins:
        """Return the coins whose sum are the supports, for every share of holders."""
        users = sample.users
        part = sample.part
        ones = np.ones_like(shares)
        weights = [part * users * shares, part * users * (1 - shares), (1 - part) * users * ones]
        chances = [self.p * ones, self.q * ones, self.q + self.gap * shares]
        return Coins(np.array(weights), np.array(chances))

    def unheld_votes(self, tail: float, users: int) -> float:
        """Return the bound that votes of a value nobody holds exceed with probability ``tail``.

        The probability is at most ``tail``.  The bound lies half way between two possible votes,
        so that rounding errors cannot change a comparison with it.
        """
        # The least count k with P[Binomial(n, q) >= k] <= tail.
        least = binomial.upper_quantile(tail, users, self.q) + 1
        return self.votes(least - 0.5, users)

    def bounds(self, votes: Floats, sample: Sampled, tail: float) -> tuple[Floats, Floats]:
        """Return bounds of the votes; each is wrong with probability ``tail`` at most."""
        distinct, places = np.unique(votes, return_inverse=True)
        # Both bounds are solved for together: first all lower ones, then all upper ones.
        side = np.repeat([1.0, -1.0], len(distinct))
        both = self._bounds(np.tile(distinct, 2), side, sample, upper_quantile(tail))
        low, high = np.split(both, 2)
        return low[places], high[places]

    def _bounds(self, votes: Floats, side: Floats, sample: Sampled, score: float) -> Floats:
        """Return lower bounds where ``side`` is 1 and upper bounds where it is -1, in votes."""
        borders = self.supports(votes, sample.users) - side / 2
        nobody = self.coins(np.zeros_like(votes), sample)
        everybody = self.coins(np.ones_like(votes), sample)
        wanted = side * score
        below = nobody.scores(borders) <= wanted  # a share of 0 would have to be still lower
        above = everybody.scores(borders) >= wanted  # a share of 1 would have to be still higher
        inside = ~(below | above)
        bounds = np.empty_like(votes)
        reach = votes - side * 0.5 / self.gap
        outer = reach - wanted * np.sqrt(nobody.variance()) / self.gap
        bounds[below] = np.minimum(outer, 0.0)[below]
        outer = reach - wanted * np.sqrt(everybody.variance()) / self.gap
        bounds[above] = np.maximum(outer, sample.users)[above]
        if inside.any():
            shares = self._shares(borders[inside], sample, wanted[inside])
            bounds[inside] = shares * sample.users
        return bounds

    def _shares(self, borders: Floats, sample: Sampled, wanted: Floats) -> Floats:
        """Return the shares of holders under which the borders have the wanted score.

        Scores fall as the share grows.  The secant method converges in a few steps, because a score
        is nearly linear in the share; a step that leaves the bracket is halved instead.
        """
        low = np.zeros_like(borders)
        high = np.ones_like(borders)
        shares = self._normal_shares(borders, sample, wanted)
        previous = np.clip(shares + 1e-3 * (0.5 - shares), 0, 1)
        before = self.coins(previous, sample).scores(borders)
        for _ in range(_MAX_STEPS):
            scores = self.coins(shares, sample).scores(borders)
            if np.abs(scores - wanted).max() < _CONVERGED:
                break
            low = np.where(scores > wanted, shares, low)
            high = np.where(scores <= wanted, shares, high)
            change = scores - before
            slope = np.where(change == 0, -1.0, change) / np.where(
                shares == previous, 1.0, shares - previous
            )
            following = shares - (scores - wanted) / slope
            usable = np.isfinite(following) & (following > low) & (following < high)
            following = np.where(usable, following, (low + high) / 2)
            previous = shares
            before = scores
            shares = following
        return shares

    def _normal_shares(self, borders: Floats, sample: Sampled, wanted: Floats) -> Floats:
        """Return a first guess: the normal law with the variance of the share at the border."""
        nobody = self.coins(np.zeros_like(borders), sample).mean()
        everybody = self.coins(np.ones_like(borders), sample).mean()
        distance = everybody - nobody
        centre = np.clip((borders - nobody) / distance, 0, 1)
        deviation = np.sqrt(self.coins(centre, sample).variance())
        return np.clip(centre - wanted * deviation / distance, 1e-9, 1 - 1e-9)
