"""The arithmetic of adaptive sampling: which item to ask about next so that the top k is settled soonest.

Everybody is asked about one item and answers by randomised response.  An item near the boundary between the k largest
and the rest deserves more questions: its weight is 3 exp(-t H^2), the chance left that it stands on the wrong side.
``Asked`` holds what is known; rates are of reported ones, because that is where the noise lives.

Source: Du 2025, chapter 5.
"""

from dataclasses import dataclass
from functools import cached_property
from math import log, log1p, tanh

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.errors import ParameterError


def opening_users(users: int, items: int, epsilon: float) -> int:
    """Return how many users to spend evenly on all items before adapting: the maximum of (n - x)(1 - d exp(-c x)).

    All of them, if they are too few for anything better.

    >>> opening_users(10_000, 100, 2.0), opening_users(10_000, 100, 0.5)
    (2658, 10000)
    """
    if items < 1 or users < items:
        raise ParameterError("there are fewer users than items to ask about: prune the items first")
    rate = tanh(epsilon / 2) ** 2 / (2 * items)
    if users * rate <= log(items):
        return users
    low, high = log(items) / rate if items > 1 else 0.0, float(users)
    while high - low > 1e-6:  # the slope log d + log(1 + c(n - x)) - c x falls from positive to negative
        middle = (low + high) / 2
        rising = log(items) + log1p(rate * (users - middle)) > rate * middle
        low, high = (middle, high) if rising else (low, middle)
    return round((low + high) / 2)


def distance(deviation: Floats, gap: Floats) -> Floats:
    """Return H, the positive root of 3 H^2 + sqrt(2) sigma H = gap, without cancellation (Bernstein, inverted).

    >>> float(distance(np.array(0.43), np.array(0.07)) ** 2).__round__(12)
    0.006718459454
    """
    spread = np.sqrt(2) * deviation + np.sqrt(2 * deviation**2 + 12 * gap)
    return np.asarray(np.divide(2 * gap, spread, out=np.zeros_like(spread), where=spread > 0))


@dataclass(frozen=True, eq=False)
class Asked:
    """How often each item was asked about, how many ones were reported, and how many items are sought.

    An item that nobody was asked about counts as reported by nobody, and weighs as much as any can.
    """

    times: Ints
    ones: Ints
    sought: int

    def __post_init__(self) -> None:
        if len(self.times) != len(self.ones) or not 1 <= self.sought < len(self.times):
            raise ParameterError("from one item to all but one can be sought")
        if (self.ones < 0).any() or (self.ones > self.times).any():
            raise ParameterError("an item has from no ones to as many as it was asked about")

    @cached_property
    def rates(self) -> Floats:
        """Return the share of reported ones of every item."""
        return self.ones / np.maximum(self.times, 1)

    @cached_property
    def order(self) -> Ints:
        """Return the items from the highest rate to the lowest; of equal ones the first."""
        return np.argsort(-self.rates, kind="stable")

    @cached_property
    def top(self) -> Bools:
        """Return which items are among the highest now."""
        chosen = np.zeros(len(self.times), bool)
        chosen[self.order[: self.sought]] = True
        return chosen

    @cached_property
    def gaps(self) -> Floats:
        """Return how far each item is from the other side: the top from the best of the rest, they from its last."""
        above, below = self.rates[self.order[self.sought - 1]], self.rates[self.order[self.sought]]
        return np.asarray(np.abs(self.rates - np.where(self.top, below, above)))

    @property
    def deviations(self) -> Floats:
        """Return the standard deviation of one report about each item."""
        return np.sqrt(self.rates * (1 - self.rates))

    def weights(self, *, even: bool = False) -> Floats:
        """Return the logarithm of every item's weight, log 3 - t H^2 (ARBS).

        With ``even`` the items of the top are weighed towards one common accuracy instead (ARBSF).
        """
        gaps = self.gaps
        if even:
            best = ((self.deviations / np.maximum(self.times, 1))[self.top] ** 2).min()
            gaps = np.where(self.top, np.sqrt(best * self.times), gaps)
        return log(3) - self.times * distance(self.deviations, gaps) ** 2

    def shares(self, *, even: bool = False) -> Floats:
        """Return the chance with which the next user is asked about each item."""
        weights = self.weights(even=even)
        raised = np.exp(weights - weights.max())
        return np.asarray(raised / raised.sum())

    def doubt(self, shares: Floats, more: float) -> tuple[float, float]:
        """Return the sum of 2 exp(-2 t gap^2) over all items after so many more users (Hoeffding), and its slope."""
        steep = 2 * self.gaps**2
        terms = 2 * np.exp(-steep * (self.times + more * shares))
        return float(terms.sum()), -float((terms * steep) @ shares)


def round_users(asked: Asked, shares: Floats, left: int, rounds_left: int) -> int:
    """Return how many users the next of the remaining rounds asks with these shares (DBS).

    It minimises x e(0) + (S - x) e(x) with S twice an even share of the users that are left, which is convex; both
    errors are of one form, or the first round would be empty.
    """
    if rounds_left < 1 or left < 1:
        raise ParameterError("a round needs users")
    if rounds_left == 1:
        return left
    whole = 2 * left / rounds_left
    now, _ = asked.doubt(shares, 0.0)
    low, high = 0.0, whole
    while high - low > 0.1:
        middle = (low + high) / 2
        later, slope = asked.doubt(shares, middle)
        falling = now - later + (whole - middle) * slope < 0
        low, high = (middle, high) if falling else (low, middle)
    return max(1, min(round((low + high) / 2), left // rounds_left))
