"""Advice before a search for frequent items: which of two plans sees more, and what it would find.

One random item of a large set says little about the others.  Then asking everybody about one item,
and more often about those in doubt, sees more.

Source: Wang 2021, section 5.2; Du 2025, section 5.2.5.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, log, sqrt, tanh
from typing import Any, ClassVar

import numpy as np

from sottovoce.core.settings import epsilon as check_epsilon
from sottovoce.core.settings import positive
from sottovoce.maths.normal import upper_quantile
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.plans.frequencies.choose_mechanism import UNSTATED_RULE, choose
from sottovoce.plans.itemsets.padding import SHARE
from sottovoce.plans.itemsets.set_questions import ask_which
from sottovoce.plans.search_advice import FOUND, SearchAdvice, check_search, users_for_share


@dataclass(frozen=True)
class ItemWishes:
    """The wishes for a search for frequent items.

    - ``top`` is the number of items that are sought.
    - ``basket`` is the number of items that a person has on average.
    - ``share`` is a wished share of people.  The advice says how many users are needed to find an
      item that this share of people have.
    """

    top: int = 16
    basket: float = 5.0
    share: float | None = None

    def __post_init__(self) -> None:
        positive("basket", self.basket)


def advise_items(users: int, items: int, epsilon: float, **wishes: Any) -> SearchAdvice:
    """Return how to search for frequent items; ``wishes`` are those of ItemWishes."""
    wished = ItemWishes(**wishes)
    check_search(users, wished.share)
    check_epsilon("epsilon", epsilon)
    sampling = _SamplingSearch(items, epsilon, wished.top, wished.basket)
    adaptive = _AdaptiveSearch(items, epsilon, wished.top, wished.basket)
    better: _Search = sampling
    worse: _Search = adaptive
    if _is_smaller(adaptive.findable(users), sampling.findable(users)):
        better = adaptive
        worse = sampling
    return SearchAdvice(
        plan=better.plan,
        users=users,
        epsilon=epsilon,
        top=wished.top,
        findable=better.findable(users),
        error=better.error(users),
        rounds=better.rounds,
        reason=f"the other way of searching would find {_percent(worse.findable(users))}",
        users_needed=users_for_share(better.findable, wished.share),
    )


def _is_smaller(share: float | None, than: float | None) -> bool:
    """Return whether a findable share is smaller; None, nothing findable, is larger than any."""
    if share is None:
        return False
    return than is None or share < than


def _percent(share: float | None) -> str:
    return "nothing" if share is None else f"{100 * share:.3g} %"


@dataclass(frozen=True)
class _Search(ABC):
    """A search for the ``top`` of ``items`` items in sets of ``basket`` items on average."""

    plan: ClassVar[str]
    kept_per_sought: ClassVar[int]  # items that survive the pruning, for every item that is sought
    rounds_after_pruning: ClassVar[int]

    items: int
    epsilon: float
    top: int
    basket: float

    @property
    def kept(self) -> int:
        """Return how many items are left after pruning; all of them if none must be pruned."""
        return min(self.items, self.kept_per_sought * self.top)

    @property
    def pruned(self) -> bool:
        """Return whether items are pruned first."""
        return self.kept < self.items

    @property
    def rounds(self) -> int:
        """Return the number of rounds."""
        return self.rounds_after_pruning + (1 if self.pruned else 0)

    @abstractmethod
    def error(self, users: int) -> float:
        """Return the standard error of the share of a rare item at the end."""

    def findable(self, users: int) -> float | None:
        """Return the share that survives the pruning, then stands two margins above the rest."""
        needed = 2 * upper_quantile(1 - FOUND) * self.error(users)
        if self.pruned:
            needed = max(needed, self._surviving_share(users // 2))
        return needed if needed <= 1 else None

    def _surviving_share(self, users: int) -> float:
        """Return the share of an item that survives the pruning by ``users`` users.

        The item is sampled from a set once in ``basket``.
        """
        mechanism = choose(self.items + 1, self.epsilon, UNSTATED_RULE).mechanism
        error = sqrt(_rare_variance(mechanism) / users)
        margins = upper_quantile(self.kept / self.items) + upper_quantile(1 - FOUND)
        return self.basket * error * margins


@dataclass(frozen=True)
class _SamplingSearch(_Search):
    """By reporting one item of the set (SVIM)."""

    plan = "TopItems"
    kept_per_sought = 2
    rounds_after_pruning = 2

    def error(self, users: int) -> float:
        length = max(1, ceil(_covering_size(self.basket)))
        candidates = tuple((item,) for item in range(self.kept))
        mechanism = ask_which(self.epsilon, self.items, length, candidates).mechanism
        assert isinstance(mechanism, PureMechanism)
        reporting = 0.4 if self.pruned else 0.9  # the share of users in the last round
        return length * sqrt(_rare_variance(mechanism) / (reporting * users))


@dataclass(frozen=True)
class _AdaptiveSearch(_Search):
    """By asking about one item (DBS)."""

    plan = "AdaptiveTopItems"
    kept_per_sought = 10
    rounds_after_pruning = 11

    def error(self, users: int) -> float:
        asked = users / (2 if self.pruned else 1)
        return sqrt(self.kept / asked) / (2 * tanh(self.epsilon / 2))


def _rare_variance(mechanism: PureMechanism) -> float:
    """Return the variance of one report's vote for a value that hardly anybody holds."""
    return float(mechanism.noise.variances(np.zeros(1), 1)[0])


def _covering_size(basket: float) -> float:
    """Return the size that nine sets of ten do not exceed, if sizes are geometric."""
    return log(1 - SHARE) / log(basket / (basket + 1))
