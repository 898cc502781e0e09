"""Groups of attributes that are asked together: their members and their numbers of users.

A user who is asked about a few attributes of a cluster may reveal more of each, but then fewer
users report each attribute.

Differs from print: theorem 3 gives users in proportion to the square root of f, not to its cube
root, and lemma 2, which knows only the noise, is completed by the drawing of users.

Source: Du 2025, section 4.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import expm1, fsum, sqrt

from sottovoce.core.settings import whole
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.correlation_bounds import Ties

Group = tuple[int, ...]


def vote_variance(size: int, spent: float) -> float:
    """Return the variance of one user's vote for a value of ``size`` that they do not hold.

    >>> round(vote_variance(2, 1.0), 4)
    0.9207
    """
    excess = expm1(spent)
    return (excess + size - 1) / excess**2


def weakly_tied_groups(ties: Ties, size: int) -> tuple[Group, ...]:
    """Return groups of ``size`` attributes, the last maybe smaller.

    Attributes choose one after another, those with the strongest ties first.  Each joins the group
    with which it has the weakest ties.
    """
    count = len(ties)
    whole("size", size, 1, count)
    strengths = ties.strengths.tolist()
    group_count = -(-count // size)
    capacities = [size] * (group_count - 1) + [count - size * (group_count - 1)]
    groups: list[list[int]] = [[] for _ in range(group_count)]
    by_strength = sorted(range(count), key=lambda index: (-fsum(strengths[index]), index))
    for attribute in by_strength:
        free = [index for index in range(group_count) if len(groups[index]) < capacities[index]]
        ties_to = {
            index: fsum(strengths[attribute][member] for member in groups[index]) for index in free
        }
        groups[min(free, key=lambda index: (ties_to[index], index))].append(attribute)
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def allocate(costs: Sequence[float], users: int) -> tuple[int, ...]:
    """Return how many users each group gets: in proportion to the root of its cost, at least one.

    >>> allocate((4.0, 1.0), 10)
    (7, 3)
    """
    whole("users", users, len(costs))
    if min(costs) <= 0:
        raise ParameterError("each entry of `costs` must be above 0")
    total = fsum(sqrt(cost) for cost in costs)
    quotas = [users * sqrt(cost) / total for cost in costs]
    allocated = [max(1, int(quota)) for quota in quotas]
    by_remainder = sorted(range(len(costs)), key=lambda index: int(quotas[index]) - quotas[index])
    for index in by_remainder[: max(0, users - sum(allocated))]:
        allocated[index] += 1
    while sum(allocated) > users:  # some group's quota was below 1: the largest gives way
        allocated[allocated.index(max(allocated))] -= 1
    return tuple(allocated)


@dataclass(frozen=True, eq=False)
class Grouping:
    """One cluster in groups.  What its attributes spend leaves no leak above epsilon."""

    ties: Ties
    sizes: tuple[int, ...]
    epsilon: float
    groups: tuple[Group, ...]

    @classmethod
    def greedy(cls, ties: Ties, sizes: Sequence[int], epsilon: float, size: int) -> "Grouping":
        """Return a cluster in groups of ``size`` attributes."""
        return cls(ties, tuple(sizes), epsilon, weakly_tied_groups(ties, size))

    @cached_property
    def spent(self) -> tuple[float, ...]:
        """Return what every attribute of each group spends; an attribute alone spends epsilon."""
        return tuple(self.ties.among(group).spent(self.epsilon) for group in self.groups)

    @property
    def costs(self) -> tuple[float, ...]:
        """Return the f of every group: the noise of one user, summed over its attributes."""
        costs = []
        for group, spent in zip(self.groups, self.spent, strict=True):
            costs.append(fsum(vote_variance(self.sizes[attribute], spent) for attribute in group))
        return tuple(costs)

    def users(self, users: int) -> tuple[int, ...]:
        """Return how many of so many users each group gets."""
        return allocate(self.costs, users)

    def noise_total(self, users: int, allocated: Sequence[int] | None = None) -> float:
        """Return the variances of all estimated shares, summed, by noise alone (lemma 2)."""
        pairs = zip(self.costs, allocated or self.users(users), strict=True)
        return fsum(cost / group_users for cost, group_users in pairs)

    def total(
        self, users: int, share: float = 0.5, allocated: Sequence[int] | None = None
    ) -> float:
        """Return the variances of all estimated shares, summed, with the drawing of users.

        Every attribute is taken to have a value that this share of people hold.
        """
        chosen = allocated or self.users(users)
        drawing = []
        for group, group_users in zip(self.groups, chosen, strict=True):
            left_out = (users - group_users) / max(users - 1, 1)
            drawing.append(len(group) * left_out / group_users)
        return self.noise_total(users, chosen) + share * (1 - share) * fsum(drawing)


def best_grouping(
    ties: Ties, sizes: Sequence[int], epsilon: float, users: int, share: float = 0.5
) -> Grouping:
    """Return the cluster in groups of the size with the smallest errors for so many users."""
    smallest = max(1, -(-len(ties) // users))
    groupings = [
        Grouping.greedy(ties, sizes, epsilon, size) for size in range(smallest, len(ties) + 1)
    ]
    return min(groupings, key=lambda grouping: grouping.total(users, share))
