"""Groups of attributes: who is put together, how many users each group gets, and how large groups should be.

A user who is asked about a few attributes of a cluster may tell more of each; but then fewer users tell of it.

Differs from print: theorem 3 gives users in proportion to the root of f, not to its cube root, and lemma 2, which knows
the noise only, is completed by the drawing of users.

Source: Du 2025, section 4.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import expm1, fsum, sqrt

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.correlation_bounds import Ties

Group = tuple[int, ...]


def noise(size: int, spent: float) -> float:
    """Return the variance of one user's vote for a value that they do not hold; of two values, for either.

    >>> round(noise(2, 1.0), 4)
    0.9207
    """
    excess = expm1(spent)
    return (excess + size - 1) / excess**2


def groups(ties: Ties, size: int) -> tuple[Group, ...]:
    """Return groups of so many attributes, the last maybe smaller: each joins those that it hangs together with least.

    Those most tied to all others choose first.
    """
    count = len(ties)
    if not 1 <= size <= count:
        raise ParameterError("a group has from one to all attributes of its cluster")
    strengths = ties.strengths.tolist()
    made: list[list[int]] = [[] for _ in range(-(-count // size))]
    room = [size] * (len(made) - 1) + [count - size * (len(made) - 1)]
    for one in sorted(range(count), key=lambda place: (-fsum(strengths[place]), place)):
        free = [place for place, group in enumerate(made) if len(group) < room[place]]
        best = min(free, key=lambda place: (fsum(strengths[one][other] for other in made[place]), place))
        made[best].append(one)
    return tuple(sorted(tuple(sorted(group)) for group in made))


def allocated(costs: Sequence[float], users: int) -> tuple[int, ...]:
    """Return how many users each group gets: in proportion to the root of its cost, rounded, at least one.

    >>> allocated((4.0, 1.0), 10)
    (7, 3)
    """
    if users < len(costs) or min(costs) <= 0:
        raise ParameterError("there is at least one user for every group, and every group has a cost")
    whole = fsum(sqrt(cost) for cost in costs)
    quotas = [users * sqrt(cost) / whole for cost in costs]
    given = [max(1, int(quota)) for quota in quotas]
    by_remainder = sorted(range(len(costs)), key=lambda place: int(quotas[place]) - quotas[place])
    for place in by_remainder[: max(0, users - sum(given))]:
        given[place] += 1
    while sum(given) > users:  # where a group had less than one user by its quota, the largest gives way
        given[given.index(max(given))] -= 1
    return tuple(given)


@dataclass(frozen=True, eq=False)
class Grouping:
    """One cluster in groups, each with what its attributes may spend so that no leak exceeds epsilon."""

    ties: Ties
    sizes: tuple[int, ...]
    epsilon: float
    groups: tuple[Group, ...]

    @classmethod
    def greedy(cls, ties: Ties, sizes: Sequence[int], epsilon: float, size: int) -> "Grouping":
        """Return a cluster in groups of so many attributes."""
        return cls(ties, tuple(sizes), epsilon, groups(ties, size))

    @cached_property
    def spent(self) -> tuple[float, ...]:
        """Return what every attribute of each group spends: alone, all of epsilon."""
        return tuple(self.ties.among(group).spent(self.epsilon) for group in self.groups)

    @property
    def costs(self) -> tuple[float, ...]:
        """Return the f of every group: its noise, summed over attributes, were it asked of a single user."""
        pairs = zip(self.groups, self.spent, strict=True)
        return tuple(fsum(noise(self.sizes[one], spent) for one in group) for group, spent in pairs)

    def users(self, users: int) -> tuple[int, ...]:
        """Return how many of so many users each group gets."""
        return allocated(self.costs, users)

    def noise_total(self, users: int, given: Sequence[int] | None = None) -> float:
        """Return the variances of all estimated shares, summed: the noise alone, as lemma 2 has it."""
        return fsum(cost / one for cost, one in zip(self.costs, given or self.users(users), strict=True))

    def total(self, users: int, share: float = 0.5, given: Sequence[int] | None = None) -> float:
        """Return the variances of all estimated shares, summed, the drawing of users included; all have this share."""
        chosen = given or self.users(users)
        left = [(users - one) / max(users - 1, 1) / one for one in chosen]
        drawn = fsum(len(group) * part for group, part in zip(self.groups, left, strict=True))
        return self.noise_total(users, chosen) + share * (1 - share) * drawn


def best(ties: Ties, sizes: Sequence[int], epsilon: float, users: int, share: float = 0.5) -> Grouping:
    """Return the cluster in groups of the size with the smallest errors for so many users."""
    most = range(max(1, -(-len(ties) // users)), len(ties) + 1)
    return min((Grouping.greedy(ties, sizes, epsilon, size) for size in most), key=lambda one: one.total(users, share))
