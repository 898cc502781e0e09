"""Random answers: as a device makes them, with a new id each, for a value that nobody holds."""

from collections import Counter

import numpy as np
import pytest

from collector.people import ASKS, Once
from collector.shuffled import shuffled
from sottovoce.client.random_answer import random_envelopes
from sottovoce.core import coin
from sottovoce.domains.integers import Integers
from sottovoce.engine.memory import batches_of
from sottovoce.wire import codec, envelope

COINS = bytes(range(16))


@pytest.mark.parametrize("kind", ["grr", "olh", "choice", "bundle", "bundle of choices"])
def test_they_are_messages_that_an_engine_reads(kind):
    task = shuffled(plan=Once(Integers(0, 15), ASKS[kind]))
    notice = codec.publish(task)
    messages = [random_envelopes(notice, task.opening, COINS) for _ in range(5)]
    (headers,) = {tuple(map(repr, _headers(message))) for message in messages}
    assert len(headers) == len(task.opening.addresses(_choice_coin))
    batches = batches_of(task, task.opening, messages)
    assert set(batches) == set(task.opening.addresses(_choice_coin)), "as the coins deal"
    assert all(len(batch.reports) == 5 for batch in batches.values()), "each has ids of its own"


def _headers(message):
    group = envelope.read([message], _width(message))[0]
    return [group.flags] * len(group)


def _width(message):
    version = envelope.VERSION_2
    first = envelope.header(message)
    return first.length - version.field_bytes(first.flags)


def _choice_coin(slot):
    return coin.choice_coin(COINS, 0, slot)


def test_the_value_is_drawn_evenly():
    """GRR keeps a value with e / (e + 15); a uniform value gives uniform reports, 5 sigma."""
    task = shuffled(plan=Once(Integers(0, 15), ASKS["grr"]))
    notice = codec.publish(task)
    messages = [random_envelopes(notice, task.opening, COINS) for _ in range(1_600)]
    (batch,) = batches_of(task, task.opening, messages).values()
    counts = Counter(np.asarray(batch.reports).tolist())
    deviation = (1_600 * (1 / 16) * (15 / 16)) ** 0.5
    assert all(abs(counts[value] - 100) < 5 * deviation for value in range(16)), counts
