"""Input manipulation (IMA, also RIA): attackers follow the protocol for a value they do not hold.

Nobody can tell such a report from an honest one.  It is the weakest attack, and the one that no
check at the collector's door can stop.

Source: Cao, Jia and Gong 2021.
"""

from dataclasses import dataclass

from sottovoce.arrays import Reports
from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import Aim, TargetedReports
from sottovoce.tasks.question import Question


@dataclass(frozen=True)
class InputManipulation(TargetedReports, kind="ima"):
    """Every attacker answers honestly for one of the ``targets``, values of the task's domain."""

    @classmethod
    def aimed(cls, aim: Aim) -> "InputManipulation":
        aim.refuse_against(cls.kind)
        return cls(aim.domain, aim.targets)

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        values = self.target_values(rng.integers(len(self.targets), users))
        return question.privatize(values, rng)
