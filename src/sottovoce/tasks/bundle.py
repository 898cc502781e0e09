"""A bundle: one person makes several reports, in numbered slots, for one charge."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sottovoce.accounting.blanket import Blanket
from sottovoce.arrays import Ints
from sottovoce.core import bounds, settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.question import Address, Ask, Fakes, Question


@dataclass(frozen=True)
class Bundle(Ask, kind="bundle"):
    """Several reports of one person; the budgets of the parts add up."""

    parts: tuple[Ask, ...]

    def __post_init__(self) -> None:
        settings.entries("parts", self.parts, 1, bounds.MAX_SLOTS)
        if any(part.bundled or part.in_slots for part in self.parts):
            raise ParameterError("`parts` of a bundle must be questions, or choices of questions")

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        """Return what all parts together spend."""
        return float(sum(exact.stated(part.epsilon) for part in self.parts))

    @property
    def epsilon_once(self) -> float:
        return sum(part.epsilon_once for part in self.parts)

    @property
    def blanket(self) -> Blanket:
        # The reports of a message arrive together.  Nothing is known of their joint law but its
        # epsilon.
        return Blanket.generic(self.epsilon)

    @property
    def width(self) -> int:
        return max(part.width for part in self.parts)

    @property
    def slots(self) -> int:
        return len(self.parts)

    @property
    def in_slots(self) -> bool:
        return True

    @property
    def most_people(self) -> float:
        return max(part.most_people for part in self.parts)

    @property
    def has_coin(self) -> bool:
        return any(part.has_coin for part in self.parts)

    def coin_share(self, member: int, slot: int = 0) -> float:
        return self.parts[slot].coin_share(member)

    def fake_share(self, member: int, slot: int = 0) -> float:
        return self.parts[slot].fake_share(member)

    def at(self, member: int, slot: int) -> Question:
        if not 0 <= slot < len(self.parts):
            raise ParameterError(f"this bundle has no slot {slot}")
        return self.parts[slot].at(member, 0)

    def representatives(self) -> Iterator[Question]:
        for part in self.parts:
            yield from part.representatives()

    def families(self) -> list[Any]:
        return list(chain.from_iterable(part.families() for part in self.parts))

    def addresses(self, coin: Callable[[int], int], slot: int = 0) -> list[Address]:
        addresses: list[Address] = []
        for number, part in enumerate(self.parts):
            addresses += part.addresses(coin, number)
        return addresses

    def draw_fakes(self, fakes: Ints, rng: Rng, slot: int = 0) -> list[Fakes]:
        drawn: list[Fakes] = []
        for number, part in enumerate(self.parts):
            drawn += part.draw_fakes(fakes, rng, number)
        return drawn

    def assigned(self, people: Ints, rng: Rng, slot: int = 0) -> list[tuple[Address, Ints]]:
        assigned: list[tuple[Address, Ints]] = []
        for number, part in enumerate(self.parts):
            assigned += part.assigned(people, rng, number)
        return assigned
