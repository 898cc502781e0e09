"""The device's side: it checks the price, charges the ledger, randomises, and only then lets bytes leave.

Randomness is the operating system's; there is no way to pass in another.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes, Values
from sottovoce.client import spending
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Posting
from sottovoce.client.permanent import Memory
from sottovoce.core import coin
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.domains.person_tables import PersonTables
from sottovoce.errors import BudgetError, MismatchError
from sottovoce.tasks.budget import Spend
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec, statement
from sottovoce.wire.envelope import ID_BYTES, Envelopes


class Client:
    """Answers one task for one person: once, or once a round if the task is longitudinal.

    ``task`` is the task or its published document; ``ledger`` a file that outlives the process
    (``":memory:"`` for experiments).  With an enrolment ``token`` the public coin follows from it.
    """

    def __init__(
        self,
        task: Task | Notice | codec.Document | str,
        ledger: DiskLedger | str | Path,
        token: str | None = None,
    ) -> None:
        self.notice = notice_of(task)
        self.ledger = ledger if isinstance(ledger, DiskLedger) else DiskLedger(ledger)
        self._enrolled = None if token is None else coin.enrolled(token, self.notice.digest)

    @property
    def coin(self) -> int:
        """Return this device's public coin for the task, in units of 2^-64."""
        return coin.place(self._kept, self.notice.digest)

    @property
    def rehearsing(self) -> bool:
        """Return whether the task is a rehearsal, answered at random and free of charge."""
        return self.notice.collection is not None and self.notice.collection.sandbox

    def answer(self, value: Any, *, asked: Round | None = None, posting: Posting | None = None) -> bytes:
        """Return the message that may leave the device; spends the task's epsilon, once.

        With a ``posting`` the ledger queues the message for sending.
        """
        current = self._check(asked or self.notice.opening)
        questions = self._questions(current)
        indices = self._indices(value)  # refused values and questions are never charged
        if bool(_public(indices)) != ("public" in self.notice.declares):
            raise MismatchError("a task declares that reports have a public part, or asks for no public columns")
        lasting, epsilon = self.notice.distinct is not None, 0.0 if self.rehearsing else self.notice.epsilon
        spend = Spend(self.notice.digest, epsilon, current.number, lasting)
        return self.ledger.answer(spend, lambda: self._message(indices, current, questions), posting)

    def resend(self, number: int | None = None) -> bytes:
        """Return the bytes of the answer to a round, or of the last one given; they never change."""
        message = self.ledger.message(self.notice.digest, number)
        if message is None:
            raise BudgetError("this device has not answered this task")
        return message

    def statement(self) -> dict[str, Any]:
        """Return what answering means, as plain data."""
        return {**statement.statement(self.notice), "device": spending.spending(self.ledger)}

    def explain(self, asked: Round | None = None) -> str:
        """Return in plain words what is asked, what answering reveals and what the collector promises."""
        said = statement.statement(self.notice, asked)
        return f"{statement.explain(said)} {spending.explain(spending.spending(self.ledger))}"

    def opt_out(self) -> None:
        """Erase secrets, coins and unsent messages of the task and never answer it again; charges stay."""
        self.ledger.opt_out(self.notice.digest)

    @property
    def _kept(self) -> bytes:
        return self.ledger.coin(self.notice.digest, self._enrolled)

    def _check(self, asked: Round) -> Round:
        """Return the round, or refuse one that costs too much, asks others, or asks a remembered value otherwise."""
        if self.notice.distinct is not None and asked.ask != self.notice.opening.ask:
            raise MismatchError("a longitudinal task asks the same question in every round")
        self.notice.check(asked)
        if not asked.asks(self.coin):
            raise MismatchError("this round is put to other users: this device's coin lies outside its share")
        return asked

    def _indices(self, value: Any) -> Any:
        """Return the index of the value; of a random one in a rehearsal, after the same checks."""
        indices = self.notice.domain.indices([value])
        return self.notice.domain.random_value(SystemRng()) if self.rehearsing else indices

    def _message(self, indices: Any, asked: Round, questions: list[tuple[Address, Question]]) -> bytes:
        rng = SystemRng()
        subject = _row(bytes(rng.bytes(ID_BYTES))) if "subject" in self.notice.declares else None
        public = tuple(_public(indices))
        messages = []
        for address, question in questions:
            payload = self._payload(indices, address, question, rng)
            messages.append(
                Envelopes(
                    digest=codec.digest_to_bytes(self.notice.digest),
                    round=asked.number,
                    members=np.array([address.member]),
                    ids=_row(bytes(rng.bytes(ID_BYTES))),
                    payloads=_row(payload.ljust(asked.width, b"\0")),
                    subjects=subject,
                    slots=np.array([address.slot]) if asked.slots > 1 else None,
                    public=public,
                ).write()
            )
        return b"".join(messages)

    def _payload(self, indices: Values, address: Address, question: Question, rng: Rng) -> bytes:
        if self.notice.distinct is None:
            return question.mechanism.pack(question.privatize(indices, rng))
        return question.mechanism.pack(Memory(self.ledger, self.notice).report(indices, address, question, rng))

    def _questions(self, asked: Round) -> list[tuple[Address, Question]]:
        """Return what this device is asked; in a longitudinal task the same in every round."""
        number = asked.number if self.notice.distinct is None else 0
        addresses = asked.addresses(lambda slot: coin.choice(self._kept, number, slot))
        return [(address, self._checked(asked.question(address))) for address in addresses]

    def _checked(self, question: Question) -> Question:
        question.check_domain(self.notice.domain)
        if self.notice.distinct is not None:
            Memory(self.ledger, self.notice).check(question)
        return question


def notice_of(task: Task | Notice | codec.Document | str) -> Notice:
    """Return what a device reads of a task, of its document, or of the document's text."""
    if isinstance(task, Notice):
        return task
    if isinstance(task, Task):
        return codec.publish(task)
    return codec.notice(codec.parse(task) if isinstance(task, str) else task)


def _public(indices: Any) -> Sequence[bytes]:
    return indices.public if isinstance(indices, PersonTables) else ()


def _row(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8)[None, :]
