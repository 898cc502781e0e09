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
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.influence import InfluenceLaw, StatedInfluence
from sottovoce.core.noise import Noise
from sottovoce.errors import ParameterError


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
            raise ParameterError("counts that rest on different groups have no known sum")
        return float(coefficients**2 @ self.variances(votes, users))


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
    """Return what a report can do at most, in the group where it can do most."""
    known = [law.cells(1)[0] for law in laws if law is not None]
    if len(known) < len(laws):
        return None
    up = max(influence.up for influence in known)
    down = max(influence.down for influence in known)
    return StatedInfluence(up * people, down * people, people)
