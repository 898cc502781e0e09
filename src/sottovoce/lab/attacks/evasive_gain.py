"""Evasive maximal gain attack (MGA-A): every report promotes its own few of many targets.

Seeds that were searched for all targets have a structure in common, which a test can see.  With
``each`` targets drawn anew for every report, and few tries, that structure disappears, and so does
most of the gain.

Source: docs/poisoning.md.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import Aim, TargetedReports, refuse_search
from sottovoce.lab.attacks.maximal_gain import MAX_TRIES
from sottovoce.tasks.question import Question
from sottovoce.tasks.task import Task


@dataclass(frozen=True)
class EvasiveGain(TargetedReports, kind="mga_a"):
    """Every attacker promotes ``each`` random ones of the ``targets``, with the best of tries."""

    each: int = 2
    tries: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        settings.whole("each", self.each, 1, len(self.targets))
        settings.whole("tries", self.tries, 1, MAX_TRIES)

    @classmethod
    def aimed(cls, aim: Aim) -> "EvasiveGain":
        aim.refuse_against(cls.kind)
        return cls(aim.domain, aim.targets, aim.each, aim.possible_tries)

    def check(self, task: Task) -> None:
        refuse_search(self.kind, self.tries, task)

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        lots = rng.words(users * len(self.targets)).reshape(users, -1)
        own_targets = np.argsort(lots, axis=1)[:, : self.each]
        wanted = self.wanted(question, own_targets, rng)
        return question.mechanism.pure().draw_supporting(wanted, self.tries, rng)
