"""Pooling: the count of a value from the reports of every group that can tell it from others.

A value that is known whole in group j is known in every later group as well: their prefixes are
longer.  The votes of disjoint groups of users err independently, so their sum V over the n users of
the groups j, j + 1, ... has the variance

    Var[V] = sum over the groups i of (variance of the votes of n_i users)

and N V / n estimates the count among all N people.  Drawing n of N users adds the variance of one
draw of that size, because the groups together are one random part of the users:

    Var[N V / n] = (N / n)^2 Var[V] + N^2 (N - n) / (n (N - 1)) f (1 - f)

Votes of all groups have nearly the same variance (it depends on the length of the prefix by less
than one part in the number of prefixes), so that adding them up is the combination with the least
error.

Thresholds and intervals are read from the law of supports.  With p_i and q_i of group i, and S_i of
its reports in support of the value, V is the sum of (S_i - n_i q_i) / (p_i - q_i).  Let g be the
least of the p_i - q_i and r_i = g / (p_i - q_i), which is at most 1.  Then

    g V = W - n q        W = sum of r_i S_i        q = sum of n_i r_i q_i / n        p = q + g

If all groups have the same p and q, W is Binomial(c, p) + Binomial(n - c, q) exactly.  They differ
by about one part in the number of prefixes.  W is then a sum of independent numbers between 0 and 1
with the same mean as that law, which spreads out at least as much (in the convex order).

A threshold holds for groups that differ as well.  If nobody holds the value and k is a whole
number, two bounds are known, and the lower threshold is taken:

    P[W > k] <= P[sum of S_i > k] <= P[Binomial(n, mean of q_i) > k]      for k >= n (mean of q_i)
    P[W >= k] <= e P[Binomial(n, q) >= k]

The first one is exact for groups that are alike, and the second one holds however they differ.

Source: Hoeffding 1956 (the first bound); Bentkus 2004 (the second one).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, e

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.fake_count import FakeCount
from sottovoce.core.fake_votes import SupportLawWithFakes
from sottovoce.core.influence import InfluenceLaw, StatedInfluence
from sottovoce.core.noise import Noise
from sottovoce.core.support_law import Sampled, SupportLaw
from sottovoce.errors import ParameterError
from sottovoce.maths import binomial


@dataclass(frozen=True, eq=False)
class GroupSumNoise(Noise):
    """The law of counts, each from the votes of one group and of all groups after it.

    ``groups`` are the noise laws of the groups and ``group_users`` their users; ``first`` is the
    first group of every cell.  The drawing of the users is included.
    """

    groups: tuple[Noise, ...]
    group_users: Ints
    first: Ints

    complete = False
    has_sums = False

    def support_law(self, first: int) -> SupportLaw | None:
        """Return the law of the supports of a value that is known from this group on.

        None if that of some group is not known.
        """
        laws = [group.supports for group in self.groups[first:]]
        known = [law for law in laws if law is not None]
        if len(known) < len(laws):
            return None
        return pooled_support_law(known, self.group_users[first:])

    def unheld_votes(self, votes: Floats, users: int, tail: float) -> Floats:
        limits = super().unheld_votes(votes, users, tail)
        for cells, law, pooled in self._known_laws():
            limits[cells] = law.unheld_votes(tail, pooled) * users / pooled
        return limits

    def bounds(self, votes: Floats, sample: Sampled, tail: float) -> tuple[Floats, Floats]:
        # The votes are those of everybody: which users each count rests on is known here.
        low, high = super().bounds(votes, sample, tail)
        for cells, law, pooled in self._known_laws():
            people = sample.users / pooled
            reported = Sampled(pooled, sample.population)
            own_low, own_high = law.bounds(votes[cells] / people, reported, tail)
            low[cells] = people * own_low
            high[cells] = people * own_high
        return low, high

    def _known_laws(self) -> Iterator[tuple[Ints, SupportLaw, int]]:
        """Yield the cells that are known from the same group on, their law and their users."""
        for first in np.unique(self.first).tolist():
            law = self.support_law(first)
            if law is not None:
                yield np.flatnonzero(self.first == first), law, int(self.group_users[first:].sum())

    @property
    def pooled_users(self) -> Ints:
        """Return how many users reported about every cell."""
        following = np.cumsum(self.group_users[::-1])[::-1]
        return np.asarray(following[self.first])

    def variances(self, votes: Floats, users: int) -> Floats:
        shares = np.clip(votes / users, 0.0, 1.0)
        noise = np.zeros(len(votes))
        pairs = zip(self.groups, self.group_users.tolist(), strict=True)
        for group, (law, members) in enumerate(pairs):
            spread = law.variances(members * votes / users, members)
            noise += np.where(self.first <= group, spread, 0.0)
        pooled = self.pooled_users
        drawing = users**2 / pooled * (users - pooled) / max(users - 1, 1)
        return np.asarray((users / pooled) ** 2 * noise + drawing * shares * (1 - shares))

    def picked(self, indices: Ints) -> "GroupSumNoise":
        return replace(self, first=self.first[indices])

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        if np.count_nonzero(coefficients) > 1:
            raise ParameterError("the error of a sum of counts from different groups is not known")
        return float(coefficients**2 @ self.variances(votes, users))


@dataclass(frozen=True)
class PooledSupportLaw(SupportLaw):
    """The supports of disjoint groups, each weighted so that votes are added up.

    ``unweighted`` is the mean of the q of all reports.
    """

    unweighted: float

    def unheld_votes(self, tail: float, users: int) -> float:
        plain = binomial.upper_quantile(tail, users, self.unweighted)
        plain = max(plain, ceil(users * self.unweighted))
        weighted = binomial.upper_quantile(tail / e, users, self.q)
        # Whole supports never lie half way between two numbers; weighted ones may lie anywhere.
        return self.votes(min(plain + 0.5, weighted + 1), users)


def pooled_support_law(laws: Sequence[SupportLaw], users: Ints) -> SupportLaw:
    """Return the law of the supports of disjoint groups whose votes are added up.

    ``users`` are those of each group, without fakes.
    """
    gaps = np.array([law.gap for law in laws])
    chances = np.array([law.q for law in laws])
    fakes = np.array([law.fake_count.mean for law in laws])
    parts = (users + fakes) / (users + fakes).sum()
    gap = float(gaps.min())
    q = float(parts @ (chances * gap / gaps))
    if not fakes.any():
        return PooledSupportLaw(q + gap, q, float(parts @ chances))
    vote = fakes @ np.array([law.fake_vote for law in laws]) / fakes.sum()
    count = sum((law.fake_count for law in laws), FakeCount(0.0))
    return SupportLawWithFakes(q + gap, q, count, float(vote))


def pooled_estimate(votes: Floats, first: Ints, groups: Sequence[Estimate]) -> Estimate:
    """Return how many people hold each value.

    ``votes`` are (groups, values), and ``first`` is the first group whose votes count for a value.
    ``groups`` are estimates of all groups, in order, whatever their candidates.
    """
    users = np.array([group.users for group in groups])
    noise = GroupSumNoise(tuple(group.noise.among() for group in groups), users, first)
    counted = np.arange(len(groups))[:, None] >= first
    population = groups[0].population
    people_per_report = population / noise.pooled_users
    return Estimate(
        votes=people_per_report * np.where(counted, votes, 0.0).sum(axis=0),
        noise=noise,
        users=population,
        epsilon=groups[0].epsilon,
        law=_pooled_law(people_per_report, [group.law for group in groups]),
        coins_checked=groups[0].coins_checked,
    )


def _pooled_law(people: Floats, laws: Sequence[InfluenceLaw | None]) -> InfluenceLaw | None:
    """Return the largest influence of one report over all groups."""
    known = [law.cells(1)[0] for law in laws if law is not None]
    if len(known) < len(laws):
        return None
    up = max(influence.up for influence in known)
    down = max(influence.down for influence in known)
    return StatedInfluence(up * people, down * people, people)
