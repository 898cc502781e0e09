"""What the tests of methods by pieces share: exact prices of whole asks, planted values, and
collections of them.
"""

import numpy as np

import sottovoce as sv
from collector.people import Clock, text
from collector.sending import send
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.lab import crowd
from sottovoce.lab.checks import FIVE_SIGMA, ScriptedRng
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import hashing
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collection import Collection


def spent(ask, domain):
    """(values, values): the largest log-ratio that all a user may send under two values can have,
    parts listed.

    Parts are randomised independently, so what they reveal adds up; the coin of a choice is public.
    """
    if isinstance(ask, Bundle):
        return sum(spent(part, domain) for part in ask.parts)
    if isinstance(ask, Choice):
        return np.max([spent(member, domain) for member in ask.members], axis=0)
    values = hashing.indices_of(range(domain.size), domain.bits)
    held = ask.encoding(values, ScriptedRng()) if ask.encoding else values
    logs = np.log(ask.mechanism.likelihood(ask.mechanism.outcomes())[:, held])
    return (logs[:, :, None] - logs[:, None, :]).max(axis=0)


def asking(plan, epsilon=4.0, **settings):
    return sv.Task("what is frequent", plan, epsilon=epsilon, **settings)


def planted(domain, shares, users, seed=0):
    """So many people: planted numbers by their shares, everybody else a number of their own."""
    rng = np.random.default_rng(seed)
    held = [value for value, share in shares.items() for _ in range(round(share * users))]
    others = [int.from_bytes(rng.bytes(domain.bits // 8), "big") for _ in range(users - len(held))]
    held += others
    return [held[place] for place in rng.permutation(users)]


def is_found(answer, domain, shares, held):
    """The planted values are the answer, in order, and each count lies within five standard
    errors.
    """
    counts = [held.count(value) for value in shares]
    assert answer.labels == tuple(domain.label(value) for value in shares), answer.labels
    z = (answer.estimate.totals - counts) / answer.estimate.errors
    assert np.abs(z).max() < FIVE_SIGMA, z


def gathered(task, held, seed=1):
    """What messages of these people leave with the collector."""
    messages = crowd.messages(task, held, rng=SeededRng(seed))
    return MemoryCollected(task).after(task.opening, batches_of(task, task.opening, messages))


def envelopes(messages):
    """Every envelope on its own, in an order that has nothing to do with the one they were sent
    in.
    """
    width = min(len(message) for message in messages)
    whole = [
        message[start : start + width]
        for message in messages
        for start in range(0, len(message), width)
    ]
    return [whole[place] for place in np.random.default_rng(5).permutation(len(whole))]


def collected(task, messages, folder):
    """The answer of a collector over a store of its own, with its admission and its sealed
    files.
    """
    with_rules = sv.Task(
        task.name, task.plan, task.epsilon, collection=Collection(minimum=2, grace=0)
    )
    store = SqliteStore(folder / "collector.db")
    try:
        collector = Collector(store, folder, Clock())
        collector.create(text(with_rules), toml=False)
        assert set(send(collector, task.name, messages(with_rules))) == {"accepted"}
        collector.close(task.name, at_once=True)
        collector.advance()
        return collector.answer(task.name)
    finally:
        store.close()
