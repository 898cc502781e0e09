"""The messages that many devices would send, made over arrays."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes, Values
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.envelope import ID_BYTES, Envelopes, Version, version_of


def messages(
    task: Task, values: Any, asked: Round | None = None, rng: Rng | None = None
) -> list[bytes]:
    """Return one message per person for a round; ``rng`` is the system's by default.

    Those of a shuffled task are not sealed yet: they are what the collector finds at the end.
    """
    fingerprint = codec.fingerprint(codec.canonical(codec.document(task)))
    sender = _Sender(fingerprint, version_of(task), asked or task.opening, rng or SystemRng())
    indices = task.plan.domain.indices(values)
    sent: list[bytes] = [b""] * len(indices)
    subjects = _random(len(indices), sender.rng) if "subject" in task.declares else None
    for address, people in sender.asked.assigned(np.arange(len(indices)), sender.rng):
        theirs = None if subjects is None else subjects[people]
        parts = sender.envelopes(address, indices[people], theirs)
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

    def envelopes(self, address: Address, indices: Values, subjects: Bytes | None) -> list[bytes]:
        """Return one envelope for every person who answers at an address."""
        question = self.asked.question(address)
        count = len(indices)
        payloads = np.zeros((count, self.asked.width), np.uint8)
        packed = question.mechanism.pack(question.privatize(indices, self.rng))
        payloads[:, : question.width] = np.frombuffer(packed, np.uint8).reshape(
            count, question.width
        )
        members = np.full(count, address.member)
        slots = np.full(count, address.slot) if self.asked.slots > 1 else None
        public = tuple(getattr(indices, "public", ()))  # what people let everybody see
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
