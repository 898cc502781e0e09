"""Seeded messages of people who let the collector see a part of what they hold."""

import numpy as np

from sottovoce import codec
from sottovoce.envelope import ID_BYTES, Envelopes
from sottovoce.lab.simulate import addresses


def messages(task, values, rng):
    """One message per person, with subject and public part, for the opening round of a task about tables."""
    asked, held = task.opening, task.plan.domain.indices(values)
    sent, digest = [b""] * len(held), codec.digest_bytes(codec.document(task))
    subjects = _random(len(held), rng)
    for address, people in addresses(asked.ask, 0, np.arange(len(held)), rng):
        question, count = asked.question(address), len(people)
        packed = question.mechanism.pack(question.privatize(held[people], rng))
        payloads = np.zeros((count, asked.width), np.uint8)
        payloads[:, : question.width] = np.frombuffer(packed, np.uint8).reshape(count, question.width)
        slots = np.full(count, address.slot) if asked.slots > 1 else None
        public = tuple(held.public[person] for person in people) if held.public else ()
        whole = Envelopes(
            digest, 0, np.full(count, address.member), _random(count, rng), payloads, subjects[people], slots, public
        )
        for place, person in enumerate(people.tolist()):
            sent[person] += whole.take(np.array([place])).write()
    return sent


def _random(count, rng):
    return np.frombuffer(bytes(rng.bytes(ID_BYTES * count)), np.uint8).reshape(count, ID_BYTES)
