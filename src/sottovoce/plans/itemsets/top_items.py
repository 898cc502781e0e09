"""SVIM, set-value item mining: the items that most people have.

    1. Half of the users report one item of their set; twice as many items as are sought are kept.
    2. A tenth report how many of these candidates they have; that gives the padding, which covers
       nine sets of ten.
    3. The rest report one of the candidates, padded to that length.  Counts are multiplied by what
       longer sets lose.

Prefer it where sets are small; ``AdaptiveTopItems`` is for large sets.

Source: Wang 2021, section 5.3.1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.arrays import Floats
from sottovoce.core.estimate import Estimate
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.domains.sets import Sets
from sottovoce.plans.itemsets.item_plan import ItemPlan
from sottovoce.plans.itemsets.padding import Padding
from sottovoce.plans.itemsets.set_questions import (
    Candidates,
    ask_how_many,
    ask_which,
    candidates_of,
    correct_for_padding,
    estimate_padding,
    estimate_sampled,
    largest,
    later_asks,
    round_with_share,
    total_users,
)
from sottovoce.plans.itemsets.truth import most_frequent_items
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Ask
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits


@dataclass(frozen=True)
class ItemSearch:
    """The rounds of the search, for every plan that begins with one.

    ``percentages`` of all users prune the items, report sizes, and report candidates.
    """

    items: int
    top: int
    percentages: tuple[int, int, int]
    paper: bool

    @cached_property
    def pruned(self) -> bool:
        """Return whether the items are pruned first, because there are too many."""
        return self.items > 2 * self.top

    @property
    def stages(self) -> tuple[int, ...]:
        """Return the percentage of every round; without pruning its users report candidates."""
        prune, size, estimate = self.percentages
        return (prune, size, estimate) if self.pruned else (size, prune + estimate)

    def later_asks(self, epsilon: float) -> list[Ask]:
        """Return questions that stand for those of the later rounds."""
        max_candidates = 2 * self.top if self.pruned else self.items
        return later_asks(epsilon, self.items, max_candidates, paper=self.paper)

    def ask(self, collected: Collected) -> Round | None:
        """Return the next round of the search, or None after the last one."""
        number = len(collected.rounds)
        if number >= len(self.stages):
            return None
        if self.pruned and number == 0:
            question = ask_which(collected.epsilon, self.items, 1, paper=self.paper)
            return round_with_share(number, question, self.stages)
        candidates = self.candidates(collected)
        if number == len(self.stages) - 2:
            question = ask_how_many(collected.epsilon, self.items, candidates, paper=self.paper)
        else:
            length = self.padding(collected).length
            question = ask_which(
                collected.epsilon, self.items, length, candidates, paper=self.paper
            )
        return round_with_share(number, question, self.stages)

    def candidates(self, collected: Collected) -> Candidates:
        """Return the items that are left, each as a set of one."""
        if not self.pruned:
            return tuple((item,) for item in range(self.items))
        if len(collected.rounds) > 1:
            return candidates_of(collected.rounds[1])
        estimate = estimate_sampled(collected, 0, collected.users(0))
        return tuple((item,) for item in sorted(largest(estimate, 2 * self.top).tolist()))

    def robust_to(self, collected: Collected, candidates: Sequence[int]) -> Floats:
        """Return for some candidates the share of false reports that could have made them so."""
        if not self.pruned:
            return np.ones(len(candidates))
        estimate = estimate_sampled(collected, 0, total_users(collected))
        rival = int(largest(estimate, 2 * self.top + 1)[-1])
        return estimate.robust_ahead(np.array(candidates), rival)

    def padding(self, collected: Collected) -> Padding:
        """Return how far the sets of the last round are padded."""
        return estimate_padding(collected, len(self.stages) - 2, paper=self.paper)

    def estimate(self, collected: Collected, population: int) -> Estimate:
        """Return how many people have each candidate."""
        raw = estimate_sampled(collected, len(self.stages) - 1, population)
        return correct_for_padding(raw, self.padding(collected))


@dataclass(frozen=True, init=False)
class TopItems(ItemPlan, Plan, kind="svim"):
    """Find the ``top`` items, and how many people have each.

    With ``paper`` everything is as published: OLH for hashing, and no guard that keeps a set length
    believed in error from inflating all counts.
    """

    takes_fakes = True

    domain: Sets
    top: int
    paper: bool

    def __init__(
        self, domain: Domain | Iterable[Any], top: int = 16, *, paper: bool = False
    ) -> None:
        sets = domain if isinstance(domain, Sets) else Sets(domain)
        object.__setattr__(self, "domain", sets)
        object.__setattr__(self, "top", whole("top", top, 1, sets.items.size))
        object.__setattr__(self, "paper", bool(paper))

    @property
    def search(self) -> ItemSearch:
        """Return the rounds of the search."""
        return ItemSearch(self.domain.items.size, self.top, (50, 10, 40), self.paper)

    def step(self, collected: Collected) -> Round | Answer:
        return self.search.ask(collected) or self._answer(collected)

    def later_rounds(self, opening: Round) -> RoundLimits | None:
        return RoundLimits.of(len(self.search.stages), self.search.later_asks(opening.epsilon))

    def _answer(self, collected: Collected) -> Answer:
        search = self.search
        estimate = search.estimate(collected, total_users(collected))
        best = largest(estimate, self.top)
        candidates = search.candidates(collected)
        items = [candidates[index][0] for index in best.tolist()]
        labels = tuple(self.domain.labels[item] for item in items)
        last = collected.rounds[-1]
        mechanism = last.question(Address(last.number)).mechanism
        details = {"candidates": len(candidates), **padding_details(search.padding(collected))}
        robust_to = search.robust_to(collected, items)
        if len(candidates) > len(best):
            rival = int(largest(estimate, self.top + 1)[-1])
            robust_to = np.minimum(robust_to, estimate.robust_ahead(best, rival))
        columns = {"robust_to": tuple(robust_to.tolist())}
        picked = estimate.picked(best)
        return Answer("top items", labels, picked, mechanism.kind, details=details, columns=columns)

    def sought(self, values: Any) -> dict[str, int]:
        return most_frequent_items(self.domain, values, self.top)


def padding_details(padding: Padding) -> dict[str, Any]:
    """Return the details of an answer about the padding of its search."""
    return {
        "padded_to": padding.length,
        "correction": padding.correction,
        "sizes_seen": padding.confident,
    }
