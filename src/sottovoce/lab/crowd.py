"""The messages that many devices would send, made over arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from sottovoce.arrays import Bytes, Ints, Reports
from sottovoce.core import coin
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.envelope import ID_BYTES, Envelopes, Version, version_of

Crafted: TypeAlias = Callable[[Question, int, Rng], Reports]


def messages(
    task: Task,
    values: Any,
    asked: Round | None = None,
    rng: Rng | None = None,
    *,
    tokens: Sequence[str] = (),
) -> list[bytes]:
    """Return one message per person for a round; ``rng`` is the system's by default.

    Enrolment ``tokens``, one per person, deal the members of a choice.  Messages of a shuffled task
    are not sealed yet: they are what the collector finds at the end.
    """
    sender = _Sender.of(task, asked or task.opening, rng or SystemRng())
    indices = task.plan.domain.indices(values)
    subjects = _random(len(indices), sender.rng) if "subject" in task.declares else None
    sent: list[bytes] = [b""] * len(indices)
    for address, people in sender.assigned(len(indices), tokens):
        reports = sender.asked.question(address).privatize(indices[people], sender.rng)
        theirs = None if subjects is None else subjects[people]
        public = tuple(getattr(indices[people], "public", ()))  # what people let everybody see
        parts = sender.envelopes(address, reports, theirs, public)
        for person, part in zip(people.tolist(), parts, strict=True):
            sent[person] += part
    return sent


def false_messages(
    task: Task,
    crafted: Crafted,
    rng: Rng | None = None,
    *,
    tokens: Sequence[str] = (),
    count: int = 0,
) -> list[bytes]:
    """Return the messages of attackers to the opening round: one per token, or ``count``.

    ``crafted`` gives for a question, a count and a source of randomness as many false reports.
    Enrolment ``tokens`` deal the members of a choice.
    """
    sender = _Sender.of(task, task.opening, rng or SystemRng())
    attackers = len(tokens) or count
    sent: list[bytes] = [b""] * attackers
    for address, people in sender.assigned(attackers, tokens):
        reports = crafted(sender.asked.question(address), len(people), sender.rng)
        parts = sender.envelopes(address, reports)
        for person, part in zip(people.tolist(), parts, strict=True):
            sent[person] += part
    return sent


@dataclass(frozen=True)
class _Sender:
    """Makes the envelopes of a round of a task."""

    fingerprint: bytes
    version: Version
    asked: Round
    rng: Rng

    @classmethod
    def of(cls, task: Task, asked: Round, rng: Rng) -> "_Sender":
        fingerprint = codec.fingerprint(codec.canonical(codec.document(task)))
        return cls(fingerprint, version_of(task), asked, rng)

    def assigned(self, count: int, tokens: Sequence[str]) -> list[tuple[Address, Ints]]:
        """Return who answers where, by coins that are drawn, or by those of tokens."""
        if not tokens:
            return self.asked.assigned(np.arange(count), self.rng)
        digest = codec.digest_text(self.fingerprint)
        people: dict[Address, list[int]] = {}
        for person, token in enumerate(tokens):
            device = coin.enrolled_bytes(token, digest)
            for address in self.asked.addresses(
                partial(coin.choice_coin, device, self.asked.number)
            ):
                people.setdefault(address, []).append(person)
        return [(address, np.array(people[address])) for address in sorted(people)]

    def envelopes(
        self,
        address: Address,
        reports: Reports,
        subjects: Bytes | None = None,
        public: tuple[bytes, ...] = (),
    ) -> list[bytes]:
        """Return one envelope for every report of an address."""
        question = self.asked.question(address)
        count = len(reports)
        payloads = np.zeros((count, self.asked.width), np.uint8)
        packed = question.mechanism.pack(reports)
        payloads[:, : question.width] = np.frombuffer(packed, np.uint8).reshape(
            count, question.width
        )
        members = np.full(count, address.member)
        slots = np.full(count, address.slot) if self.asked.slots > 1 else None
        envelopes = Envelopes(
            digest=self.version.task_digest(self.fingerprint),
            round=self.asked.number,
            members=members,
            ids=_random(count, self.rng),
            payloads=payloads,
            subjects=subjects,
            slots=slots,
            public=public,
            version=self.version,
        )
        whole = envelopes.write()
        ends = [0, *np.cumsum(envelopes.sizes).tolist()]
        return [whole[start:end] for start, end in pairwise(ends)]


def _random(count: int, rng: Rng) -> Bytes:
    return np.frombuffer(bytes(rng.bytes(ID_BYTES * count)), np.uint8).reshape(count, ID_BYTES)
