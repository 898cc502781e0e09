"""Tails of sums of independent coins of several kinds, for arrays of such sums at once.

There are w_i coins that show 1 with chance a_i.  The sum S has the cumulant generating function

    K(t) = sum of w_i ln(1 - a_i + a_i e^t)

Let y = k - 1/2 be the border of the event S >= k, and let t solve K'(t) = y.  Then

    P[S >= k] = 1 - Phi(r*)        r* = r + ln(u / r) / r
    r = sign(t) sqrt(2 (t y - K(t)))        u = 2 sinh(t / 2) sqrt(K''(t))

Tails are right in proportion, however small: within a few parts in a hundred for a handful of
coins, and a few in ten thousand for a hundred.  A normal approximation is wrong by factors there.
The w_i need not be whole numbers, so that K may interpolate between laws.

Source: Daniels 1987 (second continuity correction); Barndorff-Nielsen 1986.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats

_MAX_STEPS = 60
_CONVERGED = 1e-9
_NEAR_MEAN = 1e-3  # in standard deviations: nearer to the mean the limit of r* is taken


@dataclass(frozen=True, eq=False)
class Coins:
    """Kinds of coins: (kinds, sums) numbers of coins, and the chances of each kind."""

    weights: Floats
    chances: Floats

    @property
    def number(self) -> Floats:
        """Return how many coins every sum has."""
        return np.asarray(self.weights.sum(axis=0))

    def mean(self) -> Floats:
        """Return the mean of every sum."""
        return np.asarray((self.weights * self.chances).sum(axis=0))

    def variance(self) -> Floats:
        """Return the variance of every sum."""
        return np.asarray((self.weights * self.chances * (1 - self.chances)).sum(axis=0))

    def scores(self, borders: Floats) -> Floats:
        """Return r* of every border: the normal quantile with the same tail.

        The sum exceeds the border with probability 1 - Phi(r*), and is below it with Phi(r*).  A
        border lies half way between two whole numbers.  Below all sums r* is minus infinity, above
        all of them it is infinity.
        """
        possible = (borders > 0) & (borders < self.number)
        inner = np.where(possible, borders, self.mean())
        scores = self._inner_scores(inner)
        beyond = np.where(borders <= 0, -np.inf, np.inf)
        return np.where(possible, scores, beyond)

    def _inner_scores(self, borders: Floats) -> Floats:
        tilt = self._tilts(borders)
        tilted = _tilted(self.chances, tilt)
        slopes = self.weights * tilted * (1 - tilted)
        deviation = np.sqrt(slopes.sum(axis=0))
        # t y - K(t), term by term: ln(1 - a + a e^t) = -ln(1 - b) + ln(1 - a), b the tilted chance
        logs = self.weights * (np.log1p(-self.chances) - np.log1p(-tilted))
        exponent = np.maximum(tilt * borders - logs.sum(axis=0), 0.0)
        root = np.sign(tilt) * np.sqrt(2 * exponent)
        width = 2 * np.sinh(tilt / 2) * deviation
        near = np.abs(width) < _NEAR_MEAN
        safe_root = np.where(near, 1.0, root)
        safe_ratio = np.where(near, 1.0, width) / safe_root
        skewness = (slopes * (1 - 2 * tilted)).sum(axis=0) / deviation**3
        correction = np.where(near, skewness / 6, np.log(safe_ratio) / safe_root)
        return np.asarray(root + correction)

    def _tilts(self, borders: Floats) -> Floats:
        """Return t with K'(t) = y, by Newton's method between bounds.

        With one kind of coins alone, t would be the difference of two logits.  It lies between the
        least and the largest of these.
        """
        target = _logit(borders / self.number)
        alone = target - _logit(np.broadcast_to(self.chances, self.weights.shape))
        low = alone.min(axis=0)
        high = alone.max(axis=0)
        shares = self.weights / self.number
        tilt = (shares * alone).sum(axis=0)
        for _ in range(_MAX_STEPS):
            tilted = _tilted(self.chances, tilt)
            excess = (self.weights * tilted).sum(axis=0) - borders
            low = np.where(excess < 0, tilt, low)
            high = np.where(excess > 0, tilt, high)
            step = excess / (self.weights * tilted * (1 - tilted)).sum(axis=0)
            following = tilt - step
            outside = (following < low) | (following > high)
            following = np.where(outside, (low + high) / 2, following)
            moved = np.abs(following - tilt).max(initial=0.0)
            tilt = following
            if moved < _CONVERGED:
                break
        return np.asarray(tilt)


def _logit(chances: Floats) -> Floats:
    return np.asarray(np.log(chances) - np.log1p(-chances))


def _tilted(chances: Floats, tilt: Floats) -> Floats:
    """Return a e^t / (1 - a + a e^t)."""
    return np.asarray(chances / (chances + (1 - chances) * np.exp(-tilt)))
