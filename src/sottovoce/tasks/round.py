"""A round: what is asked of the people whose public coin falls into its share."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.question import Address, Ask, Fakes, Question

MAX_ROUNDS = 1 << 16


@dataclass(frozen=True)
class Round:
    """What the users with a coin in [low, high), in units of 2^-64, are asked."""

    number: int
    ask: Ask
    low: int = 0
    high: int = exact.UNIT

    def __post_init__(self) -> None:
        settings.whole("number", self.number, 0, MAX_ROUNDS - 1)
        settings.whole("low", self.low, 0, exact.UNIT - 1)
        settings.whole("high", self.high, self.low + 1, exact.UNIT)

    @property
    def epsilon(self) -> float:
        """Return what an answer to this round spends."""
        return self.ask.epsilon

    @property
    def width(self) -> int:
        """Return the bytes of one packed report."""
        return self.ask.width

    @property
    def slots(self) -> int:
        """Return how many reports one person makes at the most."""
        return self.ask.slots

    def part(self, users: int) -> int:
        """Return how many of the task's users belong to the round.

        The parts of all rounds add up to ``users``.
        """
        first = (users * self.low + exact.UNIT // 2) // exact.UNIT
        last = (users * self.high + exact.UNIT // 2) // exact.UNIT
        return last - first

    def asks(self, coin: int) -> bool:
        """Return whether the user with this coin belongs to the round."""
        return self.low <= coin < self.high

    def question(self, address: Address) -> Question:
        """Return the question at an address, or refuse the address."""
        if address.round != self.number:
            raise ParameterError("this report belongs to another round")
        return self.ask.at(address.member, address.slot)

    def assigned(self, people: Ints, rng: Rng) -> list[tuple[Address, Ints]]:
        """Return which of many people answer where, with coins drawn from ``rng``."""
        assigned = self.ask.assigned(people, rng)
        return [(replace(address, round=self.number), chosen) for address, chosen in assigned]

    def draw_fakes(self, count: int, rng: Rng) -> list[Fakes]:
        """Return the reports of some fakes by address, as a shuffler adds them."""
        drawn = self.ask.draw_fakes(np.arange(count), rng) if count else []
        return [replace(part, address=replace(part.address, round=self.number)) for part in drawn]

    def addresses(self, coin: Callable[[int], int]) -> list[Address]:
        """Return where a user answers; ``coin`` gives the 64-bit public coin of a slot."""
        return [replace(address, round=self.number) for address in self.ask.addresses(coin)]
