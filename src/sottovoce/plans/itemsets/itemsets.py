"""SVSM, set-value itemset mining: the sets of items that most people have whole.

Half of the users find the items that are frequent alone.  Sets of them that would be frequent if items were held
independently are the candidates; the other half say how many of those they have, and report one of them.

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
from sottovoce.core.noise import StatedNoise
from sottovoce.domains.base import Domain
from sottovoce.domains.sets import Sets
from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.top_items import Search, check_top, padded
from sottovoce.plans.itemsets.truth import most_frequent_sets
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

_FEWEST = 5  # sought sets: with fewer no set of two would be a candidate
_DAMPED = 0.9  # the guess for the most frequent item: no set is as frequent as its items
_SHARES = (10, 40)  # percentages of all users: sizes, then sets


@dataclass(frozen=True, init=False)
class Itemsets(Plan, kind="svsm"):
    """Find the ``top`` sets of items, single ones among them, and how many people have each whole."""

    domain: Sets
    top: int
    paper: bool

    def __init__(self, domain: Domain | Iterable[Any], top: int = 16, *, paper: bool = False) -> None:
        sets = domain if isinstance(domain, Sets) else Sets(domain)
        check_top(top, sets.items.size)
        if top < _FEWEST:
            raise ParameterError(f"at least {_FEWEST} sets are sought: with fewer, ask for top items")
        object.__setattr__(self, "domain", sets)
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "paper", bool(paper))

    @property
    def search(self) -> Search:
        """Return the rounds of the first half, which finds single items."""
        return Search(self.domain.items.size, self.top, (25, 5, 20), self.paper)

    def step(self, collected: Collected) -> Round | Answer:
        search, items = self.search, self.domain.items.size
        asked = search.ask(collected)
        if asked is not None:
            return asked
        number, shares, sets = len(collected.rounds), (*search.stages, *_SHARES), self._sets(collected)
        if sets and number == len(search.stages):
            question = set_questions.how_many(collected.epsilon, items, sets, paper=self.paper)
            return set_questions.share_of(number, question, shares)
        if sets and number == len(search.stages) + 1:
            length = set_questions.padding(collected, number - 1, paper=self.paper).length
            question = set_questions.which(collected.epsilon, items, length, sets, paper=self.paper)
            return set_questions.share_of(number, question, shares)
        return self._answer(collected, sets)

    def _singles(self, collected: Collected) -> tuple[list[int], Estimate]:
        """Return the frequent items, most frequent first, and how many people have each."""
        estimate = self.search.estimate(collected, set_questions.everybody(collected))
        best = set_questions.largest(estimate, self.top)
        candidates = self.search.candidates(collected)
        return [candidates[place][0] for place in best.tolist()], estimate.picked(best)

    def _sets(self, collected: Collected) -> set_questions.Candidates:
        """Return the likely sets; none, if fewer than two items stand out of nothing."""
        later = collected.rounds[len(self.search.stages) :]
        if later:
            return set_questions.candidates_of(later[0])
        items, estimate = self._singles(collected)
        return likely_sets(items, estimate.totals.tolist(), 2 * self.top)

    def _answer(self, collected: Collected, sets: set_questions.Candidates) -> Answer:
        items, both = self._singles(collected)
        number, reached = len(collected.rounds) - 1, self.search.reached(collected)
        if sets:
            reached = set_questions.padding(collected, number - 1, paper=self.paper)
            raw = set_questions.sampled(collected, number, set_questions.everybody(collected))
            both = _together(both, set_questions.corrected(raw, reached))
        candidates = (*((item,) for item in items), *sets)
        best, names = set_questions.largest(both, self.top), self.domain.labels
        labels = tuple(" + ".join(names[item] for item in candidates[place]) for place in best.tolist())
        kind = collected.rounds[number].question(Address(number)).mechanism.kind
        details = {"candidates": len(candidates), **padded(reached)}
        return Answer("itemsets", labels, both.picked(best), kind, details=details)

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods for candidates: their shares do not sum to 1."""
        from sottovoce.postprocess.apply import methods

        return ("none", *methods(whole_domain=False, equal_errors=False))

    def advise(self, users: int, epsilon: float, *, basket: float = 5.0, share: float | None = None) -> Advice:
        """Return how to search for items in sets of ``basket`` items on average; ``share`` asks for users."""
        from sottovoce.plans.itemsets.search_advice import advise_items

        return advise_items(users, self.domain.items.size, epsilon, top=self.top, basket=basket, share=share)

    def sought(self, values: Any) -> dict[str, int]:
        return most_frequent_sets(self.domain, values, self.top)


def likely_sets(items: Sequence[int], counts: Sequence[float], most: int) -> set_questions.Candidates:
    """Return the sets of at least two items with the largest product of guessed shares, at most ``most`` of them.

    ``items`` come in descending order of their counts.  Sets have fewer than log2(k) items where k are sought, half of
    ``most``.  Every factor is below 1, so a set is never likelier than its parts and the search can stop early.

    >>> likely_sets([7, 3, 5], [100, 80, 50], 16)
    ((3, 7), (5, 7), (3, 5))
    """
    largest = log2(most / 2)
    guesses = [max(0.0, _DAMPED * count / max(counts)) if max(counts) > 0 else 0.0 for count in counts]
    best: list[tuple[float, tuple[int, ...]]] = []  # a heap of the likeliest so far; earlier ranks win ties

    def extend(ranks: tuple[int, ...], guess: float) -> None:
        if len(ranks) + 1 >= largest:
            return
        for rank in range(ranks[-1] + 1 if ranks else 0, len(items)):
            likely = guess * guesses[rank]
            if not likely or (len(best) == most and likely <= best[0][0]):
                return  # later ones are no likelier
            larger = (*ranks, rank)
            if len(larger) > 1:
                entry = (likely, tuple(-one for one in larger))
                if len(best) < most:
                    heappush(best, entry)
                else:
                    heapreplace(best, entry)
            extend(larger, likely)

    extend((), 1.0)
    return tuple(tuple(sorted(items[-rank] for rank in ranks)) for _, ranks in sorted(best, reverse=True))


def _together(singles: Estimate, sets: Estimate) -> Estimate:
    """Return two estimates of one population as one, with the errors that each of them had."""
    raw = None
    if singles.raw or sets.raw:
        raw = _together(singles.raw or singles, sets.raw or sets)
    return Estimate(
        np.concatenate([singles.totals, sets.totals]),
        StatedNoise(np.concatenate([singles.variance, sets.variance])),
        singles.population,
        singles.epsilon,
        steps=tuple(dict.fromkeys((*singles.steps, *sets.steps))),
        raw=raw,
    )
