"""The messages that many devices would send, made over arrays."""

from itertools import pairwise
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes, Values
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.envelope import ID_BYTES, Envelopes


def messages(task: Task, values: Any, asked: Round | None = None, rng: Rng | None = None) -> list[bytes]:
    """Return one message per person for a round; ``rng`` is the system's by default."""
    asked, rng = asked or task.opening, rng or SystemRng()
    indices = task.plan.domain.indices(values)
    sent: list[bytes] = [b""] * len(indices)
    digest = codec.digest_bytes(codec.document(task))
    subjects = _random(len(indices), rng) if "subject" in task.declares else None
    for address, people in asked.assigned(np.arange(len(indices)), rng):
        theirs = None if subjects is None else subjects[people]
        parts = _sent(digest, asked, address, indices[people], theirs, rng)
        for person, part in zip(people.tolist(), parts, strict=True):
            sent[person] += part
    return sent


def _sent(
    digest: bytes, asked: Round, address: Address, indices: Values, subjects: Bytes | None, rng: Rng
) -> list[bytes]:
    question, count = asked.question(address), len(indices)
    payloads = np.zeros((count, asked.width), np.uint8)
    packed = question.mechanism.pack(question.privatize(indices, rng))
    payloads[:, : question.width] = np.frombuffer(packed, np.uint8).reshape(count, question.width)
    members, slots = np.full(count, address.member), np.full(count, address.slot) if asked.slots > 1 else None
    public = tuple(getattr(indices, "public", ()))  # what people let everybody see
    envelopes = Envelopes(digest, asked.number, members, _random(count, rng), payloads, subjects, slots, public)
    whole, ends = envelopes.write(), [0, *np.cumsum(envelopes.sizes).tolist()]
    return [whole[start:end] for start, end in pairwise(ends)]


def _random(count: int, rng: Rng) -> Bytes:
    return np.frombuffer(bytes(rng.bytes(ID_BYTES * count)), np.uint8).reshape(count, ID_BYTES)
