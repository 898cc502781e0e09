"""The status of a shuffled round, from its first key to its opened batch."""

import pytest

from collector.people import counting, text
from collector.shuffled import Chain, shuffled_for
from sottovoce.collector import batches, canaries
from sottovoce.collector.shuffle_status import line_of


@pytest.fixture
def chain():
    return Chain.of(1)


def line(collector, name):
    published = collector.find(name)
    return line_of(collector.store, published, published.last)


def test_a_round_is_followed_from_keys_to_canaries(collector, chain):
    task = shuffled_for(collector, chain)
    collector.create(text(task), toml=False)
    first = line(collector, task.name)
    assert (first.keys, first.layers, first.parts, first.complete) == (1, 2, 0, False)
    chain.push(collector, task)
    assert line(collector, task.name).keys == 2
    outbox = []
    published = collector.find(task.name)
    canaries.top_up(collector.store, collector.folder, published, 2)
    canaries.send_unsent(collector.store, published, outbox.append)
    assert line(collector, task.name).canaries == 2
    parts = chain.batch(collector, task, [1, 2, 3, 4])
    batches.receive(collector.store, published, (0, 1), parts[1])
    halfway = line(collector, task.name)
    assert (halfway.received, halfway.parts, halfway.complete) == (1, 2, False)
    assert (halfway.central, halfway.against_users, halfway.local) == (1.0, 1.0, 1.0)
    batches.receive(collector.store, published, (0, 0), parts[0])
    assert line(collector, task.name).complete
    collector.advance()
    opened = line(collector, task.name)
    assert (opened.messages, opened.unopened, opened.duplicates) == (4, 0, 0)
    assert (opened.canaries, opened.canaries_found) == (2, 0)
    assert 0 < opened.central <= 1.0


def test_a_task_that_is_not_shuffled_has_no_such_status(collector):
    collector.create(text(counting()), toml=False)
    assert line(collector, "count") is None
