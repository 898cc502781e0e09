"""Single-target attack (SPA): attackers send only reports that support their target, or never do.

It is what one report can do to one value at most.  Each report is a draw of the honest law, given
that it supports the target, so no test of the reports can tell it from an honest one.  With several
targets every attacker has one of them.  A number is pulled to the end of its range that is nearer
to the target.

Source: Cao, Jia and Gong 2021.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Reports, Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import Aim, TargetedReports
from sottovoce.mechanisms.numeric import NumericMechanism
from sottovoce.tasks.question import Question


@dataclass(frozen=True)
class SupportTarget(TargetedReports, kind="spa"):
    """Every attacker supports one of the ``targets``; with ``against`` no report supports it."""

    against: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        settings.flag("against", self.against)

    @classmethod
    def aimed(cls, aim: Aim) -> "SupportTarget":
        return cls(aim.domain, aim.targets, aim.against)

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        wanted = self.wanted(question, rng.integers(len(self.targets), users), rng)
        if question.mechanism.randomises_numbers:
            return self._extreme_numbers(question.mechanism.numeric(), wanted)
        return self._serving(question, wanted, rng)

    def _serving(self, question: Question, wanted: Values, rng: Rng) -> Reports:
        """Return one report per wanted value; those that do not serve it are drawn again."""
        mechanism = question.mechanism.pure()
        reports = mechanism.privatize(wanted, rng)
        while True:
            useless = mechanism.supports_own(reports, wanted) == self.against
            if not useless.any():
                return reports
            reports[useless] = mechanism.privatize(wanted[useless], rng)

    def _extreme_numbers(self, mechanism: NumericMechanism, wanted: Values) -> Reports:
        """Return the reports that stand for the largest number, or for the smallest."""
        outcomes = mechanism.outcomes()
        numbers = mechanism.numbers(mechanism.codes(outcomes))
        upwards = (2 * wanted >= mechanism.size - 1) != self.against
        return outcomes[np.where(upwards, np.argmax(numbers), np.argmin(numbers))]
