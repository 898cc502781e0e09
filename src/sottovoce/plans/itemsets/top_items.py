"""SVIM, set-value item mining: the items that most people have.

Half of the users narrow the items down to twice as many as are sought; a tenth say how many of those they have; the
rest report one of them, padded to a length that fits nine sets of ten.  What longer sets lose is given back.

Source: Wang 2021, section 5.3.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.core.estimate import Estimate
from sottovoce.domains.base import Domain
from sottovoce.domains.sets import Sets
from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.padding import Reach
from sottovoce.plans.itemsets.truth import most_frequent_items
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round


@dataclass(frozen=True)
class Search:
    """The rounds of the search, shared by whoever begins with one; ``shares`` are percentages of all users."""

    items: int
    top: int
    shares: tuple[int, int, int]
    paper: bool

    @cached_property
    def pruned(self) -> bool:
        """Return whether there are so many items that they are narrowed down first."""
        return self.items > 2 * self.top

    @property
    def stages(self) -> tuple[int, ...]:
        """Return the share of every round; without narrowing down, its users estimate too."""
        prune, size, estimate = self.shares
        return (prune, size, estimate) if self.pruned else (size, prune + estimate)

    def ask(self, collected: Collected) -> Round | None:
        """Return the next round of the search, or nothing when it has been asked everything."""
        number, epsilon, paper = len(collected.rounds), collected.epsilon, self.paper
        stage = number + (not self.pruned)
        if stage == 0:
            return set_questions.share_of(number, set_questions.which(epsilon, self.items, 1, paper=paper), self.stages)
        if stage == 1:
            return set_questions.share_of(
                number,
                set_questions.how_many(epsilon, self.items, self.candidates(collected), paper=paper),
                self.stages,
            )
        if stage == 2:
            length = self.reached(collected).length
            asked = set_questions.which(epsilon, self.items, length, self.candidates(collected), paper=paper)
            return set_questions.share_of(number, asked, self.stages)
        return None

    def candidates(self, collected: Collected) -> set_questions.Candidates:
        """Return the items that are left, each as a set of one."""
        if not self.pruned:
            return tuple((item,) for item in range(self.items))
        if len(collected.rounds) > 1:
            return set_questions.candidates_of(collected.rounds[1])
        chosen = set_questions.largest(set_questions.sampled(collected, 0, collected.users(0)), 2 * self.top)
        return tuple((item,) for item in sorted(chosen.tolist()))

    def reached(self, collected: Collected) -> Reach:
        """Return how far the sets of the last round are padded."""
        return set_questions.padding(collected, len(self.stages) - 2, paper=self.paper)

    def estimate(self, collected: Collected, population: int) -> Estimate:
        """Return how many people have each candidate."""
        raw = set_questions.sampled(collected, len(self.stages) - 1, population)
        return set_questions.corrected(raw, self.reached(collected))


@dataclass(frozen=True, init=False)
class TopItems(Plan, kind="svim"):
    """Find the ``top`` items and how many people have each.

    In ``paper`` mode local hashing is the classical one, and no guard keeps a length believed in vain from inflating
    all counts.
    """

    domain: Sets
    top: int
    paper: bool

    def __init__(self, domain: Domain | Iterable[Any], top: int = 16, *, paper: bool = False) -> None:
        sets = domain if isinstance(domain, Sets) else Sets(domain)
        check_top(top, sets.items.size)
        object.__setattr__(self, "domain", sets)
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "paper", bool(paper))

    @property
    def search(self) -> Search:
        """Return the rounds of the search."""
        return Search(self.domain.items.size, self.top, (50, 10, 40), self.paper)

    def step(self, collected: Collected) -> Round | Answer:
        return self.search.ask(collected) or self._answer(collected)

    def _answer(self, collected: Collected) -> Answer:
        search, last = self.search, collected.rounds[-1]
        estimate = search.estimate(collected, set_questions.everybody(collected))
        best, names = set_questions.largest(estimate, self.top), self.domain.labels
        candidates = search.candidates(collected)
        labels = tuple(names[candidates[place][0]] for place in best.tolist())
        kind = last.question(Address(last.number)).mechanism.kind
        details = {"candidates": len(candidates), **padded(search.reached(collected))}
        return Answer("top items", labels, estimate.picked(best), kind, details=details)

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
        return most_frequent_items(self.domain, values, self.top)


def padded(reached: Reach) -> dict[str, Any]:
    """Return what is told about the padding of a search."""
    return {
        "padded_to": reached.length,
        "correction": reached.correction,
        "sizes_seen": reached.confident,
    }


def check_top(top: int, items: int) -> None:
    """Refuse to seek nothing, or more items than there are."""
    if type(top) is not int or not 1 <= top <= items:
        raise ParameterError("from one item to all of them can be sought")
