"""DBS, delay-constrained batch sampling: frequent items, asked about one at a time.

Everybody answers one question, "do you have this item?".

    1. Of very many items, half of the users first name one each, and ten times as many items as are
       sought go on.  ``concerns`` says when that loses items.
    2. A first part of the users is spread evenly over the items.
    3. Every later round asks most about the items whose place is least certain.

Prefer it to ``TopItems`` where sets are large.

Source: Du 2025, chapter 5.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sottovoce.answers.answer import Answer
from sottovoce.core.settings import real, whole
from sottovoce.core.settings import share as check_share
from sottovoce.domains.base import Domain
from sottovoce.domains.sets import Sets
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.itemsets.adaptive_rounds import AdaptiveSearch, UserDivision
from sottovoce.plans.itemsets.confidence import pruning_odds
from sottovoce.plans.itemsets.item_plan import ItemPlan
from sottovoce.plans.itemsets.truth import most_frequent_items
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.families.each_item import EachItem
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits

MAX_ROUNDS = 1000
MAX_USERS = 1 << 53
MAX_HOLDOUT = 90
MIN_HELD_OUT = 16  # users for every item: an item is asked of nobody with probability e^-16


@dataclass(frozen=True, init=False)
class AdaptiveTopItems(ItemPlan, Plan, kind="dbs"):
    """Find the ``top`` items and how many people have each, in adaptive rounds.

    At most ``rounds`` follow the even start.

    - ``users`` is the expected number of users of the whole task.
    - ``even`` also asks about the top items evenly (ARBSF), which gives better counts of them.
    - ``holdout`` is the percentage of users who are asked only about the found items, at the end.
      Without it the counts are biased upwards, because the items were selected for high counts.
    - ``basket`` is the mean number of items in a set, and ``share`` is the share of people who have
      the last of the top items.  Both are used only for warnings.
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
        items = sets.items.size
        settings = {
            "domain": sets,
            "users": whole("users", users, 1, MAX_USERS),
            "top": whole("top", top, 1, items - 1),
            "rounds": whole("rounds", rounds, 1, MAX_ROUNDS),
            "even": bool(even),
            "holdout": whole("holdout", holdout, 0, MAX_HOLDOUT),
            "basket": real("basket", basket, 0, items),
            "share": check_share("share", share),
        }
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)
        self._check_users()

    def _check_users(self) -> None:
        if self.division.asked < self.division.candidates:
            raise ParameterError(
                "`users` must be at least as many as the items to ask about:"
                " seek fewer, or ask more users"
            )
        if self.holdout and self.division.held_out < MIN_HELD_OUT * self.top:
            raise ParameterError(
                f"`holdout` must leave at least {MIN_HELD_OUT} users for every item that is sought"
            )

    @property
    def division(self) -> UserDivision:
        """Return how the users are divided."""
        items = self.domain.items.size
        return UserDivision(items, self.users, self.top, self.rounds, self.even, self.holdout)

    def step(self, collected: Collected) -> Round | Answer:
        search = AdaptiveSearch(self.division, collected)
        return search.next_round() or self._answer(search)

    def later_rounds(self, opening: Round) -> RoundLimits | None:
        count = self.rounds + 1
        if self.division.pruned:
            count += 1
        if self.holdout:
            count += 1
        each_item = EachItem(GRR(opening.epsilon, 2), self.domain.items.size)
        return RoundLimits.of(count, [Choice(each_item)])

    def _answer(self, search: AdaptiveSearch) -> Answer:
        items, estimate = search.best_items()
        labels = tuple(self.domain.labels[item] for item in items)
        columns = {"robust_to": tuple(search.robust_to(items).tolist())}
        return Answer(
            "top items", labels, estimate, GRR.kind, details=search.details(), columns=columns
        )

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        division = self.division
        if not division.pruned:
            return ()
        # Everybody names one item, so the last of k is named by no more than one in k.
        named = 1 / self.top
        if self.basket:
            named = min((self.share or 1.0) / self.basket, named)
        kept = division.candidates / division.items
        odds = pruning_odds(division.pruning, epsilon, named, kept)
        needed = odds.lead * odds.error
        if odds.count >= needed:
            return ()
        pruning = f"pruning {division.items:,} items to {division.candidates:,}"
        named_by = f"named by about {odds.count:,.0f} of {division.pruning:,} users at best"
        return (
            f"{pruning} will lose items of the top: the last of them is {named_by},"
            f" against an error of {odds.error:,.0f}; it needs {needed:,.0f}."
            " Ask more users, list fewer items, or spend a larger epsilon.",
        )

    def sought(self, values: Any) -> dict[str, int]:
        return most_frequent_items(self.domain, values, self.top)
