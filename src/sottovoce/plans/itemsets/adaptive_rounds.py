"""The rounds of adaptive sampling: their users, their items, and the estimate from all of them.

Rounds use successive ranges of the public coin, so that nobody is asked twice.  Their sizes depend
on the number of people who answered before.

Source: Du 2025, sections 5.2 and 5.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.influence import StatedInfluence
from sottovoce.core.support_law import SupportLaw
from sottovoce.errors import NoDataError
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports, opening_users, round_users
from sottovoce.plans.itemsets.asked_noise import AskedNoise
from sottovoce.plans.itemsets.confidence import doubt, p_values
from sottovoce.plans.itemsets.set_questions import (
    ask_which,
    estimate_sampled,
    largest,
    total_users,
)
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected, yes_counts
from sottovoce.tasks.families.each_item import EachItem
from sottovoce.tasks.round import Round

KEPT_PER_SOUGHT = 10  # candidates for every item that is sought
WEIGHT_SCALE = 1 << 24  # shares of items in a round are whole multiples of 1 / WEIGHT_SCALE


@dataclass(frozen=True)
class UserDivision:
    """The division of users: for pruning the items, for asking about them, and held out."""

    items: int
    users: int
    top: int
    rounds: int
    even: bool
    holdout: int

    @property
    def pruned(self) -> bool:
        """Return whether half of the users prune the items first, because there are too many."""
        return self.items > KEPT_PER_SOUGHT * self.top

    @property
    def candidates(self) -> int:
        """Return how many items are asked about one by one."""
        return KEPT_PER_SOUGHT * self.top if self.pruned else self.items

    @property
    def limit(self) -> int:
        """Return the coin from which on users are held out."""
        return UNIT * (100 - self.holdout) // 100

    @property
    def pruning(self) -> int:
        """Return how many users prune the items."""
        return self.users * self.limit // UNIT // 2 if self.pruned else 0

    @property
    def asked(self) -> int:
        """Return how many users are asked about single candidates, without those held out."""
        return self.users * self.limit // UNIT - self.pruning

    @property
    def held_out(self) -> int:
        """Return how many users are held out."""
        return self.users - self.asked - self.pruning


@dataclass(frozen=True, eq=False)
class AdaptiveSearch:
    """The data of one step of the plan, each part computed once from the collected reports."""

    division: UserDivision
    collected: Collected

    @property
    def claimed(self) -> int:
        """Return the coin up to which users belong to a round already."""
        return self.collected.rounds[-1].high if self.collected.rounds else 0

    @cached_property
    def expected_users(self) -> int:
        """Return how many users the whole task has, judged by those who have answered so far."""
        if not self.collected.rounds:
            return self.division.users
        return max(1, total_users(self.collected) * UNIT // self.claimed)

    @property
    def users_left(self) -> int:
        """Return how many users are left, without those held out."""
        return max(1, self.expected_users * (self.division.limit - self.claimed) // UNIT)

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Return the items that are asked about."""
        if not self.division.pruned:
            return tuple(range(self.division.items))
        if len(self.collected.rounds) > 1:
            return _items_of(self.collected.rounds[1])
        estimate = estimate_sampled(self.collected, 0, self.collected.users(0))
        return tuple(sorted(largest(estimate, self.division.candidates).tolist()))

    @cached_property
    def reports(self) -> ItemReports:
        """Return the reports about the candidates from all rounds except the held-out one."""
        rounds = self.collected.rounds[self._first_item_round :]
        numbers = [asked.number for asked in rounds if asked.high <= self.division.limit]
        counts = [yes_counts(self.collected, number) for number in numbers]
        times, ones = np.sum(counts, axis=0)
        return ItemReports(times, ones, self.division.top)

    @property
    def top_indices(self) -> tuple[int, ...]:
        """Return the indices of the top among the candidates, in ascending order."""
        return tuple(np.flatnonzero(self.reports.top).tolist())

    def next_round(self) -> Round | None:
        """Return the next round, or None when everybody has been asked."""
        number = len(self.collected.rounds)
        if number < self._first_item_round:
            question = ask_which(self.collected.epsilon, self.division.items, 1)
            return Round(0, question, 0, self.division.limit // 2)
        if number == self._first_item_round:
            return self._opening_round()
        if self.claimed < self.division.limit:
            return self._adapted_round()
        return self._held_out_round() if self.claimed < UNIT else None

    @property
    def _first_item_round(self) -> int:
        """Return the number of the first round that asks about single items."""
        return 1 if self.division.pruned else 0

    def _opening_round(self) -> Round:
        """Return the round that asks evenly about all candidates.

        It asks all users that are left if they are too few to adapt.
        """
        users = self.users_left
        items = len(self.candidates)
        if users >= items:
            users = opening_users(users, items, self.collected.epsilon)
        return self._round(self._ask_about(self.candidates), self._coin_after(users))

    def _adapted_round(self) -> Round:
        """Return the next round, which asks most about the least certain items."""
        shares = self.reports.shares(even=self.division.even)
        rounds_done = len(self.collected.rounds) - self._first_item_round - 1
        rounds_left = self.division.rounds - rounds_done
        users = self.users_left
        if rounds_left > 1 and users >= rounds_left:
            users = round_users(self.reports, shares, users, rounds_left)
        ask = self._ask_about(self.candidates, whole_weights(shares))
        return self._round(ask, self._coin_after(users))

    def _held_out_round(self) -> Round:
        """Return the last round, which asks evenly about the items found."""
        items = tuple(self.candidates[index] for index in self.top_indices)
        return self._round(self._ask_about(items), UNIT)

    def robust_to(self, items: Sequence[int]) -> Floats:
        """Return for each found item the share of false reports that could have promoted it.

        The number of times that an item was asked about is taken as given.
        """
        found_indices = np.searchsorted(np.array(self.candidates), np.array(items))
        others = np.setdiff1d(np.arange(len(self.candidates)), np.array(self.top_indices))
        estimate = self._estimate(np.maximum(self.reports.times, 1), self.reports.ones)
        rival = int(others[np.argmax(estimate.votes[others])])
        robust = estimate.robust_ahead(found_indices, rival)
        if not self.division.pruned:
            return robust
        pruning = estimate_sampled(self.collected, 0, total_users(self.collected))
        cut = int(largest(pruning, self.division.candidates + 1)[-1])
        return np.minimum(robust, pruning.robust_ahead(np.array(items), cut))

    def best_items(self) -> tuple[list[int], Estimate]:
        """Return the items found, most frequent first, and how many people have each."""
        indices = np.array(self.top_indices)
        if self.division.holdout:
            times, ones = yes_counts(self.collected, len(self.collected.rounds) - 1)
        else:
            times = self.reports.times[indices]
            ones = self.reports.ones[indices]
        estimate = self._estimate(times, ones)
        order = largest(estimate, self.division.top)
        items = [self.candidates[index] for index in indices[order].tolist()]
        return items, estimate.picked(order)

    def _estimate(self, times: Ints, ones: Ints) -> Estimate:
        if (times < 1).any():
            raise NoDataError("nobody was asked about one of the top items: ask more users")
        response = GRR(self.collected.epsilon, 2)
        users = total_users(self.collected)
        p, q = response.p, response.q
        possible_rates = np.clip(ones / times, q, p)
        variances = (users / (p - q)) ** 2 * possible_rates * (1 - possible_rates) / times
        totals = users * (ones / times - q) / (p - q)  # equation 5.13
        return Estimate(
            totals,
            AskedNoise(variances, SupportLaw(p, q), times),
            users,
            response.epsilon,
            steps=(self._selection,),
            tested=len(self.candidates),
            law=self._influence(response, users / times),
            coins_checked=self.collected.coins_checked,
        )

    def _influence(self, response: GRR, people: Floats) -> StatedInfluence:
        """Return the influence of an answer about each item, which stands for so many people."""
        single = response.influence_law.cells(1)[0]
        return StatedInfluence(people * single.up, people * single.down, people)

    @property
    def _selection(self) -> str:
        """Return how the reports that are counted were selected."""
        if self.division.holdout:
            return "held out"
        adapted = len(self.collected.rounds) > self._first_item_round + 1
        return "selected adaptively" if adapted else "selected from the same reports"

    def details(self) -> dict[str, Any]:
        """Return how the search went."""
        rounds = self.collected.rounds
        adaptive_rounds = len(rounds) - self._first_item_round - 1
        if self.division.holdout:
            adaptive_rounds -= 1
        return {
            "candidates": len(self.candidates),
            "adaptive_rounds": adaptive_rounds,
            "users_per_round": [self.collected.users(asked.number) for asked in rounds],
            "doubt": doubt(self.reports),
            "p_values": p_values(self.reports)[: self.division.top].tolist(),
        }

    def _ask_about(self, items: tuple[int, ...], weights: tuple[int, ...] = ()) -> Choice:
        size = self.division.items
        among = () if len(items) == size else items
        return Choice(EachItem(GRR(self.collected.epsilon, 2), size, among), weights)

    def _coin_after(self, users: int) -> int:
        """Return the end of the coin range that holds ``users`` more users; at most the limit."""
        if users >= self.users_left:
            return self.division.limit
        step = max(1, UNIT * users // self.expected_users)
        return min(self.claimed + step, self.division.limit)

    def _round(self, ask: Choice, high: int) -> Round:
        return Round(len(self.collected.rounds), ask, self.claimed, high)


def whole_weights(shares: Floats) -> tuple[int, ...]:
    """Return shares as whole numbers of 2^-24, each at least one.

    So every item may still be asked about.

    >>> whole_weights(np.array([0.75, 0.25, 0.0]))
    (12582912, 4194304, 1)
    """
    return tuple(np.maximum(1, np.rint(shares * WEIGHT_SCALE)).astype(np.int64).tolist())


def _items_of(asked: Round) -> tuple[int, ...]:
    assert isinstance(asked.ask, Choice)
    assert isinstance(asked.ask.members, EachItem)
    return asked.ask.members.among
