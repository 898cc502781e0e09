"""The contract of an attack: the false reports that enter a simulation beside the honest ones."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from sottovoce.arrays import Reports
from sottovoce.core.rng import Rng
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round


class Attack(ABC):
    """Users who know the protocol, may agree beforehand, and send whatever a collector accepts."""

    @abstractmethod
    def reports(self, asked: Round, users: int, rng: Rng) -> Mapping[Address, Reports]:
        """Return the reports of ``users`` attackers who are asked in a round, by address."""
