"""Random perturbed-value attack (RPA): attackers send a uniformly random report.

It needs no target and no knowledge beyond the shape of a report.  It adds the same to the count of
every value, or pulls a number to the middle of its range, so it mostly adds noise.

Source: Cao, Jia and Gong 2021.
"""

from dataclasses import dataclass

from sottovoce.arrays import Reports
from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import CraftedReports
from sottovoce.tasks.question import Question


@dataclass(frozen=True)
class RandomReports(CraftedReports, kind="rpa"):
    """Every report is uniform over all reports that the collector accepts."""

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        return question.mechanism.draw_uniform(users, rng)
