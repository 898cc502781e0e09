"""Input manipulation: attackers follow the protocol, but answer as if they held another value.

Nobody can tell such a report from an honest one.  It is the weakest attack, and the one that no
check at the collector's door can stop.

Source: Cao, Jia and Gong 2021.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Reports
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Attack
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round


@dataclass(frozen=True)
class InputManipulation(Attack):
    """Every attacker answers honestly for one of the ``targets``, values of the task's domain."""

    domain: Domain
    targets: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.targets:
            raise ParameterError("`targets` must name at least one value to promote")

    def reports(self, asked: Round, users: int, rng: Rng) -> dict[Address, Reports]:
        codes = self.domain.indices(list(self.targets))
        values = codes[rng.integers(len(self.targets), users)]
        answers = {}
        for address, people in asked.assigned(np.arange(users), rng):
            answers[address] = asked.question(address).privatize(values[people], rng)
        return answers
