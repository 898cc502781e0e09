"""A plan whose every round depends on all reports before it, and messages that can be told apart.

The size of each question is taken from a weighted sum of everything that was collected.  One report
lost or counted twice changes the next round's document, and with it every payload after it.
"""

import hashlib
from dataclasses import dataclass, field

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.core import coin
from sottovoce.domains.integers import Integers
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.envelope import Envelopes

_MODULUS = 199
_SIZE = 12


@dataclass(frozen=True)
class Chain(Plan, kind="test_chain"):
    """Ask a question, then a bundle, then a choice between both, of other people each time, for
    ``length`` rounds.
    """

    domain: Integers
    length: int

    def step(self, collected: Collected) -> Round | Answers:
        number = len(collected.rounds)
        if number == self.length:
            return Answers(
                "chain",
                {f"round {one.number}": _answer(collected, one) for one in collected.rounds},
            )
        size = self.domain.size + _fingerprint(collected)
        whole, half = (
            Question(GRR(epsilon, size)) for epsilon in (collected.epsilon, collected.epsilon / 2)
        )
        pair = Bundle((half, half))
        ask = (whole, pair, Choice((whole, pair), (2, 1)))[number % 3]
        return Round(
            number,
            ask,
            exact.UNIT * number // self.length,
            exact.UNIT * (number + 1) // self.length,
        )

    def later_rounds(self, opening: Round) -> RoundLimits | None:
        return RoundLimits(self.length, 4, ("grr",)) if self.length > 1 else None


def _fingerprint(collected: Collected) -> int:
    total = 0
    for asked in collected.rounds:
        for address in addresses(asked):
            votes = next(iter(collected.tally(address).counts.values()))
            total = total * 31 + int(np.dot(votes, np.arange(1, len(votes) + 1) ** 2))
    return total % _MODULUS


def _answer(collected: Collected, asked: Round) -> Answer:
    address = addresses(asked)[0]
    question = asked.question(address)
    labels = tuple(str(value) for value in range(question.mechanism.size))
    return Answer(
        f"round {asked.number}", labels, collected.estimate(address), question.mechanism.kind
    )


def addresses(asked: Round) -> list[Address]:
    """Return every address of a round."""
    places = {Question: [(0, 0)], Bundle: [(0, 0), (0, 1)], Choice: [(0, 0), (1, 0), (1, 1)]}[
        type(asked.ask)
    ]
    return [Address(asked.number, member, slot) for member, slot in places]


def chain_task(length: int, quota: int, *, enrolment: bool = False, minimum: int = 10) -> Task:
    """Return a task that goes from round to round without waiting."""
    collection = Collection(quota=quota, grace=0, minimum=minimum, enrolment=enrolment)
    return Task("chain", Chain(Integers(0, _SIZE - 1), length), 2.0, collection=collection)


@dataclass(eq=False)
class Message:
    """What one person sends in one round, field by field and as bytes, and what became of it."""

    round: int
    reports: tuple[tuple[bytes, int, int, bytes], ...]  # id, member, slot, payload
    data: bytes
    token: str = ""
    sent: int = 0
    acknowledged: bool = False
    refused: str = ""

    @property
    def settled(self) -> bool:
        """Return whether it has an outcome."""
        return self.acknowledged or bool(self.refused)


@dataclass
class People:
    """Everybody who may answer: with enrolment, by the round that their token's coin belongs to."""

    task: Task
    seed: int
    tokens: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.digest = codec.digest(codec.document(self.task))

    def messages(self, asked: Round, count: int) -> list[Message]:
        """Return the messages of a round; the same round of the same people gives the same
        bytes.
        """
        tokens = self._asked(asked)[:count] if self.tokens else [""] * count
        assert len(tokens) == count, "more tokens are needed"
        return [self._message(asked, index, token) for index, token in enumerate(tokens)]

    def _asked(self, asked: Round) -> list[str]:
        digest = self.digest
        places = (
            (token, coin.round_coin(coin.enrolled_bytes(token, digest), digest))
            for token in self.tokens
        )
        return [token for token, place in places if asked.asks(place)]

    def _message(self, asked: Round, index: int, token: str) -> Message:
        member = self._member(asked, index, token)
        places = [one for one in addresses(asked) if one.member == member]
        reports = tuple(self._report(asked, index, address) for address in places)
        return Message(
            asked.number, reports, b"".join(self._envelope(asked, one) for one in reports), token
        )

    def _member(self, asked: Round, index: int, token: str) -> int:
        if not isinstance(asked.ask, Choice):
            return 0
        if not token:
            return int(index % 3 == 0)
        drawn = coin.choice_coin(coin.enrolled_bytes(token, self.digest), asked.number, 0)
        return int(asked.ask.pick(np.array([drawn], np.uint64))[0])

    def _report(self, asked: Round, index: int, address: Address) -> tuple[bytes, int, int, bytes]:
        name = hashlib.sha256(
            f"{self.seed} {asked.number} {index} {address.slot}".encode()
        ).digest()
        mechanism = asked.question(address).mechanism
        payload = mechanism.pack(
            np.array([int.from_bytes(name[16:20], "big") % mechanism.size], np.uint32)
        )
        return name[:16], address.member, address.slot, payload.ljust(asked.width, b"\0")

    def _envelope(self, asked: Round, report: tuple[bytes, int, int, bytes]) -> bytes:
        name, member, slot, payload = report
        return Envelopes(
            digest=codec.digest_to_bytes(self.digest),
            round=asked.number,
            members=np.array([member]),
            ids=np.frombuffer(name, np.uint8)[None, :],
            payloads=np.frombuffer(payload, np.uint8)[None, :],
            slots=np.array([slot]) if asked.slots > 1 else None,
        ).write()
