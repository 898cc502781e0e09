"""SVSM, set-value itemset mining: the sets of items that most people have whole.

    1. Half of the users find the items that are frequent by themselves (SVIM).
    2. The candidates are the sets of them that would be frequent if items were held independently.
    3. A tenth of the users report how many candidates they have; that gives the padding.
    4. The rest report one candidate, padded to that length.

Source: Wang 2021, section 5.3.2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappush, heapreplace
from math import log2
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.core.estimate import Estimate
from sottovoce.core.influence import StatedInfluence
from sottovoce.core.settings import whole
from sottovoce.domains.base import Domain
from sottovoce.domains.sets import JOINT, Sets
from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets.item_plan import ItemPlan
from sottovoce.plans.itemsets.padded_noise import JoinedNoise
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
from sottovoce.plans.itemsets.top_items import ItemSearch, padding_details
from sottovoce.plans.itemsets.truth import most_frequent_sets
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits

MIN_TOP = 5  # with fewer sought sets, no set of two would be a candidate
_DAMPING = 0.9  # the guess for the most frequent item: no set is as frequent as its items
_PERCENTAGES = (10, 40)  # of all users: sizes, then sets


@dataclass(frozen=True, init=False)
class Itemsets(ItemPlan, Plan, kind="svsm"):
    """Find the ``top`` sets of items, single items among them, and how many people have each whole.

    With ``paper`` everything is as published, as in ``TopItems``.
    """

    takes_fakes = True

    domain: Sets
    top: int
    paper: bool

    def __init__(
        self, domain: Domain | Iterable[Any], top: int = 16, *, paper: bool = False
    ) -> None:
        sets = domain if isinstance(domain, Sets) else Sets(domain)
        if sets.items.size < MIN_TOP:
            raise ParameterError(
                f"`domain` must have at least {MIN_TOP} items, not {sets.items.size}:"
                " among fewer no set of two would be sought"
            )
        object.__setattr__(self, "domain", sets)
        object.__setattr__(self, "top", whole("top", top, MIN_TOP, sets.items.size))
        object.__setattr__(self, "paper", bool(paper))

    @property
    def search(self) -> ItemSearch:
        """Return the rounds of the first half, which finds single items."""
        return ItemSearch(self.domain.items.size, self.top, (25, 5, 20), self.paper)

    def step(self, collected: Collected) -> Round | Answer:
        search = self.search
        item_round = search.ask(collected)
        if item_round is not None:
            return item_round
        sets = self._candidate_sets(collected)
        rounds_after = len(collected.rounds) - len(search.stages)
        if not sets or rounds_after == len(_PERCENTAGES):
            return self._answer(collected, sets)
        return self._ask_about_sets(collected, sets, rounds_after)

    def _ask_about_sets(self, collected: Collected, sets: Candidates, rounds_after: int) -> Round:
        number = len(collected.rounds)
        items = self.domain.items.size
        if rounds_after == 0:
            question = ask_how_many(collected.epsilon, items, sets, paper=self.paper)
        else:
            length = estimate_padding(collected, number - 1, paper=self.paper).length
            question = ask_which(collected.epsilon, items, length, sets, paper=self.paper)
        return round_with_share(number, question, (*self.search.stages, *_PERCENTAGES))

    def later_rounds(self, opening: Round) -> RoundLimits | None:
        search = self.search
        items = self.domain.items.size
        about_sets = later_asks(opening.epsilon, items, 2 * self.top, paper=self.paper)
        count = len(search.stages) + len(_PERCENTAGES)
        return RoundLimits.of(count, [*search.later_asks(opening.epsilon), *about_sets])

    def _frequent_items(self, collected: Collected) -> tuple[list[int], Estimate]:
        """Return the frequent items, most frequent first, and how many people have each."""
        estimate = self.search.estimate(collected, total_users(collected))
        best = largest(estimate, self.top)
        candidates = self.search.candidates(collected)
        return [candidates[index][0] for index in best.tolist()], estimate.picked(best)

    def _candidate_sets(self, collected: Collected) -> Candidates:
        """Return the likely sets; none if fewer than two items were found at all."""
        later = collected.rounds[len(self.search.stages) :]
        if later:
            return candidates_of(later[0])
        items, estimate = self._frequent_items(collected)
        return likely_sets(items, estimate.totals.tolist(), 2 * self.top)

    def _answer(self, collected: Collected, sets: Candidates) -> Answer:
        items, estimate = self._frequent_items(collected)
        last = len(collected.rounds) - 1
        padding = self.search.padding(collected)
        if sets:
            padding = estimate_padding(collected, last - 1, paper=self.paper)
            raw = estimate_sampled(collected, last, total_users(collected))
            estimate = _concatenated(estimate, correct_for_padding(raw, padding))
        candidates = (*((item,) for item in items), *sets)
        best = largest(estimate, self.top)
        labels = tuple(self._label(candidates[index]) for index in best.tolist())
        kind = collected.rounds[last].question(Address(last)).mechanism.kind
        details = {"candidates": len(candidates), **padding_details(padding)}
        return Answer("itemsets", labels, estimate.picked(best), kind, details=details)

    def sought(self, values: Any) -> dict[str, int]:
        return most_frequent_sets(self.domain, values, self.top)

    def _label(self, items: tuple[int, ...]) -> str:
        return JOINT.join(self.domain.labels[item] for item in items)


def likely_sets(items: Sequence[int], counts: Sequence[float], max_sets: int) -> Candidates:
    """Return the sets of at least two items with the largest products of guessed shares.

    ``items`` come in descending order of their counts.  Sets have fewer than log2(k) items where k
    are sought, half of ``max_sets``.  Every factor is below 1, so a set is never likelier than its
    parts and the search can stop early.

    >>> likely_sets([7, 3, 5], [100, 80, 50], 16)
    ((3, 7), (5, 7), (3, 5))
    """
    size_limit = log2(max_sets / 2)
    most = max(counts)
    guesses = [max(0.0, _DAMPING * count / most) if most > 0 else 0.0 for count in counts]
    # A heap of the likeliest sets so far, as (likelihood, negative ranks): earlier ranks win ties.
    best: list[tuple[float, tuple[int, ...]]] = []

    def extend(ranks: tuple[int, ...], likelihood: float) -> None:
        if len(ranks) + 1 >= size_limit:
            return
        for rank in range(ranks[-1] + 1 if ranks else 0, len(items)):
            likely = likelihood * guesses[rank]
            if not likely or (len(best) == max_sets and likely <= best[0][0]):
                return  # later items are no likelier
            larger = (*ranks, rank)
            if len(larger) > 1:
                entry = (likely, tuple(-each for each in larger))
                if len(best) < max_sets:
                    heappush(best, entry)
                else:
                    heapreplace(best, entry)
            extend(larger, likely)

    extend((), 1.0)
    ordered = [negative_ranks for _, negative_ranks in sorted(best, reverse=True)]
    return tuple(tuple(sorted(items[-rank] for rank in ranks)) for ranks in ordered)


def _concatenated(items: Estimate, sets: Estimate) -> Estimate:
    """Return two estimates of one population as one, with the errors that each of them has."""
    raw = None
    if items.raw or sets.raw:
        raw = _concatenated(items.raw or items, sets.raw or sets)
    totals = np.concatenate([items.totals, sets.totals])
    return Estimate(
        totals,
        JoinedNoise((items, sets), np.arange(len(totals))),
        items.population,
        items.epsilon,
        steps=tuple(dict.fromkeys((*items.steps, *sets.steps))),
        raw=raw,
        tested=(items.tested or len(items.votes)) + len(sets.votes),
        law=_stated_influence(items, sets),
    )


def _stated_influence(items: Estimate, sets: Estimate) -> StatedInfluence | None:
    """Return the influence of one report on every total of two estimates."""
    first = items.influence
    second = sets.influence
    if first is None or second is None:
        return None
    return StatedInfluence(
        np.concatenate([first.up, second.up]),
        np.concatenate([first.down, second.down]),
        np.concatenate([first.stands_for, second.stands_for]),
    )
