"""The device's side: it checks the price, charges the ledger, randomises, and only then lets bytes leave.

Randomness is the operating system's; there is no way to pass in another.
"""

from pathlib import Path
from typing import Any

import numpy as np

from sottovoce import codec, coin
from sottovoce.arrays import Ints
from sottovoce.budget import Spend
from sottovoce.client.ledger import DiskLedger
from sottovoce.envelope import ID_BYTES, Envelopes
from sottovoce.errors import BudgetError, MismatchError
from sottovoce.rng import SystemRng
from sottovoce.task import Address, Bundle, Choice, Notice, Question, Round, Task


class Client:
    """Answers one task for one person, once.

    ``task`` is the task or its published document; ``ledger`` a file that outlives the process
    (``":memory:"`` for experiments).
    """

    def __init__(self, task: Task | Notice | codec.Document | str, ledger: DiskLedger | str | Path) -> None:
        self.notice = _notice(task)
        self.ledger = ledger if isinstance(ledger, DiskLedger) else DiskLedger(ledger)

    @property
    def coin(self) -> int:
        """Return this device's public coin for the task, in units of 2^-64."""
        return coin.place(self.ledger.coin(self.notice.digest), self.notice.digest)

    def answer(self, value: Any, *, asked: Round | None = None) -> bytes:
        """Return the message that may leave the device; spends the task's epsilon, once."""
        task = self.notice.digest
        current = self.notice.check(asked or self.notice.opening)
        if not current.asks(self.coin):
            raise MismatchError("this round is put to other users: this device's coin lies outside its share")
        if self.ledger.message(task) is not None:
            raise BudgetError("this device has already answered this task; resend() repeats the same bytes")
        questions = self._questions(current)
        indices = self.notice.domain.indices([value])  # refused values and questions are never charged
        if not self.ledger.charged(task):
            self.ledger.charge(Spend(task, self.notice.epsilon))
        return self.ledger.keep(task, self._randomise(indices, current, questions))

    def resend(self) -> bytes:
        """Return the bytes of the answer that was given, identical however often they are sent."""
        message = self.ledger.message(self.notice.digest)
        if message is None:
            raise BudgetError("this device has not answered this task")
        return message

    def explain(self) -> str:
        """Return in plain words what answering reveals."""
        notice = self.notice
        odds = np.exp(notice.epsilon)
        return (
            f"Task {notice.name!r} asks this device once. Your answer is randomised here before anything is sent. "
            f"Whoever sees the message can shift their odds about your answer by a factor of at most {odds:.2f} "
            f"(epsilon {notice.epsilon:g}). This device has spent {self.ledger.spent:g} of {self.ledger.cap:g} so far."
        )

    def _randomise(self, indices: Ints, asked: Round, questions: list[tuple[Address, Question]]) -> bytes:
        rng = SystemRng()
        messages = []
        for address, question in questions:
            packed = question.mechanism.pack(question.privatize(indices, rng))
            payload = np.frombuffer(packed.ljust(asked.width, b"\0"), np.uint8)[None, :]
            messages.append(
                Envelopes(
                    digest=codec.digest_to_bytes(self.notice.digest),
                    round=asked.number,
                    members=np.array([address.member]),
                    ids=np.frombuffer(bytes(rng.bytes(ID_BYTES)), np.uint8)[None, :],
                    payloads=payload,
                    slots=np.array([address.slot]) if asked.slots > 1 else None,
                ).write()
            )
        return b"".join(messages)

    def _questions(self, asked: Round) -> list[tuple[Address, Question]]:
        """Return what this device is asked: the coin picks members, a bundle fills every slot."""
        ask, member = asked.ask, 0
        if isinstance(ask, Choice):
            member = self._pick(ask, asked, slot=0)
            ask = ask.members[member]
        parts = ask.parts if isinstance(ask, Bundle) else (ask,)
        found = []
        for slot, part in enumerate(parts):
            chosen = self._pick(part, asked, slot) if isinstance(part, Choice) else member
            address = Address(asked.number, chosen, slot)
            question = asked.question(address)
            question.check_domain(self.notice.domain)
            found.append((address, question))
        return found

    def _pick(self, choice: Choice, asked: Round, slot: int) -> int:
        drawn = coin.choice(self.ledger.coin(self.notice.digest), asked.number, slot)
        return int(choice.pick(np.array([drawn], np.uint64))[0])


def _notice(task: Task | Notice | codec.Document | str) -> Notice:
    if isinstance(task, Notice):
        return task
    if isinstance(task, Task):
        return codec.publish(task)
    return codec.notice(codec.parse(task) if isinstance(task, str) else task)
