"""A task at a hop: its place in the chain, and when it closes a round."""

from dataclasses import replace

import pytest

from shuffler.hops import COLLECTION, USERS, shuffled_task
from sottovoce.errors import MismatchError
from sottovoce.shuffler.added_task import AddedTask, new_task
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec

KEYS = [bytes([number]) * 32 for number in (1, 2)]
HOPS = [("https://mix-a.example.org", KEYS[0]), ("https://mix-b.example.org", KEYS[1])]


def added(key=KEYS[0], **changes):
    document = codec.canonical(codec.document(shuffled_task(HOPS, "A" * 43, **changes)))
    return AddedTask.read(new_task(document, "https://collector.example.org/"), key)


def test_the_key_of_the_hop_says_which_one_it_is():
    first, second = added(), added(KEYS[1], fakes=7)
    assert (first.hop, first.is_first, first.previous_fakes) == (0, True, 0)
    assert (second.hop, second.is_first, second.previous_fakes) == (1, False, 7)
    assert first.collector == "https://collector.example.org"
    assert len(first.address_name) == 43


def test_a_fingerprint_that_does_not_fit_is_refused():
    document = codec.canonical(codec.document(shuffled_task(HOPS, "A" * 43)))
    task = replace(new_task(document, "https://collector.example.org"), fingerprint=b"o" * 32)
    with pytest.raises(MismatchError, match="another fingerprint"):
        AddedTask.read(task, KEYS[0])


def test_a_round_closes_at_its_part_of_the_quota_but_not_below_the_users():
    task = added(collection=replace(COLLECTION, quota=100, seconds=5))
    asked = task.notice.opening
    assert task.closes_at(asked) == 100
    assert task.closes_at(replace(asked, high=1 << 60)) == USERS
    assert task.seconds == 5
    assert added(collection=Collection(minimum=2)).closes_at(asked) == 0
    without = added(collection=None)
    assert (without.closes_at(asked), without.seconds) == (0, 0)


def test_a_round_is_read_and_checked():
    task = added()
    document = codec.canonical(codec.document(task.notice.opening))
    assert task.read_round(document) == task.notice.opening
    assert task.context(task.notice.opening).hops == 2
