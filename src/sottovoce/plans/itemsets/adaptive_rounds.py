"""The rounds of adaptive sampling: whom each of them asks, about which items, and what all of them say.

Rounds claim successive parts of the coins, so nobody is asked twice; their sizes follow from those who answered.

Source: Du 2025, sections 5.2 and 5.3.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import StatedNoise
from sottovoce.errors import NoDataError
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.adaptive_sampling import Asked, opening_users, round_users
from sottovoce.plans.itemsets.confidence import doubt, p_values
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected, yes_counts
from sottovoce.tasks.families.each_item import EachItem
from sottovoce.tasks.round import Round

KEPT = 10  # candidates for every item that is sought
SCALE = 1 << 24  # an item's share of a round is a whole number of so many parts, and at least one of them


@dataclass(frozen=True)
class Course:
    """How the users are divided: some narrow the items down, some are asked about them, some are held out."""

    items: int
    users: int
    top: int
    rounds: int
    even: bool
    holdout: int

    @property
    def pruned(self) -> bool:
        """Return whether there are so many items that half of the users narrow them down first."""
        return self.items > KEPT * self.top

    @property
    def candidates(self) -> int:
        """Return how many items are asked about one by one."""
        return KEPT * self.top if self.pruned else self.items

    @property
    def limit(self) -> int:
        """Return the coin from which on users are held out."""
        return UNIT * (100 - self.holdout) // 100

    @property
    def pruning(self) -> int:
        """Return how many users narrow the items down."""
        return self.users * self.limit // UNIT // 2 if self.pruned else 0

    @property
    def asked(self) -> int:
        """Return how many users are asked about single candidates before those held out."""
        return self.users * self.limit // UNIT - self.pruning

    @property
    def held(self) -> int:
        """Return how many users are held out."""
        return self.users - self.asked - self.pruning


@dataclass(frozen=True, eq=False)
class Search:
    """What one step works with, each part computed once from what was collected."""

    course: Course
    collected: Collected

    @property
    def claimed(self) -> int:
        """Return the coin up to which users belong to a round already."""
        return self.collected.rounds[-1].high if self.collected.rounds else 0

    @cached_property
    def everybody(self) -> int:
        """Return how many users the whole task has, judged by those who have answered so far."""
        if not self.collected.rounds:
            return self.course.users
        return max(1, set_questions.everybody(self.collected) * UNIT // self.claimed)

    @property
    def left(self) -> int:
        """Return how many users are left before those held out."""
        return max(1, self.everybody * (self.course.limit - self.claimed) // UNIT)

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Return the items that are asked about."""
        if not self.course.pruned:
            return tuple(range(self.course.items))
        if len(self.collected.rounds) > 1:
            return _asked_about(self.collected.rounds[1])
        named = set_questions.sampled(self.collected, 0, self.collected.users(0))
        return tuple(sorted(set_questions.largest(named, self.course.candidates).tolist()))

    @cached_property
    def asked(self) -> Asked:
        """Return what all rounds before the held out one say about the candidates."""
        rounds = [one.number for one in self.collected.rounds[self.course.pruned :] if one.high <= self.course.limit]
        times, ones = np.sum([yes_counts(self.collected, number) for number in rounds], axis=0)
        return Asked(times, ones, self.course.top)

    @property
    def found(self) -> tuple[int, ...]:
        """Return the places of the top among the candidates, in ascending order."""
        return tuple(np.flatnonzero(self.asked.top).tolist())

    def next(self) -> Round | None:
        """Return the next round, or nothing when everybody has been asked."""
        number = len(self.collected.rounds)
        if self.course.pruned and not number:
            return Round(
                0, set_questions.which(self.collected.epsilon, self.course.items, 1), 0, self.course.limit // 2
            )
        if number == self.course.pruned:
            return self._opening()
        if self.claimed < self.course.limit:
            return self._adapted()
        return self._held_out() if self.claimed < UNIT else None

    def _opening(self) -> Round:
        """Return the round that asks evenly about all candidates, all that are left if they are too few to adapt."""
        enough = self.left >= len(self.candidates)
        users = opening_users(self.left, len(self.candidates), self.collected.epsilon) if enough else self.left
        return self._round(self._each(self.candidates), self._after(users))

    def _adapted(self) -> Round:
        """Return the next of the rounds that ask most about what is least certain; the last takes all that are left."""
        shares = self.asked.shares(even=self.course.even)
        rounds_left = self.course.rounds - (len(self.collected.rounds) - self.course.pruned - 1)
        last = rounds_left == 1 or self.left < rounds_left
        users = self.left if last else round_users(self.asked, shares, self.left, rounds_left)
        return self._round(self._each(self.candidates, whole_weights(shares)), self._after(users))

    def _held_out(self) -> Round:
        """Return the last round, which asks evenly about the items found."""
        return self._round(self._each(tuple(self.candidates[place] for place in self.found)), UNIT)

    def best(self) -> tuple[list[int], Estimate]:
        """Return the items found, most frequent first, and how many people have each."""
        places = np.array(self.found)
        if self.course.holdout:
            times, ones = yes_counts(self.collected, len(self.collected.rounds) - 1)
        else:
            times, ones = self.asked.times[places], self.asked.ones[places]
        estimate = self._estimate(times, ones)
        order = set_questions.largest(estimate, self.course.top)
        return [self.candidates[place] for place in places[order].tolist()], estimate.picked(order)

    def _estimate(self, times: Ints, ones: Ints) -> Estimate:
        if (times < 1).any():
            raise NoDataError("nobody was asked about some item of the top: there were too few users")
        response, users = GRR(self.collected.epsilon, 2), set_questions.everybody(self.collected)
        p, q = response.p, response.q
        likely = np.clip(ones / times, q, p)  # the rates that there can be
        variances = (users / (p - q)) ** 2 * likely * (1 - likely) / times
        totals = users * (ones / times - q) / (p - q)  # equation 5.13
        tested = len(self.candidates)
        return Estimate(totals, StatedNoise(variances), users, response.epsilon, steps=self._steps, tested=tested)

    @property
    def _steps(self) -> tuple[str, ...]:
        if self.course.holdout:
            return ("held out",)
        adapted = len(self.collected.rounds) > self.course.pruned + 1
        return ("selected adaptively" if adapted else "selected from the same reports",)

    def facts(self) -> dict[str, Any]:
        """Return how the search went."""
        rounds = self.collected.rounds
        return {
            "candidates": len(self.candidates),
            "adaptive_rounds": len(rounds) - self.course.pruned - 1 - bool(self.course.holdout),
            "users_per_round": [self.collected.users(one.number) for one in rounds],
            "doubt": doubt(self.asked),
            "p_values": p_values(self.asked)[: self.course.top].tolist(),
        }

    def _each(self, items: tuple[int, ...], weights: tuple[int, ...] = ()) -> Choice:
        size = self.course.items
        among = () if len(items) == size else items
        return Choice(EachItem(GRR(self.collected.epsilon, 2), size, among), weights)

    def _after(self, users: int) -> int:
        """Return the coin up to which so many more users lie; all that are left are those before the limit."""
        if users >= self.left:
            return self.course.limit
        return min(self.claimed + max(1, UNIT * users // self.everybody), self.course.limit)

    def _round(self, ask: Choice, high: int) -> Round:
        return Round(len(self.collected.rounds), ask, self.claimed, high)


def whole_weights(shares: Floats) -> tuple[int, ...]:
    """Return shares as whole numbers of 2^-24, none below one of them: every item may still be asked about.

    >>> whole_weights(np.array([0.75, 0.25, 0.0]))
    (12582912, 4194304, 1)
    """
    return tuple(np.maximum(1, np.rint(shares * SCALE)).astype(np.int64).tolist())


def _asked_about(asked: Round) -> tuple[int, ...]:
    assert isinstance(asked.ask, Choice)
    assert isinstance(asked.ask.members, EachItem)
    return asked.ask.members.among
