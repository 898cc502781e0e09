"""The layout of a search: how long the prefixes of every group are, and how many users it gets.

A value of share f is followed if its prefix stands out of the noise in every group up to the one in
which the value is known whole.  Let group i have the part w_i of the users and C_i candidates.  The
standard error of a share there is s / sqrt(w_i), and the value is followed 19 times in 20 if

    f >= s a_i / sqrt(w_i)      a_i = (quantile that noise reaches) + (quantile of being followed)

for all groups i up to that one, which is j with the probability pi_j (``endings`` of the domain).
The predicted loss of a layout is the smallest share that is found, on average over the values:

    loss = sum over j of pi_j max over i <= j of a_i / sqrt(w_i)

For given lengths the weights with the least loss have a closed form.  If groups are merged into
blocks b with P_b = sum of pi and A_b = sum of a^2 such that A_b / P_b increases, a_i / sqrt(w_i)
is one number t_b in a block, proportional to (A_b / P_b)^(1/3).  ``choose_layout`` compares the
layouts with equal steps that a budget of candidates allows.  The loss depends neither on epsilon
nor on the number of users: both only change s.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import sqrt

from sottovoce.core.settings import entries, wholes
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import ParameterError
from sottovoce.maths.normal import upper_quantile
from sottovoce.plans.search_advice import FOUND

MAX_FIRST = 22  # bits of the first group, of which all prefixes are candidates
MAX_GROUPS = 480
STEPS_COMPARED = 4  # for every length of the first prefixes
WEIGHT_UNITS = 1000  # of all groups together, about
MIN_PART = 0.2  # of an equal part: the least that a group gets


@dataclass(frozen=True)
class GroupLayout:
    """The prefix length and the weight of every group; an empty one leaves both to the plan."""

    lengths: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        entries("lengths", self.lengths, 0, MAX_GROUPS)
        wholes("lengths", self.lengths, 1)
        entries("weights", self.weights, len(self.lengths), len(self.lengths))
        wholes("weights", self.weights, 1)
        if any(longer <= shorter for shorter, longer in pairwise(self.lengths)):
            raise ParameterError("`lengths` of a layout must increase")

    def __bool__(self) -> bool:
        return bool(self.lengths)


@dataclass(frozen=True)
class _Block:
    """Neighbouring groups that lose values of the same share."""

    chance: float  # that a value becomes known in one of them
    squares: float  # sum of a^2
    groups: tuple[int, ...]

    def __add__(self, other: "_Block") -> "_Block":
        return _Block(
            self.chance + other.chance, self.squares + other.squares, self.groups + other.groups
        )

    @property
    def level(self) -> float:
        """Return a / sqrt(w) of its groups, but for a factor that all blocks have."""
        return float((self.squares / self.chance) ** (1 / 3))


@lru_cache(maxsize=256)
def choose_layout(domain: Bits | Strings, kept: int, budget: int) -> GroupLayout:
    """Return the layout with the least predicted loss whose candidates stay within a budget.

    >>> choose_layout(Bits(48), 32, 1 << 22).lengths
    (17, 33, 48)
    """
    possible = list(_layouts_within(domain.bits, kept, budget))
    if not possible:
        raise ParameterError("`queries` must be larger: it does not allow even one bit at a time")
    lengths = min(possible, key=lambda lengths: predicted_loss(domain, lengths, kept))
    return GroupLayout(lengths, best_weights(domain, lengths, kept))


def candidate_count(lengths: tuple[int, ...], kept: int) -> int:
    """Return how many candidates are estimated in all if ``kept`` prefixes are extended.

    >>> candidate_count((20, 34), 32) == (1 << 20) + (32 << 14)
    True
    """
    extended = sum(
        min(kept, 1 << shorter) << (longer - shorter) for shorter, longer in pairwise(lengths)
    )
    return (1 << lengths[0]) + extended


def predicted_loss(domain: Bits | Strings, lengths: tuple[int, ...], kept: int) -> float:
    """Return the smallest share that is found, on average, with the best weights.

    It is in standard errors of a share that everybody reports.
    """
    blocks = _blocks(domain, lengths, kept)
    weight = sum(block.squares / block.level**2 for block in blocks)
    return sqrt(weight) * sum(block.chance * block.level for block in blocks)


def best_weights(domain: Bits | Strings, lengths: tuple[int, ...], kept: int) -> tuple[int, ...]:
    """Return the weights of the groups with the least predicted loss, as whole numbers.

    No group gets less than a fifth of an equal part, so that small crowds leave none empty and long
    texts keep a chance.
    """
    demands = group_demands(lengths, kept)
    weights = [0.0] * len(lengths)
    for block in _blocks(domain, lengths, kept):
        for group in block.groups:
            weights[group] = (demands[group] / block.level) ** 2
    total = sum(weights)
    least = MIN_PART / len(weights)
    return tuple(max(1, round(WEIGHT_UNITS * max(weight / total, least))) for weight in weights)


def group_demands(lengths: tuple[int, ...], kept: int) -> list[float]:
    """Return a_i: the number of standard errors that the prefix of a value needs in every group.

    In the last group it must exceed the level that about one candidate without holders reaches.  In
    the groups before, it must exceed the level that half of the kept prefixes reach.
    """
    followed = upper_quantile(1 - FOUND ** (1 / len(lengths)))
    demands = []
    shorter = 0
    for group, length in enumerate(lengths):
        candidates = min(kept, 1 << shorter) << (length - shorter)
        passing = 1 if group == len(lengths) - 1 else kept / 2
        noise = upper_quantile(passing / candidates) if candidates > 2 * passing else 0.0
        demands.append(noise + followed)
        shorter = length
    return demands


def _blocks(domain: Bits | Strings, lengths: tuple[int, ...], kept: int) -> list[_Block]:
    """Return groups merged until the shares that blocks lose increase."""
    demands = group_demands(lengths, kept)
    chances = [0.0] * len(lengths)
    for bits, chance in domain.endings.items():
        known = next(group for group, length in enumerate(lengths) if length >= bits)
        chances[known] += chance
    blocks: list[_Block] = []
    for group, (demand, chance) in enumerate(zip(demands, chances, strict=True)):
        blocks.append(_Block(chance, demand**2, (group,)))
        while len(blocks) > 1 and _out_of_order(blocks[-2], blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return blocks


def _out_of_order(block: _Block, following: _Block) -> bool:
    """Return whether the level of a block is not below that of the following one."""
    return block.squares * following.chance >= following.squares * block.chance


def _layouts_within(bits: int, kept: int, budget: int) -> Iterator[tuple[int, ...]]:
    """Yield lengths with a first one and equal steps; the last step may be shorter.

    For every first length these are the largest steps that the budget allows: smaller ones lose
    more.
    """
    for first in range(1, min(bits, MAX_FIRST) + 1):
        within = 0
        for step in range(max(1, min(bits - first, MAX_FIRST)), 0, -1):
            lengths = (*range(first, bits, step), bits)
            within += candidate_count(lengths, kept) <= budget
            if 1 <= within <= STEPS_COMPARED:
                yield lengths
            if within == STEPS_COMPARED:
                break
