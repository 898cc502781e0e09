"""The arithmetic of adaptive sampling: which item to ask about next.

The aim is to settle the top k with as few users as possible.

Everybody is asked about one item and answers by randomised response.  An item near the boundary
between the k largest and the rest deserves more questions.  Its weight is

    3 exp(-t H^2)        t times asked        3 H^2 + sqrt(2) sigma H = gap to the other side

a bound on the chance that it stands on the wrong side.  Rates are those of reported ones, because
that is where the noise is.

Source: Du 2025, chapter 5.
"""

from dataclasses import dataclass
from functools import cached_property
from math import log, log1p, tanh

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.settings import whole
from sottovoce.errors import ParameterError
from sottovoce.maths.bisection import bisect_to_width


def opening_users(users: int, items: int, epsilon: float) -> int:
    """Return how many users to spend evenly on all items before adapting.

    It is the maximum of (n - x)(1 - d exp(-c x)) over x, with n users and d items; all users if
    they are too few for anything better.

    >>> opening_users(10_000, 100, 2.0), opening_users(10_000, 100, 0.5)
    (2658, 10000)
    """
    whole("items", items, 1)
    if users < items:
        raise ParameterError("`users` must be at least as many as `items`: prune the items first")
    rate = tanh(epsilon / 2) ** 2 / (2 * items)
    if users * rate <= log(items):
        return users

    def rising(spent: float) -> bool:
        """Return the sign of the slope, log d + log(1 + c (n - x)) - c x, which falls with x."""
        return log(items) + log1p(rate * (users - spent)) > rate * spent

    low = log(items) / rate if items > 1 else 0.0
    return round(bisect_to_width(rising, low, float(users), 1e-6).middle)


def distance(deviation: Floats, gap: Floats) -> Floats:
    """Return H, the positive root of 3 H^2 + sqrt(2) sigma H = gap (Bernstein, inverted).

    >>> float(distance(np.array(0.43), np.array(0.07)) ** 2).__round__(12)
    0.006718459454
    """
    # the root without cancellation: 2 gap / (sqrt(2) sigma + sqrt(2 sigma^2 + 12 gap))
    spread = np.sqrt(2) * deviation + np.sqrt(2 * deviation**2 + 12 * gap)
    return np.asarray(np.divide(2 * gap, spread, out=np.zeros_like(spread), where=spread > 0))


@dataclass(frozen=True, eq=False)
class ItemReports:
    """How often each item was asked about, and how many ones were reported.

    ``sought`` is how many items are sought.

    An item that nobody was asked about counts as reported by nobody, and has the largest weight.
    """

    times: Ints
    ones: Ints
    sought: int

    def __post_init__(self) -> None:
        if len(self.times) != len(self.ones):
            raise ParameterError("`times` and `ones` must have one entry for every item")
        whole("sought", self.sought, 1, len(self.times) - 1)
        if (self.ones < 0).any() or (self.ones > self.times).any():
            raise ParameterError(
                "each entry of `ones` must be from 0 to the item's entry of `times`"
            )

    def __add__(self, more: "ItemReports") -> "ItemReports":
        return ItemReports(self.times + more.times, self.ones + more.ones, self.sought)

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
        """Return how far the rate of each item is from the other side of the boundary.

        Items of the top are compared with the best of the rest, the rest with the last of the top.
        """
        last_of_top = self.rates[self.order[self.sought - 1]]
        best_of_rest = self.rates[self.order[self.sought]]
        return np.asarray(np.abs(self.rates - np.where(self.top, best_of_rest, last_of_top)))

    @property
    def deviations(self) -> Floats:
        """Return the standard deviation of one report about each item."""
        return np.sqrt(self.rates * (1 - self.rates))

    def weights(self, *, even: bool = False) -> Floats:
        """Return the logarithm of every item's weight, log 3 - t H^2 (ARBS).

        With ``even``, items of the top are weighted towards one common accuracy instead (ARBSF).
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
        """Return the sum of 2 exp(-2 t gap^2) after more users (Hoeffding), and its slope."""
        steepness = 2 * self.gaps**2
        terms = 2 * np.exp(-steepness * (self.times + more * shares))
        return float(terms.sum()), -float((terms * steepness) @ shares)


def round_users(reports: ItemReports, shares: Floats, left: int, rounds_left: int) -> int:
    """Return how many users the next of the remaining rounds asks with these shares (DBS).

    It minimises x e(0) + (S - x) e(x), which is convex; S is twice an even share of the users that
    are left.  Both errors have the same form, or the first round would be empty.
    """
    whole("rounds_left", rounds_left, 1)
    whole("left", left, 1)
    if rounds_left == 1:
        return left
    double_share = 2 * left / rounds_left
    now, _ = reports.doubt(shares, 0.0)

    def falling(users: float) -> bool:
        later, slope = reports.doubt(shares, users)
        return now - later + (double_share - users) * slope < 0

    best = bisect_to_width(falling, 0.0, double_share, 0.1).middle
    return max(1, min(round(best), left // rounds_left))
