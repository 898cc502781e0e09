"""Maximal loss attack (MLA): untargeted, it makes all estimates together as wrong as it can.

The squared error that attackers of a share b add is b^2 |v - f|^2, where f are the true shares and
v is the mean of their votes.  It is convex in v, so that it is largest where all send the same
report.  Without knowledge of f the best one has the largest sum of squared votes: it supports as
many values as a report can.  Of numbers it is the extreme.

Source: docs/poisoning.md.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim, CraftedReports, refuse_search
from sottovoce.lab.attacks.maximal_gain import MAX_TRIES
from sottovoce.tasks.question import Question
from sottovoce.tasks.task import Task

MAX_SIZE = 1 << 20  # values whose votes are compared


@dataclass(frozen=True)
class MaximalLoss(CraftedReports, kind="mla"):
    """All attackers who are asked a question send one report, the best of ``tries`` seeds."""

    tries: int = 100

    def __post_init__(self) -> None:
        settings.whole("tries", self.tries, 1, MAX_TRIES)

    @classmethod
    def aimed(cls, aim: Aim) -> "MaximalLoss":
        aim.refuse_against(cls.kind)
        return cls(min(aim.possible_tries, 100))

    def check(self, task: Task) -> None:
        refuse_search(self.kind, self.tries, task)

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        mechanism = question.mechanism
        if mechanism.randomises_numbers:
            randomiser = mechanism.numeric()
            outcomes = randomiser.outcomes()
            sizes = np.abs(randomiser.numbers(randomiser.codes(outcomes)))
            return outcomes[np.full(users, np.argmax(sizes))]
        if mechanism.size > MAX_SIZE:
            raise ParameterError(
                f"the attack {self.kind!r} applies to domains of at most {MAX_SIZE:,} values"
            )
        everything = np.arange(mechanism.size)[None, :]
        report = mechanism.pure().draw_supporting(everything, self.tries, rng)
        return np.repeat(report, users, axis=0)
