"""Coin choosing: attackers pick the group, level, layer or view in which they report.

A public coin decides which member of a choice a person answers, and which round.  Where tokens do
not fix the coins, nobody can check them: all attackers may answer the member that serves them best,
or all answer in the round that decides.  What they send there is another attack's.

Source: docs/poisoning.md.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim, Attack, CraftedReports
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task


@dataclass(frozen=True)
class ChosenCoins(Attack, kind="coins"):
    """The ``attack`` of users who choose among these ``members`` evenly; without any, as dealt.

    With a ``round_number`` all attackers answer in that round.  In a round that offers no choice
    they answer like everybody.
    """

    attack: CraftedReports
    members: tuple[int, ...] = ()
    round_number: int | None = None

    def __post_init__(self) -> None:
        settings.wholes("members", self.members, 0)
        if self.round_number is not None:
            settings.whole("round_number", self.round_number, 0)

    @classmethod
    def aimed(cls, aim: Aim) -> "ChosenCoins":
        return cls(SupportTarget.aimed(aim), aim.members, aim.round_number)

    def check(self, task: Task) -> None:
        if task.coins_checked:
            raise ParameterError(
                "the attack 'coins' does not apply: the tokens of this task deal the coins"
            )
        if not self.members and self.round_number is None:
            raise ParameterError("the attack 'coins' needs `members` or `round_number` to choose")
        if self.members and not task.opening.ask.has_coin:
            raise ParameterError("`members` must be empty: everybody is asked the same question")
        self.attack.check(task)

    def counted_among(self, asked: Round, answering: int, everybody: int) -> int:
        if self.round_number is None:
            return answering
        return everybody if asked.number == self.round_number else 0

    def reports(self, asked: Round, users: int, rng: Rng) -> dict[Address, Reports]:
        if not self.members or not asked.ask.has_coin:
            return self.attack.reports(asked, users, rng)
        return {
            address: self.attack.crafted(asked.question(address), len(people), rng)
            for address, people in self._assigned(asked, users)
        }

    def _assigned(self, asked: Round, users: int) -> list[tuple[Address, Ints]]:
        """Return the addresses and the attackers that answer them, split evenly over members."""
        for member in self.members:
            asked.question(Address(asked.number, member))  # refuses a member that does not exist
        parts = np.array_split(np.arange(users), len(self.members))
        assigned: list[tuple[Address, Ints]] = []
        for member, people in zip(self.members, parts, strict=True):
            if not len(people):
                continue
            slots = range(asked.ask.slots_of(member))
            assigned += [(Address(asked.number, member, slot), people) for slot in slots]
        return assigned
