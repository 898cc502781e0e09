"""Who permutes in which round: the hiders, and what that protects against.

Of r shufflers, t = floor(r / 2) + 1 are the hiders of a round: they know its permutation.  The
others, the seekers, do not.  There is one round for every set of t shufflers, in lexicographic
order.  A coalition misses the permutation of a round if none of its members is a hider there, which
is possible as long as it has at most r - t members:

    r   t   rounds C(r, t)   tolerated r - t
    3   2        3                1
    5   3       10                2
    7   4       35                3

An even r tolerates no more than r - 1 does.  So an odd r is required.

Source: Laur, Willemson and Zhang 2011; Wang 2021, section 9.5.
"""

from dataclasses import dataclass
from itertools import combinations

from sottovoce.core import settings
from sottovoce.errors import ParameterError

MIN_SHUFFLERS = 3
MAX_SHUFFLERS = 9  # 126 rounds; the number of rounds doubles with every shuffler


@dataclass(frozen=True)
class HiderSets:
    """The rounds of a shuffle by r shufflers; ``even`` lets an even r through, for study.

    >>> HiderSets(3).rounds
    ((0, 1), (0, 2), (1, 2))
    """

    shufflers: int
    even: bool = False

    def __post_init__(self) -> None:
        lowest = MIN_SHUFFLERS - 1 if self.even else MIN_SHUFFLERS
        settings.whole("shufflers", self.shufflers, lowest, MAX_SHUFFLERS)
        if self.shufflers % 2 == 0 and not self.even:
            raise ParameterError(
                f"`shufflers` must be odd, not {self.shufflers}: one less tolerates as many"
            )

    @property
    def hiders(self) -> int:
        """Return how many shufflers know the permutation of a round: t."""
        return self.shufflers // 2 + 1

    @property
    def tolerated(self) -> int:
        """Return how many corrupted shufflers learn nothing about the order: r - t."""
        return self.shufflers - self.hiders

    @property
    def rounds(self) -> tuple[tuple[int, ...], ...]:
        """Return the hiders of every round."""
        return tuple(combinations(range(self.shufflers), self.hiders))

    def hides_from(self, coalition: set[int]) -> bool:
        """Return whether there is a round whose hiders are all outside a coalition."""
        return any(coalition.isdisjoint(hiders) for hiders in self.rounds)
