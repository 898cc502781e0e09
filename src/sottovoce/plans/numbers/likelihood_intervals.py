"""Intervals of quantiles and ranges of a distribution, by the likelihood of the reports.

Smoothing makes a good picture of a distribution and hides its own bias: a bootstrap of the smooth
shape repeats it.  These intervals assume no shape.  Let L be the log-likelihood of the reports of
Square Wave under the best of all distributions, and L(H) that under the best of those in a set H.
H is rejected at the confidence level 1 - alpha if

    2 (L - L(H)) > the upper alpha quantile of chi-squared

- A share s of people may be below edge j unless "at least s below edge j" or "at most s" is
  rejected, with one degree of freedom.  The quantile is between the first edge for which the former
  is not rejected, less one bucket, and the last for which the latter is not, plus one.
- A set of buckets may hold a share m of people unless "exactly m" is rejected, with two degrees: a
  range is the difference of the shares below its two ends.

Both sets of hypotheses are nested, so that bisection finds the bounds.  The law of the statistic is
that of regular parameters.  Shares cannot be negative, which makes the intervals somewhat too wide
for most shapes, and too narrow where many empty buckets lie beside the quantile and reports are
few, or where a range ends at a spike that is all there is; docs/evidence/quantiles.md has the
measured coverage.

The ratio is inverted as in an empirical likelihood.

Source: Owen 1990.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log1p

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.maths.em import Sliding
from sottovoce.maths.mixture import ComponentGroups, Mixture, MixtureProblem
from sottovoce.maths.normal import quantile

_HALVINGS = 12  # of the range in which the bound of a share is sought


@dataclass(frozen=True, eq=False)
class LikelihoodIntervals:
    """How often every output of Square Wave was reported, and the channel that made them."""

    counts: Floats
    channel: Sliding

    @cached_property
    def _problem(self) -> MixtureProblem:
        return MixtureProblem(self.counts, self.channel)

    @cached_property
    def _best(self) -> Mixture:
        """Return the most likely of all distributions."""
        return self._problem.best()

    def quantile(self, share: float, level: float) -> tuple[int, int]:
        """Return the edges between which the number lies that a share of people is below.

        Edge j is the lower edge of bucket j; the last edge is the upper one of the last bucket.
        """
        return _quantile(self, share, level)

    def share(self, inside: Bools, level: float) -> tuple[float, float]:
        """Return bounds of the share of people in the marked buckets."""
        return _share(self, inside.tobytes(), level)

    def allows_quantile(self, share: float, bucket: int, level: float) -> bool:
        """Return whether the number that a share of people is below may lie in a bucket."""
        return self._may_be_under(bucket + 1, share, level) and self._may_be_over(
            bucket, share, level
        )

    def allows_share(self, inside: Bools, share: float, level: float) -> bool:
        """Return whether the marked buckets may hold a share of people."""
        return self._allowed(inside, share, _of_two(level), self._best) is not None

    def _may_be_under(self, edge: int, share: float, level: float) -> bool:
        """Return whether at least a share of people may be below an edge."""
        if self._below[edge] >= share:
            return True
        return edge > 0 and self._may_be_exactly(edge, share, level)

    def _may_be_over(self, edge: int, share: float, level: float) -> bool:
        """Return whether at most a share of people may be below an edge."""
        if self._below[edge] <= share:
            return True
        return edge < self._problem.size and self._may_be_exactly(edge, share, level)

    def _may_be_exactly(self, edge: int, share: float, level: float) -> bool:
        return self._allowed(self._under(edge), share, _of_one(level), self._best) is not None

    def _allowed(
        self, inside: Bools, share: float, critical: float, start: Mixture
    ) -> Mixture | None:
        """Return a mixture with a share in some buckets that is not rejected, or None.

        A mixture is rejected if its log-likelihood is below that of the best mixture by more than
        half of the critical value.
        """
        threshold = self._best.log_likelihood - critical / 2
        groups = ComponentGroups.split(inside, share)
        likeliest = self._problem.best(groups, start, threshold)
        return likeliest if likeliest.most >= threshold else None

    def first_edge(self, share: float, level: float) -> int:
        """Return the first edge below which at least a share of people may be."""
        allowed = int(np.flatnonzero(self._below >= share)[0])
        return self._outermost(allowed, 0, share, level)  # nobody is below edge 0

    def last_edge(self, share: float, level: float) -> int:
        """Return the last edge below which at most a share of people may be."""
        allowed = int(np.flatnonzero(self._below <= share)[-1])
        # Everybody is below the last edge.
        return self._outermost(allowed, self._problem.size, share, level)

    def _outermost(self, allowed: int, rejected: int, share: float, level: float) -> int:
        """Return the allowed edge that is nearest to a rejected one, by bisection."""
        start = self._best
        while abs(allowed - rejected) > 1:
            middle = (allowed + rejected) // 2
            likeliest = self._allowed(self._under(middle), share, _of_one(level), start)
            if likeliest is None:
                rejected = middle
            else:
                allowed, start = middle, likeliest
        return allowed

    @cached_property
    def _below(self) -> Floats:
        """Return the share below every edge of the most likely distribution."""
        shares = np.zeros(self._problem.size + 1)
        shares[self._best.support + 1] = self._best.weights
        below = shares.cumsum()
        below[-1] = 1.0
        return below

    def _under(self, edge: int) -> Bools:
        return np.arange(self._problem.size) < edge

    def extreme_share(self, inside: Bools, level: float, end: float) -> float:
        """Return the share nearest to ``end``, 0 or 1, that the marked buckets may hold."""
        start = self._best
        allowed = start.weight_of(inside)
        if self._allowed(inside, end, _of_two(level), start) is not None:
            return end
        rejected = end
        for _ in range(_HALVINGS):
            middle = (allowed + rejected) / 2
            likeliest = self._allowed(inside, middle, _of_two(level), start)
            if likeliest is None:
                rejected = middle
            else:
                allowed, start = middle, likeliest
        return rejected  # the outer end of what is left


def _of_one(level: float) -> float:
    """Return the critical value of chi-squared with one degree."""
    return quantile(level) ** 2


def _of_two(level: float) -> float:
    """Return the critical value of chi-squared with two degrees, which is exponential."""
    return -2 * log1p(-level)


@lru_cache(maxsize=64)
def _quantile(intervals: LikelihoodIntervals, share: float, level: float) -> tuple[int, int]:
    first = intervals.first_edge(share, level) - 1
    last = intervals.last_edge(share, level) + 1
    return first, last


@lru_cache(maxsize=1024)
def _share(intervals: LikelihoodIntervals, marked: bytes, level: float) -> tuple[float, float]:
    inside = np.frombuffer(marked, bool)
    if inside.all():
        return 1.0, 1.0
    if not inside.any():
        return 0.0, 0.0
    low = intervals.extreme_share(inside, level, 0.0)
    return low, intervals.extreme_share(inside, level, 1.0)
