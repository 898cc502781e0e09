"""Messages of a whole crowd at once: what so many devices would send, made over arrays."""

from typing import Any

import numpy as np

from sottovoce import codec
from sottovoce.arrays import Ints, Values
from sottovoce.envelope import ID_BYTES, Envelopes
from sottovoce.errors import ParameterError
from sottovoce.lab.simulate import addresses
from sottovoce.rng import Rng, SystemRng
from sottovoce.task import Address, Round, Task


def messages(task: Task, values: Any, asked: Round | None = None, rng: Rng | None = None) -> list[bytes]:
    """Return one message per person for a round without bundles; the operating system's randomness by default."""
    asked, rng = asked or task.opening, rng or SystemRng()
    if asked.slots > 1:
        raise ParameterError("a crowd answers one question each")
    held = task.plan.domain.indices(values)
    sent: list[bytes] = [b""] * len(held)
    for address, people in addresses(asked.ask, asked.number, np.arange(len(held)), rng):
        for person, message in zip(people.tolist(), _sent(task, asked, address, held[people], rng), strict=True):
            sent[person] = message
    return sent


def _sent(task: Task, asked: Round, address: Address, held: Values, rng: Rng) -> list[bytes]:
    question, count = asked.question(address), len(held)
    payloads = np.zeros((count, asked.width), np.uint8)
    packed = question.mechanism.pack(question.privatize(held, rng))
    payloads[:, : question.width] = np.frombuffer(packed, np.uint8).reshape(count, question.width)
    ids = np.frombuffer(bytes(rng.bytes(ID_BYTES * count)), np.uint8).reshape(count, ID_BYTES)
    digest = codec.digest_bytes(codec.document(task))
    members: Ints = np.full(count, address.member)
    whole = Envelopes(digest, asked.number, members, ids, payloads).write()
    width = len(whole) // count
    return [whole[start : start + width] for start in range(0, len(whole), width)]
