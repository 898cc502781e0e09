"""A choice: every person is asked one member of a family, picked by a public coin."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from sottovoce.accounting.blanket import Blanket
from sottovoce.arrays import Ints, Longs, Reports, Values, grouped
from sottovoce.core import bounds, settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.question import Address, Ask, Fakes, Question

# Exclusive bound of the weights of all members together: a coin is cut into halves of 32 bits.
MAX_WEIGHT = 1 << 32


@dataclass(frozen=True)
class Choice(Ask, kind="choice"):
    """One member of a family or of a list; with ``weights`` some are more likely than others.

    The coin is public and independent of the value, so a choice costs as much as its most expensive
    member.  Reports of all members are padded to one length.
    """

    members: tuple[Ask, ...] | Family
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        most = bounds.MAX_LISTED_MEMBERS if isinstance(self.members, tuple) else None
        count = settings.entries("members", self.members, 1, most)
        if any(member.has_coin for member in self._listed):
            raise ParameterError("`members` of a choice must be questions, or bundles of questions")
        if self.weights:
            settings.entries("weights", self.weights, count, count)
            settings.wholes("weights", self.weights, 1)
        if (sum(self.weights) or count) >= MAX_WEIGHT:
            raise ParameterError("`weights` of a choice must sum to less than 2^32")

    @property
    def _listed(self) -> tuple[Ask, ...]:
        """Return the members that a document lists; those of a family are questions."""
        return self.members if isinstance(self.members, tuple) else ()

    @cached_property
    def _representative_members(self) -> tuple[Ask, ...]:
        """Return members that stand for all of them."""
        if isinstance(self.members, tuple):
            return self.members
        return tuple(self.members[index] for index in self.members.representatives())

    @cached_property
    def epsilon(self) -> float:  # type: ignore[override]
        """Return the most that any member spends."""
        return max(member.epsilon for member in self._representative_members)

    @cached_property
    def epsilon_once(self) -> float:
        return max(member.epsilon_once for member in self._representative_members)

    @cached_property
    def blanket(self) -> Blanket:
        """Return the blanket of all members together, for a coin that the collector cannot see.

        Two values may share a cell in some members; the worst pair differs in every one.
        """
        if self.shared_mechanism is not None:
            return self.members[0].blanket
        weight_of: dict[Blanket, int] = {}
        for weight, blanket in self._weighted_blankets():
            weight_of[blanket] = weight_of.get(blanket, 0) + weight
        return Blanket.mixture((weight, blanket) for blanket, weight in weight_of.items())

    def _weighted_blankets(self) -> Iterator[tuple[int, Blanket]]:
        """Yield the weight and the blanket of every member."""
        weights = self.weights or (1,) * len(self.members)
        for member, weight in enumerate(weights):
            yield weight, self.members[member].blanket

    @cached_property
    def _fake_bounds(self) -> Longs | None:
        """Return the coins, in units of 2^-64, at which the fakes of each next member begin.

        They are rounded to the nearest unit, so that the probability of a member is off by at most
        2^-64.  None if fakes are dealt as people are.
        """
        if self.shared_mechanism is not None:
            return None
        parts = list(self._weighted_blankets())
        weights = Blanket.fake_weights(parts)
        if len({share / weight for share, (weight, _) in zip(weights, parts, strict=True)}) == 1:
            return None
        total = sum(weights)
        ends = [round(exact.UNIT * end / total) for end in accumulate(weights)]
        return np.array(ends[:-1], np.uint64)

    def _deal_fakes(self, count: int, rng: Rng) -> Ints:
        """Return the member that each fake belongs to: by its weight times its blanket's mass."""
        coins = rng.longs(count)
        if self._fake_bounds is None:
            return self.pick(coins)
        return np.searchsorted(self._fake_bounds, coins, side="right")

    @cached_property
    def width(self) -> int:
        return max(member.width for member in self._representative_members)

    @cached_property
    def slots(self) -> int:
        return max((member.slots for member in self._listed), default=1)

    def slots_of(self, member: int) -> int:
        if not 0 <= member < len(self.members):
            return 0
        return self._listed[member].slots if self._listed else 1

    @property
    def bundled(self) -> bool:
        return any(member.in_slots for member in self._listed)

    @property
    def member_count(self) -> int:
        return len(self.members)

    @property
    def has_coin(self) -> bool:
        return True

    @property
    def most_people(self) -> float:
        if self.weights:
            return sum(self.weights) / min(self.weights)
        return float(len(self.members))

    def coin_share(self, member: int, slot: int = 0) -> float:
        if self.weights:
            return self.weights[member] / sum(self.weights)
        return 1 / len(self.members)

    def fake_share(self, member: int, slot: int = 0) -> float:
        if self._fake_bounds is None:
            return self.coin_share(member)
        bounds: list[int] = [0, *self._fake_bounds.tolist(), exact.UNIT]
        return (bounds[member + 1] - bounds[member]) / exact.UNIT

    @property
    def shared_mechanism(self) -> Mechanism | None:
        if isinstance(self.members, tuple) or not self.members.one_mechanism:
            return None
        return self.members[0].mechanism

    def at(self, member: int, slot: int) -> Question:
        if not 0 <= member < len(self.members):
            raise ParameterError(f"this choice has no member {member}")
        return self.members[member].at(0, slot)

    def representatives(self) -> Iterator[Question]:
        for member in self._representative_members:
            yield from member.representatives()

    def families(self) -> list[Any]:
        return [self.members]

    def addresses(self, coin: Callable[[int], int], slot: int = 0) -> list[Address]:
        member = int(self.pick(np.array([coin(slot)], np.uint64))[0])
        addresses = self.members[member].addresses(coin, slot)
        return [replace(address, member=member) for address in addresses]

    def assigned(self, people: Ints, rng: Rng, slot: int = 0) -> list[tuple[Address, Ints]]:
        assigned = []
        for member, chosen in grouped(self.pick(rng.longs(len(people)))):
            for address, asked in self.members[member].assigned(people[chosen], rng, slot):
                assigned.append((replace(address, member=member), asked))
        return assigned

    def draw_fakes(self, fakes: Ints, rng: Rng, slot: int = 0) -> list[Fakes]:
        dealt = grouped(self._deal_fakes(len(fakes), rng))
        mechanism = self.shared_mechanism
        if mechanism is not None:
            reports = mechanism.draw_blanket(len(fakes), rng)
            return [
                Fakes(Address(member=member, slot=slot), mechanism, fakes[chosen], reports[chosen])
                for member, chosen in dealt
            ]
        drawn: list[Fakes] = []
        for member, chosen in dealt:
            parts = self.members[member].draw_fakes(fakes[chosen], rng, slot)
            drawn += [replace(part, address=replace(part.address, member=member)) for part in parts]
        return drawn

    def privatize_by_coin(self, values: Values, rng: Rng) -> tuple[Ints, Reports]:
        mechanism = self.shared_mechanism
        if mechanism is None or isinstance(self.members, tuple):
            return super().privatize_by_coin(values, rng)
        members = self.pick(rng.longs(len(values)))
        return members, mechanism.privatize(self.members.encoded(members, values, rng), rng)

    def pick(self, coins: Values) -> Values:
        """Return the member that each 64-bit coin picks."""
        bounds = np.cumsum(np.array(self.weights, np.uint64))
        total = int(bounds[-1]) if self.weights else len(self.members)
        # floor(coin * total / 2^64), in two halves of 32 bits
        low = coins & np.uint64(0xFFFFFFFF)
        high = coins >> np.uint64(32)
        carry = low * np.uint64(total) >> np.uint64(32)
        position = (high * np.uint64(total) + carry) >> np.uint64(32)
        if not self.weights:
            return position.astype(np.int64)
        return np.searchsorted(bounds, position, side="right")
