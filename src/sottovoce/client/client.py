"""A client: it checks what a task costs, charges the ledger, randomises, and returns a message.

Randomness is the operating system's; there is no way to pass in another.
"""

from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes, Values
from sottovoce.client import spending
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Posting
from sottovoce.client.permanent import PermanentResponses
from sottovoce.core import coin
from sottovoce.core.rng import Rng, SystemRng
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

    ``task`` is the task or its published document.  ``ledger`` is a file that outlives the process
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
        self._enrolled: bytes | None = None
        if token is not None:
            self._enrolled = coin.enrolled_bytes(token, self.notice.digest)

    @property
    def coin(self) -> int:
        """Return this device's public coin for the task, in units of 2^-64."""
        return coin.round_coin(self._device_bytes, self.notice.digest)

    @property
    def rehearsing(self) -> bool:
        """Return whether the task is a rehearsal, answered at random and free of charge."""
        return self.notice.collection is not None and self.notice.collection.sandbox

    def answer(
        self, value: Any, *, asked: Round | None = None, posting: Posting | None = None
    ) -> bytes:
        """Return the message that may leave the device; spends the task's epsilon, once.

        ``asked`` is the round to answer (default: the opening round).  With a ``posting`` the
        ledger queues the message for sending.
        """
        asked = asked or self.notice.opening
        self._check_round(asked)
        questions = self._questions(asked)
        indices = self._indices(value)  # refused values and questions are never charged
        self._check_public(indices)
        spend = Spend(
            task=self.notice.digest,
            epsilon=0.0 if self.rehearsing else self.notice.epsilon,
            round=asked.number,
            longitudinal=self.notice.distinct is not None,
        )
        return self.ledger.answer(spend, lambda: self._message(indices, asked, questions), posting)

    def resend(self, number: int | None = None) -> bytes:
        """Return the message of a round, or of the last one answered; it never changes."""
        message = self.ledger.message(self.notice.digest, number)
        if message is None:
            raise BudgetError("this device has not answered this task")
        return message

    def statement(self) -> dict[str, Any]:
        """Return what answering means, as plain data."""
        device = spending.spending(self.ledger)
        return {**statement.statement(self.notice), "device": device}

    def explain(self, asked: Round | None = None) -> str:
        """Return in words what is asked, what an answer reveals and what the collector promises."""
        facts = statement.statement(self.notice, asked)
        return statement.explain({**facts, "device": spending.spending(self.ledger)})

    def opt_out(self) -> None:
        """Erase secrets, coins and unsent messages of the task and never answer it again.

        Charges stay.
        """
        self.ledger.opt_out(self.notice.digest)

    @property
    def _device_bytes(self) -> bytes:
        return self.ledger.coin(self.notice.digest, self._enrolled)

    def _check_round(self, asked: Round) -> None:
        """Refuse a round that changes a longitudinal question, costs too much, or asks others."""
        if self.notice.distinct is not None and asked.ask != self.notice.opening.ask:
            raise MismatchError("a longitudinal task asks the same question in every round")
        self.notice.check(asked)
        if not asked.asks(self.coin):
            raise MismatchError(
                "this round is put to other users: this device's coin lies outside its share"
            )

    def _indices(self, value: Any) -> Any:
        """Return the index of the value; of a random one in a rehearsal, after the same checks."""
        domain = self.notice.domain
        indices = domain.indices([value])
        return domain.random_value(SystemRng()) if self.rehearsing else indices

    def _check_public(self, indices: Any) -> None:
        """Refuse a task whose document and domain disagree about a public part."""
        has_public_part = bool(self.notice.domain.public_parts(indices))
        is_declared = "public" in self.notice.declares
        if has_public_part and not is_declared:
            raise MismatchError("the task asks for public columns, but declares no public part")
        if is_declared and not has_public_part:
            raise MismatchError("the task declares a public part, but asks for no public columns")

    def _message(
        self, indices: Any, asked: Round, questions: list[tuple[Address, Question]]
    ) -> bytes:
        """Return the message with one envelope for every question; this draws all randomness."""
        rng = SystemRng()
        subjects = _random_id(rng) if "subject" in self.notice.declares else None
        public = tuple(self.notice.domain.public_parts(indices))
        envelopes = []
        for address, question in questions:
            payload = self._payload(indices, address, question, rng).ljust(asked.width, b"\0")
            envelope = Envelopes(
                digest=codec.digest_to_bytes(self.notice.digest),
                round=asked.number,
                members=np.array([address.member]),
                ids=_random_id(rng),
                payloads=np.frombuffer(payload, np.uint8)[None, :],
                subjects=subjects,
                slots=np.array([address.slot]) if asked.slots > 1 else None,
                public=public,
            )
            envelopes.append(envelope.write())
        return b"".join(envelopes)

    def _payload(self, indices: Values, address: Address, question: Question, rng: Rng) -> bytes:
        if self.notice.distinct is None:
            return question.mechanism.pack(question.privatize(indices, rng))
        permanent = PermanentResponses(self.ledger, self.notice)
        return question.mechanism.pack(permanent.report(indices, address, question, rng))

    def _questions(self, asked: Round) -> list[tuple[Address, Question]]:
        """Return what this device is asked; in a longitudinal task the same in every round."""
        number = asked.number if self.notice.distinct is None else 0
        addresses = asked.addresses(lambda slot: coin.choice_coin(self._device_bytes, number, slot))
        return [(address, self._checked(asked.question(address))) for address in addresses]

    def _checked(self, question: Question) -> Question:
        question.check_domain(self.notice.domain)
        if self.notice.distinct is not None:
            PermanentResponses(self.ledger, self.notice).check(question)
        return question


def notice_of(task: Task | Notice | codec.Document | str) -> Notice:
    """Return the notice of a task, of its document, or of the document's text."""
    if isinstance(task, Notice):
        return task
    if isinstance(task, Task):
        return codec.publish(task)
    return codec.notice(codec.parse(task) if isinstance(task, str) else task)


def _random_id(rng: Rng) -> Bytes:
    """Return a random report id or subject, as the one row of an array."""
    return np.frombuffer(bytes(rng.bytes(ID_BYTES)), np.uint8)[None, :]
