"""Maximal gain attack (MGA): every report supports as many of many targets as it can.

What that is depends on the mechanism.  Direct response supports one target.  Unary encoding sets
the bits of all targets, and others at random so that the row has an ordinary number of ones.  With
hashing the best of ``tries`` seeds is taken, then the bucket with the most targets.

Source: Cao, Jia and Gong 2021.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import Aim, TargetedReports, refuse_search
from sottovoce.tasks.question import Question
from sottovoce.tasks.task import Task

MAX_TRIES = 1 << 20


@dataclass(frozen=True)
class MaximalGain(TargetedReports, kind="mga"):
    """Every attacker promotes all ``targets`` with the best of ``tries`` seeds."""

    tries: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        settings.whole("tries", self.tries, 1, MAX_TRIES)

    @classmethod
    def aimed(cls, aim: Aim) -> "MaximalGain":
        aim.refuse_against(cls.kind)
        return cls(aim.domain, aim.targets, aim.possible_tries)

    def check(self, task: Task) -> None:
        refuse_search(self.kind, self.tries, task)

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        everything = np.tile(np.arange(len(self.targets)), (users, 1))
        wanted = self.wanted(question, everything, rng)
        return question.mechanism.pure().draw_supporting(wanted, self.tries, rng)
