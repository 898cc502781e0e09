"""What both stores do: each step once, nothing lost, nothing kept longer than needed."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest

from shuffler.store.rounds import KEY_SET, KEYS, SET_SIGNATURE, TASK, new_round, task
from sottovoce.errors import MismatchError, StateError
from sottovoce.shuffler.store import sql
from sottovoce.shuffler.store.base import (
    BatchState,
    FakeToken,
    IncomingPart,
    MixedBatch,
    PartReceipt,
    SealedOffer,
    TakeVerdict,
    open_hop_store,
)
from sottovoce.wire.round_keys import KeyPair

ACCEPTED, DUPLICATE = TakeVerdict.ACCEPTED, TakeVerdict.DUPLICATE
MESSAGES = [bytes([number]) * 40 for number in range(10)]
BATCH = MixedBatch(b"h" * 32, 12, 1)


def offer(*messages, number=0):
    return SealedOffer(TASK, number, messages)


def state(store, number=0):
    return store.find_round(TASK, number).state


def inbox(store):
    return sorted(message for page in store.inbox(TASK, 0, 3) for message in page)


def mixed(store):
    store.take([offer(*MESSAGES)])
    store.close_inbox(TASK, 0, 1)
    store.note_mixed(TASK, 0, BATCH)
    return store


def test_a_task_and_a_round_are_added_once(store):
    assert store.add_task(task())
    assert not store.add_task(replace(task(), collector="https://other.example.org"))
    assert [found.collector for found in store.tasks()] == ["https://collector.example.org"]
    assert store.open_round(new_round())
    assert not store.open_round(new_round(keys=KeyPair(b"q" * 32, b"Q" * 32)))
    assert store.find_round(TASK, 0).public_key == KEYS.public_key
    assert store.private_key(TASK, 0) == KEYS.private_key
    assert store.find_round(TASK, 1) is None
    assert [record.number for record in store.rounds(TASK)] == [0]


def test_the_first_set_of_keys_that_a_hop_signs_stays(store, url):
    store.add_task(task())
    store.open_round(new_round())
    assert store.find_round(TASK, 0).key_set is None
    store.keep_key_set(TASK, 0, KEY_SET, SET_SIGNATURE)
    store.keep_key_set(TASK, 0, KEY_SET, SET_SIGNATURE)
    for other in ((*KEY_SET, b"D" * 32), KEY_SET[:1], KEY_SET[::-1]):
        with pytest.raises(MismatchError, match="has already signed other keys for this round"):
            store.keep_key_set(TASK, 0, other, b"T" * 64)
    with pytest.raises(MismatchError):
        store.keep_key_set(TASK, 1, KEY_SET, SET_SIGNATURE)
    store.note_set_sent(TASK, 0)
    again = open_hop_store(url)
    record = again.find_round(TASK, 0)
    assert (record.key_set, record.set_signature, record.set_sent) == (
        KEY_SET,
        SET_SIGNATURE,
        True,
    )
    again.close()


@pytest.mark.parametrize("ending", ["abandon", "erase"])
def test_the_signed_set_outlives_its_round_and_its_task(open_round, ending):
    store = open_round
    if ending == "erase":
        mixed(store)
        store.note_delivered(TASK, 0)
        store.erase(TASK, 0)
    else:
        store.abandon(TASK, 0, "no users")
    store.finish_task(TASK)
    with pytest.raises(MismatchError, match="has already signed other keys for this round"):
        store.keep_key_set(TASK, 0, KEY_SET[::-1], b"T" * 64)
    assert store.find_round(TASK, 0).key_set == KEY_SET


def test_of_nodes_that_sign_at_once_one_has_its_set_kept(store, url):
    """Each node has been shown another set; only one signature may ever leave the hop."""
    store.add_task(task())
    store.open_round(new_round())
    start = threading.Barrier(6)
    kept = []

    def sign(number):
        node = open_hop_store(url)
        start.wait()
        with suppress(MismatchError):
            node.keep_key_set(TASK, 0, (KEYS.public_key, bytes([number]) * 32), b"S" * 64)
            kept.append(number)
        node.close()

    nodes = [threading.Thread(target=sign, args=(number,)) for number in range(6)]
    for node in nodes:
        node.start()
    for node in nodes:
        node.join()
    (number,) = kept
    assert store.find_round(TASK, 0).key_set[1] == bytes([number]) * 32


def test_nothing_is_taken_before_the_keys_are_signed(store):
    store.add_task(task())
    store.open_round(new_round())
    assert store.take([offer(MESSAGES[0])]) == [[TakeVerdict.TOO_EARLY]]
    part = IncomingPart(0, 1, hashlib.sha256(MESSAGES[0]).digest(), MESSAGES[0])
    with pytest.raises(StateError, match="not signed its keys yet"):
        store.take_part(TASK, 0, part)
    store.keep_key_set(TASK, 0, KEY_SET, SET_SIGNATURE)
    assert store.take([offer(MESSAGES[0])]) == [[ACCEPTED]]


def test_every_message_is_taken_once(open_round):
    assert open_round.take([offer(*MESSAGES[:3], MESSAGES[0])]) == [[ACCEPTED] * 3 + [DUPLICATE]]
    assert open_round.take([offer(*MESSAGES[2:5])]) == [[DUPLICATE, ACCEPTED, ACCEPTED]]
    record = open_round.find_round(TASK, 0)
    assert (record.messages, record.duplicates) == (5, 2)
    assert inbox(open_round) == MESSAGES[:5]
    assert open_round.count_inbox(TASK, 0) == 5


def test_a_round_that_is_not_known_or_closed_takes_nothing(open_round):
    assert open_round.take([offer(MESSAGES[0], number=1)]) == [[TakeVerdict.TOO_EARLY]]
    open_round.take([offer(MESSAGES[0])])
    assert open_round.close_inbox(TASK, 0, 1)
    verdicts = open_round.take([offer(MESSAGES[0], MESSAGES[1])])
    assert verdicts == [[DUPLICATE, TakeVerdict.TOO_LATE]]
    assert inbox(open_round) == MESSAGES[:1]


def test_an_inbox_closes_once_and_not_below_its_minimum(open_round):
    open_round.take([offer(*MESSAGES[:3])])
    assert not open_round.close_inbox(TASK, 0, 4)
    assert state(open_round) == BatchState.OPEN
    assert open_round.close_inbox(TASK, 0, 3)
    assert not open_round.close_inbox(TASK, 0, 3)


def test_an_inbox_reopens_without_what_did_not_open(open_round):
    open_round.take([offer(*MESSAGES[:3])])
    open_round.close_inbox(TASK, 0, 3)
    assert open_round.reopen(TASK, 0, [hashlib.sha256(MESSAGES[1]).digest()])
    assert inbox(open_round) == [MESSAGES[0], MESSAGES[2]]
    assert open_round.find_round(TASK, 0).messages == 2
    assert not open_round.reopen(TASK, 0, [])


def test_the_states_follow_one_another_and_no_step_is_taken_twice(open_round):
    store = open_round
    assert not store.note_mixed(TASK, 0, BATCH)
    store.take([offer(*MESSAGES)])
    store.close_inbox(TASK, 0, 1)
    assert not store.note_delivered(TASK, 0)
    assert store.note_mixed(TASK, 0, BATCH)
    assert not store.note_mixed(TASK, 0, replace(BATCH, hash=b"i" * 32))
    assert store.find_round(TASK, 0).batch_hash == BATCH.hash
    assert not store.erase(TASK, 0)
    assert store.note_delivered(TASK, 0)
    assert not store.abandon(TASK, 0, "too late")
    assert store.erase(TASK, 0)
    assert not store.erase(TASK, 0)
    record = store.find_round(TASK, 0)
    assert (record.batch_messages, record.dropped, record.messages) == (12, 1, 10)


@pytest.mark.parametrize("at_once", [3, len(MESSAGES), 10_000])
def test_erasing_leaves_only_the_beginnings_of_hashes(open_round, monkeypatch, at_once):
    monkeypatch.setattr(sql, "ERASED_AT_ONCE", at_once)
    store = mixed(open_round)
    store.keep_fake_tokens(TASK, 0, [FakeToken(b"pending", b"token")])
    store.note_delivered(TASK, 0)
    store.erase(TASK, 0)
    assert inbox(store) == []
    assert store.private_key(TASK, 0) is None
    assert store.fake_tokens(TASK, 0) == []
    late = store.take([offer(*MESSAGES, b"x" * 40)])
    assert late == [[DUPLICATE] * len(MESSAGES) + [TakeVerdict.TOO_LATE]]
    assert store.finish_task(TASK)
    assert store.tasks()[0].finished
    assert store.take([offer(MESSAGES[0])]) == [[TakeVerdict.TOO_LATE]]


def test_a_task_does_not_end_before_its_rounds(open_round):
    assert not open_round.finish_task(TASK)
    open_round.abandon(TASK, 0, "no users")
    assert open_round.finish_task(TASK)


@pytest.mark.parametrize("before", ["open", "closing", "mixed"])
def test_an_abandoned_round_keeps_nothing(open_round, before):
    store = open_round
    store.take([offer(*MESSAGES)])
    if before != "open":
        store.close_inbox(TASK, 0, 1)
    if before == "mixed":
        store.note_mixed(TASK, 0, BATCH)
    assert store.abandon(TASK, 0, "why")
    record = store.find_round(TASK, 0)
    assert (record.state, record.trouble) == (BatchState.ABANDONED, "why")
    assert inbox(store) == []
    assert store.private_key(TASK, 0) is None


def parts_of(messages, in_part=3):
    data = [b"".join(messages[i : i + in_part]) for i in range(0, len(messages), in_part)]
    batch_hash = hashlib.sha256(b"".join(data)).digest()
    return [IncomingPart(n, len(data), batch_hash, piece) for n, piece in enumerate(data)]


def test_parts_are_kept_once_and_complete_a_batch(open_round):
    parts = parts_of([*MESSAGES, MESSAGES[0]])
    assert open_round.take_part(TASK, 0, parts[1]) == PartReceipt(1, 4, complete=False)
    assert open_round.take_part(TASK, 0, parts[1]) == PartReceipt(1, 4, complete=False)
    for part in parts[2:]:
        open_round.take_part(TASK, 0, part)
    assert state(open_round) == BatchState.OPEN
    assert open_round.take_part(TASK, 0, parts[0]) == PartReceipt(4, 4, complete=True)
    assert state(open_round) == BatchState.CLOSING
    open_round.absorb_parts(TASK, 0, 40)
    open_round.absorb_parts(TASK, 0, 40)
    assert inbox(open_round) == MESSAGES
    record = open_round.find_round(TASK, 0)
    assert (record.messages, record.duplicates) == (10, 1)
    assert open_round.take_part(TASK, 0, parts[3]).complete


def test_parts_that_contradict_each_other_are_refused(open_round):
    parts, others = parts_of(MESSAGES), parts_of(MESSAGES[::-1])
    open_round.take_part(TASK, 0, parts[0])
    with pytest.raises(MismatchError, match="another batch"):
        open_round.take_part(TASK, 0, others[1])
    with pytest.raises(MismatchError, match="same number"):
        open_round.take_part(TASK, 0, replace(parts[0], messages=MESSAGES[9]))
    with pytest.raises(StateError, match="not learned"):
        open_round.take_part(TASK, 1, parts[0])


def test_parts_with_a_wrong_hash_are_erased_and_can_be_sent_again(open_round):
    parts = parts_of(MESSAGES)
    wrong = [replace(part, batch_hash=b"w" * 32) for part in parts]
    for part in wrong[:-1]:
        open_round.take_part(TASK, 0, part)
    with pytest.raises(MismatchError, match="hash"):
        open_round.take_part(TASK, 0, wrong[-1])
    for part in parts:
        receipt = open_round.take_part(TASK, 0, part)
    assert receipt.complete


def test_tokens_are_completed_and_never_doubled(open_round):
    open_round.keep_fake_tokens(TASK, 0, [FakeToken(b"b"), FakeToken(b"a")])
    open_round.keep_fake_tokens(TASK, 0, [FakeToken(b"a", b"signed")])
    assert open_round.fake_tokens(TASK, 0) == [FakeToken(b"a", b"signed"), FakeToken(b"b")]


def test_trouble_and_sent_keys_are_noted(open_round):
    open_round.note_trouble(TASK, 0, "why")
    open_round.note_key_sent(TASK, 0)
    record = open_round.find_round(TASK, 0)
    assert (record.trouble, record.key_sent) == ("why", True)
    open_round.check()


def test_what_was_taken_is_there_after_opening_again(url, open_round):
    mixed(open_round)
    again = open_hop_store(url)
    assert inbox(again) == MESSAGES
    assert state(again) == BatchState.MIXED
    again.close()


def test_nodes_that_take_at_once_count_every_message_once(url, open_round):
    nodes = [open_round, open_hop_store(url), open_hop_store(url)]
    pairs = [(node, [message]) for message in MESSAGES for node in nodes]
    with ThreadPoolExecutor(6) as pool:
        verdicts = list(pool.map(lambda pair: pair[0].take([offer(*pair[1])])[0][0], pairs))
    for node in nodes[1:]:
        node.close()
    assert verdicts.count(ACCEPTED) == len(MESSAGES)
    assert open_round.find_round(TASK, 0).messages == len(MESSAGES)


def test_one_node_at_a_time_has_a_lease(url, store):
    other = open_hop_store(url)
    with store.lease("work") as mine, other.lease("work") as theirs:
        assert mine
        assert not theirs
    with other.lease("work") as theirs:
        assert theirs
    other.close()
