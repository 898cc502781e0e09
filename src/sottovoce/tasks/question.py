"""What one person is asked: a ``Question``, and its contract with ``Choice`` and ``Bundle``.

A ``Question`` is randomised by one mechanism.  Two combinators make larger things of questions: in
a ``Choice`` a public coin picks one member, in a ``Bundle`` one person makes several reports.  All
three know what they cost, how wide a report is and where each report belongs, so that nobody has to
take them apart.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sottovoce.accounting.blanket import Blanket
from sottovoce.arrays import Ints, Longs, Reports, Values
from sottovoce.core import settings
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.hashing import MAX_INTEGER_BITS, numbers_of
from sottovoce.mechanisms.base import Mechanism


@dataclass(frozen=True, order=True)
class Address:
    """Where a report belongs: which round, which member of its choice, which slot of its bundle."""

    round: int = 0
    member: int = 0
    slot: int = 0


@dataclass(frozen=True, eq=False)
class Fakes:
    """Fake reports at one address: the numbers of the fakes that make them, and the reports."""

    address: Address
    mechanism: Mechanism
    fakes: Ints
    reports: Reports

    def packed(self, width: int) -> list[tuple[Address, bytes]]:
        """Return every report as bytes, padded with zeros to a width, with its address."""
        rows = np.zeros((len(self.reports), width), np.uint8)
        packed = np.frombuffer(self.mechanism.pack(self.reports), np.uint8)
        rows[:, : self.mechanism.width] = packed.reshape(len(rows), -1)
        padded = rows.tobytes()
        starts = range(0, len(padded), width)
        return [(self.address, padded[start : start + width]) for start in starts]


class Ask(ABC):
    """What a round asks of one person: a question, a choice of questions, or a bundle of them."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Ask"]] = Registry("ask", "sottovoce.tasks")

    def __init_subclass__(cls, kind: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if kind:  # a variant of the laboratory has none, so that no document can name it
            cls.kind = kind
            Ask.kinds.add(kind, cls)

    epsilon: float  # what an answer spends, and what the ledger is charged

    @property
    @abstractmethod
    def width(self) -> int:
        """Return the bytes of one packed report; members of a choice are padded to the widest."""

    @property
    @abstractmethod
    def epsilon_once(self) -> float:
        """Return what one message reveals to somebody who never sees another of the same person."""

    @property
    @abstractmethod
    def blanket(self) -> Blanket:
        """Return what hides one person's message among the shuffled messages of a round.

        It holds if the messages of a person cannot be linked, and if the collector does not know
        which member a person's coin picked.
        """

    @property
    def slots(self) -> int:
        """Return how many reports one person makes at the most."""
        return 1

    def slots_of(self, member: int) -> int:
        """Return how many reports a person makes whose coin picked this member.

        It is 0 if there is no such member.
        """
        return self.slots

    @property
    def in_slots(self) -> bool:
        """Return whether reports are made in numbered slots, as those of a bundle are."""
        return False

    @property
    def bundled(self) -> bool:
        """Return whether some member of a choice is a bundle."""
        return False

    @property
    def member_count(self) -> int:
        """Return how many members the coin picks from."""
        return 1

    @property
    def has_coin(self) -> bool:
        """Return whether a public coin decides what a person is asked."""
        return False

    @property
    def most_people(self) -> float:
        """Return the most people that one report may stand for: for its question, all of them."""
        return 1.0

    def coin_share(self, member: int, slot: int = 0) -> float:
        """Return the probability that a person's coin picks this member."""
        return 1.0

    def fake_share(self, member: int, slot: int = 0) -> float:
        """Return the probability that a fake belongs to this member."""
        return self.coin_share(member, slot)

    @property
    def shared_mechanism(self) -> Mechanism | None:
        """Return the mechanism that randomises every member, if all members have the same."""
        return None

    @abstractmethod
    def at(self, member: int, slot: int) -> "Question":
        """Return the question of a member and a slot, or refuse an address that does not exist."""

    @abstractmethod
    def representatives(self) -> "Iterator[Question]":
        """Yield questions that stand for all: every mechanism and encoding occurs in them."""

    def families(self) -> "list[Any]":
        """Return what coins pick from: the members of every choice."""
        return []

    @abstractmethod
    def addresses(self, coin: Callable[[int], int], slot: int = 0) -> list[Address]:
        """Return where one person answers; ``coin`` gives the 64-bit public coin of a slot."""

    @abstractmethod
    def assigned(self, people: Ints, rng: Rng, slot: int = 0) -> list[tuple[Address, Ints]]:
        """Return which of many people answer where, with coins drawn from ``rng``."""

    @abstractmethod
    def draw_fakes(self, fakes: Ints, rng: Rng, slot: int = 0) -> "list[Fakes]":
        """Return the reports of some fakes, which depend on nobody's value, by address.

        Shufflers add fakes to the reports of people.  ``fakes`` are their numbers.  A fake makes as
        many reports as a person; they are draws from the blanket of each mechanism.
        """

    def fake_reports(self, count: int, rng: Rng) -> list[tuple[Address, bytes]]:
        """Return the addresses and the packed reports of some fakes, padded to ``width``.

        The reports of one fake follow each other, from its lowest slot on.  Addresses have no
        round number.
        """
        settings.whole("count", count, 0)
        if not count:
            return []
        drawn = self.draw_fakes(np.arange(count), rng)
        reports = [report for part in drawn for report in part.packed(self.width)]
        makers = np.concatenate([part.fakes for part in drawn])
        return [reports[place] for place in np.argsort(makers, kind="stable").tolist()]

    def privatize_by_coin(self, values: Values, rng: Rng) -> "tuple[Ints, Reports]":
        """Return the member that each person's coin picks, and the report.

        Only a choice with a ``shared_mechanism`` can do this for all people at once.
        """
        raise ParameterError("these questions are not all randomised by one mechanism")


@dataclass(frozen=True)
class Question(Ask, kind="question"):
    """One mechanism, the encoding before it if there is one, and the epsilon of both together."""

    mechanism: Mechanism
    encoding: Encoding | None = None
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        stated = self.epsilon or self.mechanism.epsilon
        object.__setattr__(self, "epsilon", settings.epsilon("epsilon", stated))
        self.check_price()

    def check_price(self) -> None:
        """Refuse a question that spends more than the epsilon it states."""
        if exact.log(self.worst_ratio) > exact.stated(self.epsilon):
            raise ParameterError("this question spends more than the `epsilon` it states")

    @property
    def worst_ratio(self) -> Fraction:
        """Return the largest ratio of the probabilities of one report under two values.

        The randomness of the encoding is included.
        """
        if self.encoding is None:
            return self.mechanism.worst_ratio
        return self.encoding.worst_ratio(self.mechanism)

    @property
    def epsilon_once(self) -> float:
        once = self.mechanism.epsilon_once
        return self.epsilon if once is None else once

    @property
    def blanket(self) -> Blanket:
        # An encoding mixes laws of the mechanism, and a mixture is hidden at least as well as its
        # worst part.  But where the encoding hides so much that the question costs less than its
        # mechanism, only the question's own epsilon is known to hold.
        if self.mechanism.epsilon <= self.epsilon:
            return self.mechanism.blanket
        return Blanket.generic(self.epsilon)

    @property
    def width(self) -> int:
        return self.mechanism.width

    def at(self, member: int, slot: int) -> "Question":
        if member:
            raise ParameterError("this question offers no choice of members")
        if slot:
            raise ParameterError("this question has no slots")
        return self

    def representatives(self) -> "Iterator[Question]":
        yield self

    def addresses(self, coin: Callable[[int], int], slot: int = 0) -> list[Address]:
        return [Address(slot=slot)]

    def assigned(self, people: Ints, rng: Rng, slot: int = 0) -> list[tuple[Address, Ints]]:
        return [(Address(slot=slot), people)]

    def draw_fakes(self, fakes: Ints, rng: Rng, slot: int = 0) -> list[Fakes]:
        # An encoding only mixes values of the mechanism, so that its blanket serves the question.
        reports = self.mechanism.draw_blanket(len(fakes), rng)
        return [Fakes(Address(slot=slot), self.mechanism, fakes, reports)]

    def check_domain(self, domain: Domain) -> None:
        """Refuse a domain with values that the mechanism cannot take.

        A device that stayed silent about such a value would give it away.
        """
        outputs = self.encoding.outputs(domain) if self.encoding else domain.size
        if outputs > self.mechanism.size:
            raise ParameterError(
                f"the mechanism serves {self.mechanism.size} values,"
                f" but the task's domain has {outputs}"
            )
        if self.mechanism.size > 1 << MAX_INTEGER_BITS >= outputs:
            raise ParameterError(
                f"the mechanism serves values of more than {MAX_INTEGER_BITS} bits,"
                " but those of the task's domain are shorter"
            )

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one report per value; values are what ``indices`` of the task's domain returns."""
        encoded = self.encoding(values, rng) if self.encoding else values
        return self.mechanism.privatize(encoded, rng)

    def report(self, value: Values, rng: Rng, draw: int | None = None) -> bytes:
        """Return the packed report of one person; ``value`` is an array with one index.

        With a ``draw`` in [0, 2^64), the number gives the hash seed.
        """
        encoded = self.encoding(value, rng) if self.encoding else value
        (index,) = numbers_of(encoded)
        if draw is None:
            return self.mechanism.report(index, rng)
        return self.mechanism.report_seeded(index, draw, rng)

    def privatize_seeded(self, values: Values, draws: Longs, rng: Rng) -> Reports:
        """Return one report per value, under the hash seeds that numbers in [0, 2^64) give."""
        encoded = self.encoding(values, rng) if self.encoding else values
        return self.mechanism.privatize_seeded(encoded, draws, rng)
