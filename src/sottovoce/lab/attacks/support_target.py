"""Support of a target: attackers send only reports that support one value, or never do.

It is what one report can do at most.  Each report is a draw of the honest law, given that it
supports the target, so no test of the reports can tell it from an honest one.  The attack is known
as single-item or maximal-gain poisoning with one target.

Source: Cao, Jia and Gong 2021.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.lab.attacks.base import Attack
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round


@dataclass(frozen=True)
class SupportTarget(Attack):
    """Every attacker supports the ``target``, a value of the task's domain.

    With ``against`` no report supports it.  With a ``member`` all attackers report about that
    member of a choice instead of the one that their coins pick.
    """

    domain: Domain
    target: Any
    against: bool = False
    member: int | None = None

    def reports(self, asked: Round, users: int, rng: Rng) -> dict[Address, Reports]:
        held = np.asarray(self.domain.indices([self.target]))
        return {
            address: self._extreme(asked.question(address), held[np.zeros(len(people), int)], rng)
            for address, people in self._assigned(asked, users, rng)
        }

    def _assigned(self, asked: Round, users: int, rng: Rng) -> list[tuple[Address, Ints]]:
        people = np.arange(users)
        if self.member is None:
            return asked.assigned(people, rng)
        return [(Address(asked.number, self.member), people)]

    def _extreme(self, question: Question, values: Values, rng: Rng) -> Reports:
        """Return one report per value; those that do not serve the attack are drawn again."""
        encoded = question.encoding(values, rng) if question.encoding else values
        mechanism = question.mechanism
        if mechanism.randomises_numbers:
            return np.repeat(_extreme_number(mechanism, against=self.against), len(values))
        reports = mechanism.privatize(encoded, rng)
        while (useless := ~self._serves(mechanism, reports, encoded)).any():
            reports[useless] = mechanism.privatize(encoded[useless], rng)
        return reports

    def _serves(self, mechanism: Any, reports: Reports, encoded: Values) -> Bools:
        supports = mechanism.support(reports, encoded[:1])[:, 0]
        return np.asarray(~supports if self.against else supports)


def _extreme_number(mechanism: Mechanism, *, against: bool) -> Reports:
    """Return the report that stands for the largest number, or for the smallest."""
    randomiser: Any = mechanism
    outcomes = mechanism.outcomes()
    numbers: Floats = randomiser.numbers(randomiser.codes(outcomes))
    best = int(np.argmin(numbers)) if against else int(np.argmax(numbers))
    return outcomes[best : best + 1]
