"""The JavaScript client answers every plan of discovery, and the collector reads what it sends."""

import pytest

import sottovoce as sv
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.engine.memory import batches_of
from sottovoce.tasks.plan import Plan
from sottovoce.wire import codec

USERS = 12
ITEMS = [f"item {place}" for place in range(40)]


def plan(kind, *settings, **more):
    return Plan.kinds[kind](*settings, **more)


def searches():
    """Return every search, and what everybody holds."""
    address, word, basket = 0xC0A80101, "hello, world", ["item 3", "item 39", "nothing listed"]
    return {
        "prefixes": (plan("pem", Bits(48)), address),
        "prefixes of words": (plan("pem", Strings(6)), word),
        "prefixes of long values": (plan("pem", Bits(80), 2), address),
        "items": (plan("svim", ITEMS, 4), basket),
        "few items": (plan("svim", ITEMS, 20), basket),
        "items, classical": (plan("svim", ITEMS, 4, paper=True), basket),
        "itemsets": (plan("svsm", ITEMS, 8), basket),
        "items, adaptive": (plan("dbs", ITEMS, 100_000, 4), basket),
    }


@pytest.fixture(scope="module")
def answers(worker):
    """Return the tasks and the messages of some people, by name."""
    tasks = {name: sv.Task(name, plan, epsilon=2.0) for name, (plan, _) in searches().items()}
    given = {
        name: {"text": codec.canonical(codec.document(tasks[name])), "value": value, "users": USERS}
        for name, (_, value) in searches().items()
    }
    messages = worker.messages("answers", given)
    return {name: (task, messages[name]) for name, task in tasks.items()}


@pytest.mark.parametrize("name", searches())
def test_the_collector_reads_what_the_client_sends(name, answers):
    task, messages = answers[name]
    assert len(messages) == USERS
    batches = batches_of(task, task.opening, messages)
    assert (
        sum(len(batch.reports) for batch in batches.values())
        == sum(map(envelopes, messages))
        >= USERS
    )


def envelopes(message):
    """Return how many envelopes of one length a message has."""
    return len(message) // int.from_bytes(message[4:8], "little")
