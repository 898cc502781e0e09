"""Opening on several cores gives what opening on one gives, and leaves no process behind."""

import multiprocessing
import os
import signal

import pytest

from sottovoce.errors import UnavailableError
from sottovoce.shuffler import opening
from sottovoce.shuffler.opening import LayerKey, Opening, ParallelOpening
from sottovoce.wire.round_keys import new_round_key
from sottovoce.wire.seal import SealContext, seal

CONTEXT = SealContext(b"d" * 32, 0, 0, 20)


@pytest.fixture
def key():
    return new_round_key()


@pytest.fixture
def layer(key):
    return LayerKey(key.private_key, CONTEXT, 0)


@pytest.fixture
def messages(key):
    made = [seal(bytes([n]) * 20, [key.public_key], CONTEXT) for n in range(25)]
    return [*made, b"short", bytes(68)]


def test_a_message_that_does_not_open_is_none(layer, messages):
    assert Opening(layer).open(messages) == [*(bytes([n]) * 20 for n in range(25)), None, None]
    assert layer.private_key.hex() not in repr(layer)


def test_processes_give_the_same_in_the_same_order_and_end_with_the_work(
    layer, messages, monkeypatch
):
    monkeypatch.setattr(opening, "WORTH_PROCESSES", 1)
    with opening.opening(layer, len(messages), 2) as parallel:
        assert isinstance(parallel, ParallelOpening)
        assert parallel.open(messages) == Opening(layer).open(messages)
        assert parallel.open(messages[:1]) == [bytes(20)]
        assert parallel.open([]) == []
        children = multiprocessing.active_children()
        assert len(children) == 2
        os.kill(children[0].pid, signal.SIGKILL)
        children[0].join()
        with pytest.raises(UnavailableError, match="has died"):
            parallel.open(messages)
    assert multiprocessing.active_children() == []


def test_a_small_batch_is_opened_here(layer):
    with opening.opening(layer, 10, 2) as here:
        assert type(here) is Opening
    with opening.opening(layer, 10**9, 1) as here:
        assert type(here) is Opening
