"""DBS, delay-constrained batch sampling: the items that most people have, asked about one at a time.

Everybody answers one question, "do you have this item?".  A first part of the users is spread evenly over all items;
every round after that asks most about the items whose place is least certain.  Prefer it to padding and sampling
where sets are large.  Of very many items half of the users first name one each, and the ten times as many as are
sought go on: ``concerns`` says when that cannot work.

Source: Du 2025, chapter 5.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.domains.base import Domain
from sottovoce.domains.sets import Sets
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.itemsets.adaptive_rounds import Course, Search
from sottovoce.plans.itemsets.confidence import survives
from sottovoce.plans.itemsets.truth import most_frequent_items
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.round import Round

MOST_ROUNDS = 1000
MOST_USERS = 1 << 53
FEWEST_HELD = 16  # users held out for every item: nobody is asked about one of them with chance e^-16


@dataclass(frozen=True, init=False)
class AdaptiveTopItems(Plan, kind="dbs"):
    """Find the ``top`` items and how many people have each, in at most so many ``rounds`` after the even start.

    ``users`` are those expected in the whole task.  With ``even`` the top items are asked about evenly too (ARBSF),
    for better counts of them.  A ``holdout``, a percentage of the users, is asked at the end only about the items
    found: without it the counts are biased upwards, because they are of winners.  ``basket``, the mean number of
    items in a set, and ``share``, the share of people who have the last of the top, serve the warning only.
    """

    domain: Sets
    users: int
    top: int
    rounds: int
    even: bool
    holdout: int
    basket: float
    share: float

    def __init__(
        self,
        domain: Domain | Iterable[Any],
        users: int,
        top: int = 16,
        *,
        rounds: int = 10,
        even: bool = False,
        holdout: int = 0,
        basket: float = 0.0,
        share: float = 0.0,
    ) -> None:
        sets = domain if isinstance(domain, Sets) else Sets(domain)
        settings = (sets, users, top, rounds, bool(even), holdout, float(basket), float(share))
        for one, setting in zip(fields(self), settings, strict=True):
            object.__setattr__(self, one.name, setting)
        self._check()
        self._check_users()

    def _check(self) -> None:
        if not all(type(number) is int for number in (self.users, self.top, self.rounds, self.holdout)):
            raise ParameterError("users, top, rounds and the percentage held out are whole numbers")
        if not 1 <= self.users <= MOST_USERS:
            raise ParameterError("at least one user is expected, and at most 2^53 are")
        if not 1 <= self.top < self.domain.items.size:
            raise ParameterError("from one item to all but one can be sought: for all of them ask a survey of each")
        if not 1 <= self.rounds <= MOST_ROUNDS or not 0 <= self.holdout <= 90:
            raise ParameterError(f"there are from 1 to {MOST_ROUNDS} rounds, and from 0 to 90 percent are held out")
        if not 0 <= self.basket <= self.domain.items.size or not 0 <= self.share <= 1:
            raise ParameterError("a set holds from none to all of the items, and a share is from 0 to 1")

    def _check_users(self) -> None:
        if self.course.asked < self.course.candidates:
            raise ParameterError("there are fewer users than items to ask about: seek fewer, or ask more users")
        if self.holdout and self.course.held < FEWEST_HELD * self.top:
            raise ParameterError(f"at least {FEWEST_HELD} users are held out for every item that is sought")

    @property
    def course(self) -> Course:
        """Return how the users are divided."""
        return Course(self.domain.items.size, self.users, self.top, self.rounds, self.even, self.holdout)

    def step(self, collected: Collected) -> Round | Answer:
        search = Search(self.course, collected)
        return search.next() or self._answer(search)

    def _answer(self, search: Search) -> Answer:
        items, estimate = search.best()
        labels = tuple(self.domain.labels[item] for item in items)
        return Answer("top items", labels, estimate, GRR.kind, details=search.facts())

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        course = self.course
        if not course.pruned:
            return ()
        # Everybody names one item, so the last of k is named by no more than one in k.
        named = min((self.share or 1.0) / self.basket if self.basket else 1.0, 1 / self.top)
        count, error, lead = survives(course.pruning, epsilon, named, course.candidates / course.items)
        if count >= lead * error:
            return ()
        return (
            f"pruning {course.items:,} items to {course.candidates:,} will lose items of the top: the last of them is "
            f"named by about {count:,.0f} of {course.pruning:,} users at best, against an error of {error:,.0f}; it "
            f"needs {lead * error:,.0f}. Ask more users, list fewer items, or spend a larger epsilon.",
        )

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
