"""One hop: when a batch closes, what leaves it, and what is left of it."""

import hashlib
import os
from collections import Counter
from dataclasses import replace

import pytest

from shuffler.hops import (
    USERS,
    Clock,
    inner_messages,
    one_hop,
    open_hop,
    people,
    sealed_by_devices,
    shuffled_task,
)
from shuffler.receiver import Receiver
from sottovoce.errors import MismatchError, ParameterError, StateError
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.shuffler.store.base import BatchState, IncomingPart, SealedOffer, TakeVerdict
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyStatement, new_round_key, new_signing_key
from sottovoce.wire.seal import LayerOpener, seal
from sottovoce.wire.shuffled_message import seal_context

URL = "https://mix-a.example.org"


def take(hop, receiver, sealed, number=0):
    return hop.store.take([SealedOffer(receiver.notice.fingerprint, number, sealed)])[0]


def record(hop, receiver, number=0):
    return hop.store.find_round(receiver.notice.fingerprint, number)


def task_of(hop):
    return hop.tasks()[0]


def test_a_batch_arrives_whole_and_is_erased(hop, receiver):
    inner, sealed = people(receiver, USERS)
    take(hop, receiver, sealed)
    hop.advance()
    assert Counter(receiver.opened()) == Counter(inner)
    assert record(hop, receiver).state == BatchState.ERASED
    assert not list(hop.settings.data.rglob("*.batch"))


def test_a_batch_below_its_users_never_leaves(hop, receiver):
    _, sealed = people(receiver, USERS - 1)
    take(hop, receiver, sealed)
    hop.clock.now += 10**9
    hop.advance()
    assert record(hop, receiver).state == BatchState.OPEN
    with pytest.raises(StateError, match="fewer messages"):
        hop.release(task_of(hop), 0)
    assert not receiver.sent


def test_messages_that_do_not_open_do_not_count_as_users(hop, receiver):
    inner, sealed = people(receiver, USERS)
    take(hop, receiver, [*sealed[:-1], os.urandom(len(sealed[0])), os.urandom(len(sealed[0]))])
    hop.advance()
    assert record(hop, receiver).state == BatchState.OPEN
    assert record(hop, receiver).messages == USERS - 1
    assert not receiver.sent
    take(hop, receiver, sealed[-1:])
    hop.advance()
    assert Counter(receiver.opened()) == Counter(inner)


def test_a_round_closes_after_its_seconds_once_the_users_are_in(tmp_path):
    collection = Collection(seconds=3600, minimum=2)
    with one_hop(tmp_path, collection=collection) as (hop, receiver):
        take(hop, receiver, people(receiver, USERS)[1])
        hop.clock.now += 3500
        hop.advance()
        assert record(hop, receiver).state == BatchState.OPEN
        hop.clock.now += 100
        hop.advance()
        assert record(hop, receiver).state == BatchState.ERASED


def test_a_quota_below_the_users_waits_for_the_users(tmp_path):
    with one_hop(tmp_path, collection=Collection(quota=2, minimum=2)) as (hop, receiver):
        _, sealed = people(receiver, USERS)
        take(hop, receiver, sealed[:3])
        hop.advance()
        assert record(hop, receiver).state == BatchState.OPEN
        take(hop, receiver, sealed[3:])
        hop.advance()
        assert record(hop, receiver).state == BatchState.ERASED


def test_an_operator_releases_a_round_that_has_its_users(tmp_path):
    with one_hop(tmp_path, collection=None) as (hop, receiver):
        take(hop, receiver, people(receiver, USERS)[1])
        hop.clock.now += 10**9
        hop.advance()
        assert record(hop, receiver).state == BatchState.OPEN
        hop.release(task_of(hop), 0)
        hop.advance()
        assert len(receiver.opened()) == USERS


def test_an_operator_abandons_a_round(hop, receiver):
    take(hop, receiver, people(receiver, USERS)[1])
    hop.abandon(task_of(hop), 0)
    hop.advance()
    assert record(hop, receiver).state == BatchState.ABANDONED
    assert hop.store.count_inbox(receiver.notice.fingerprint, 0) == 0
    assert not receiver.sent
    with pytest.raises(StateError, match="does not exist"):
        hop.abandon(task_of(hop), 0)


@pytest.mark.parametrize("issuer", [False, True])
def test_exactly_the_promised_fakes_are_added(tmp_path, issuer):
    with one_hop(tmp_path, fakes=5, issuer=issuer) as (hop, receiver):
        inner, sealed = people(receiver, USERS)
        take(hop, receiver, sealed)
        hop.advance()
        opened = Counter(receiver.opened())
        assert not Counter(inner) - opened
        assert opened.total() == USERS + 5
        assert len(receiver.signed_blinded) == 5 * issuer


def test_a_message_for_another_round_hop_task_or_key_is_dropped(hop, receiver):
    inner, sealed = people(receiver, USERS)
    context = seal_context(receiver.task, receiver.rounds[0], receiver.notice.fingerprint)
    keys = receiver.round_keys()
    others = [
        seal(inner[0], keys, replace(context, round=1)),
        seal(inner[0], keys, replace(context, digest=b"o" * 32)),
        seal(inner[0], [new_round_key().public_key, keys[1]], context),
        seal(seal(inner[0], keys[1:], context, 1), keys[:1], _of_next_hop(context)),
    ]
    take(hop, receiver, [*sealed, *others])
    hop.advance()
    assert Counter(receiver.opened()) == Counter(inner)
    assert record(hop, receiver).dropped == len(others)


def _of_next_hop(context):
    """A context in which the layer of the first hop is sealed as if it were the second's."""

    class Shifted(type(context)):
        def info(self, hop):
            return super().info(hop)[:-1] + b"\1"

    return Shifted(context.digest, context.round, 0, context.message_bytes + 48)


def test_the_key_of_a_finished_round_cannot_open_a_recorded_message(hop, receiver):
    _, sealed = people(receiver, USERS)
    take(hop, receiver, sealed)
    fingerprint = receiver.notice.fingerprint
    private_key = hop.store.private_key(fingerprint, 0)
    context = seal_context(receiver.task, receiver.rounds[0], fingerprint)
    LayerOpener(private_key, context, 0).open(sealed[0])  # whoever has the key can open it
    hop.advance()
    assert hop.store.private_key(fingerprint, 0) is None
    left = b"".join(path.read_bytes() for path in hop.settings.data.iterdir() if path.is_file())
    assert private_key not in left


def test_a_delivery_that_fails_waits_longer_each_time_and_sends_the_same_order(hop, receiver):
    inner, sealed = people(receiver, USERS)
    take(hop, receiver, sealed)
    receiver.failing = 2
    hop.settings = replace(hop.settings, poll_seconds=1e9)
    hop.advance()
    assert record(hop, receiver).state == BatchState.MIXED
    assert record(hop, receiver).trouble
    attempts = len(receiver.requests)
    hop.advance()
    assert len(receiver.requests) == attempts  # not due yet
    hop.clock.now += 1.1
    hop.advance()
    hop.clock.now += 1.1
    hop.advance()
    assert len(receiver.requests) == attempts + 1  # the second wait is longer
    hop.clock.now += 1.0
    hop.advance()
    assert record(hop, receiver).state == BatchState.ERASED
    assert record(hop, receiver).trouble == ""
    assert Counter(receiver.opened()) == Counter(inner)
    assert len(receiver.batch_hashes()) == 1


def test_a_changed_batch_file_is_not_sent(hop, receiver):
    take(hop, receiver, people(receiver, USERS)[1])
    receiver.failing = 1
    hop.settings = replace(hop.settings, poll_seconds=1e9)
    hop.advance()
    [path] = hop.settings.data.rglob("*.batch")
    path.write_bytes(path.read_bytes()[::-1])
    hop.clock.now += 100
    hop.advance()
    assert "abandon the round" in record(hop, receiver).trouble
    assert not receiver.sent


def test_a_round_key_is_made_once_signed_and_pushed(hop, receiver):
    public_key, _ = receiver.keys[0][0]
    assert record(hop, receiver).public_key == public_key
    assert record(hop, receiver).key_sent
    hop.advance()
    assert record(hop, receiver).public_key == public_key
    assert [path for method, path in receiver.requests if method == "PUT"] == [
        "/v1/tasks/count/rounds/0/keys/0",
        "/v1/tasks/count/rounds/0/key-set/0",
    ]


def shown_another_key(receiver, number=0):
    """The collector shows another key of its own, properly signed."""
    keys = new_round_key()
    hop = len(receiver.task.shuffle.hops)
    statement = KeyStatement(receiver.notice.fingerprint, number, hop, keys.public_key)
    signature = statement.sign(receiver.signing.private_key)
    receiver.keys[number][hop] = (keys.public_key, signature)
    return keys


def test_a_hop_signs_all_keys_of_a_round_once(hop, receiver):
    (signature,) = receiver.set_signatures[0, 0]
    kept = record(hop, receiver)
    assert kept.key_set == tuple(receiver.public_keys())
    assert (kept.set_signature, kept.set_sent) == (signature, True)
    key_set = KeySet.of(receiver.notice.fingerprint, receiver.task.opening, kept.key_set)
    key_set.verify(0, signature, hop.signing.public_key)
    shown_another_key(receiver)
    hop.advance()
    assert receiver.set_signatures[0, 0] == {signature}
    assert record(hop, receiver).key_set == kept.key_set


def test_a_hop_that_dies_before_its_signature_arrives_never_signs_other_keys(tmp_path):
    """The collector waits for the death, and then shows the hop a second set."""
    receiver, clock = Receiver(), Clock()
    hop = open_hop(tmp_path, clock)
    receiver.publish(shuffled_task([(URL, hop.signing.public_key)], receiver.key))
    hop.add(receiver.document, receiver.url)
    before = receiver.put_set_signature
    receiver.put_set_signature = lambda *place: (503, {"code": "unavailable"})
    hop.advance()
    first = record(hop, receiver)
    assert first.set_signature is not None
    assert not first.set_sent
    hop.store.close()
    shown_another_key(receiver)
    receiver.put_set_signature = before
    again = open_hop(tmp_path, clock)
    clock.now += 100
    again.advance()
    second = record(again, receiver)
    assert (second.key_set, second.set_signature) == (first.key_set, first.set_signature)
    assert not receiver.set_signatures[0, 0]  # the signature is none on what is shown now
    assert "conflict" in second.trouble
    again.store.close()
    receiver.close()


def test_keys_that_are_not_signed_by_their_owners_are_not_signed_as_a_set(tmp_path):
    receiver, clock = Receiver(), Clock()
    hop = open_hop(tmp_path, clock)
    receiver.publish(shuffled_task([(URL, hop.signing.public_key)], receiver.key))
    hop.add(receiver.document, receiver.url)
    proper = receiver.keys[0][1]
    receiver.keys[0][1] = (new_round_key().public_key, proper[1])
    hop.advance()
    assert record(hop, receiver).key_set is None
    assert "not signed" in record(hop, receiver).trouble
    receiver.keys[0][1] = proper
    clock.now += 100
    hop.advance()
    assert record(hop, receiver).key_set == tuple(receiver.public_keys())
    hop.store.close()
    receiver.close()


def test_another_key_in_the_place_of_this_hop_is_not_signed(tmp_path):
    """Whoever has copied the long-term key may sign a round key, but not make this hop join in."""
    receiver, clock = Receiver(), Clock()
    hop = open_hop(tmp_path, clock)
    receiver.publish(shuffled_task([(URL, hop.signing.public_key)], receiver.key))
    hop.add(receiver.document, receiver.url)
    stolen = new_round_key().public_key
    statement = KeyStatement(receiver.notice.fingerprint, 0, 0, stolen)
    receiver.put_key = lambda number, place, body: (200, {})
    receiver.keys[0][0] = (stolen, statement.sign(hop.signing.private_key))
    hop.advance()
    assert record(hop, receiver).key_set is None
    assert "a key of this hop that the hop did not make" in record(hop, receiver).trouble
    hop.store.close()
    receiver.close()


def test_a_round_waits_until_all_keys_are_there(tmp_path):
    receiver, clock = Receiver(), Clock()
    hop = open_hop(tmp_path, clock)
    other = new_signing_key()
    hops = [(URL, hop.signing.public_key), ("https://mix-b.example.org", other.public_key)]
    receiver.publish(shuffled_task(hops, receiver.key))
    hop.add(receiver.document, receiver.url)
    hop.advance()
    assert record(hop, receiver).trouble == "not all keys of this round are there yet"
    assert take(hop, receiver, [b"m" * 300]) == [TakeVerdict.TOO_EARLY]
    receiver.play_hop(1, other)
    hop.advance()
    assert record(hop, receiver).set_sent
    assert record(hop, receiver).trouble == ""
    hop.store.close()
    receiver.close()


def test_fakes_are_sealed_for_the_keys_that_were_signed(tmp_path):
    """Not for those that the collector shows when the batch is mixed."""
    with one_hop(tmp_path, fakes=3) as (hop, receiver):
        take(hop, receiver, people(receiver, USERS)[1])
        shown_another_key(receiver)
        hop.advance()
        assert len(receiver.opened()) == USERS + 3


def test_a_round_that_the_document_does_not_allow_is_not_opened(hop, receiver):
    receiver.ask(replace(receiver.task.opening, number=1))
    hop.advance()
    assert record(hop, receiver, 1) is None
    with pytest.raises(MismatchError, match="opening round only"):
        hop.learn(task_of(hop))


def test_another_task_of_the_name_is_not_followed(hop, receiver):
    receiver.notice = replace(receiver.notice, digest="A" * 22)
    with pytest.raises(MismatchError, match="another task"):
        hop.learn(task_of(hop))


def test_a_task_ends_when_the_collector_has_finished(hop, receiver):
    _, sealed = people(receiver, USERS)
    take(hop, receiver, sealed)
    hop.advance()
    receiver.state = "finished"
    hop.clock.now += 10
    hop.advance()
    assert hop.store.tasks()[0].finished
    assert take(hop, receiver, sealed[:1]) == ["too-late"]


def test_only_tasks_that_name_the_key_of_the_hop_are_added(hop, receiver):
    other = shuffled_task([("https://mix.example.org", b"k" * 32)], receiver.key)
    with pytest.raises(MismatchError, match="names other hops"):
        hop.add(codec.canonical(codec.document(other)), receiver.url)
    plain = Task("plain", Histogram(["a", "b"]), 1.0)
    with pytest.raises(ParameterError, match="not shuffled"):
        hop.add(codec.canonical(codec.document(plain)), receiver.url)
    with pytest.raises(ParameterError, match="https"):
        hop.add(receiver.document, "http://collector.example.org")
    assert hop.add(receiver.document, receiver.url)[1] is False


def second_hop(tmp_path, receiver, clock, **changes):
    """A second hop, and the key of the first one, which the test plays."""
    hop = open_hop(tmp_path / "second", clock)
    first = open_hop(tmp_path / "first", clock)
    first.store.close()
    hops = [
        ("https://mix-a.example.org", first.signing.public_key),
        ("https://mix-b.example.org", hop.signing.public_key),
    ]
    receiver.publish(shuffled_task(hops, receiver.key, **changes))
    keys = receiver.play_hop(0, first.signing)
    hop.add(receiver.document, receiver.url)
    hop.advance()
    receiver.sign_set(0, first.signing)
    return hop, keys


@pytest.fixture
def second(tmp_path, hop_and_receiver):
    hop_of_first, receiver = hop_and_receiver
    receiver.keys.clear()
    receiver.rounds.clear()
    hop, keys = second_hop(tmp_path, receiver, hop_of_first.clock)
    yield hop, keys, receiver
    hop.store.close()


def batch_of_first(keys, receiver, inner):
    """What the first hop would deliver: messages without its layer."""
    context = seal_context(receiver.task, receiver.rounds[0], receiver.notice.fingerprint)
    opener = LayerOpener(keys.private_key, context, 0)
    return [opener.open(message) for message in sealed_by_devices(receiver, inner)]


def hand_over(hop, receiver, messages):
    data = b"".join(messages)
    part = IncomingPart(0, 1, hashlib.sha256(data).digest(), data)
    return hop.store.take_part(receiver.notice.fingerprint, 0, part)


def test_a_second_hop_mixes_what_the_first_delivers(second):
    hop, keys, receiver = second
    inner = inner_messages(receiver.task, receiver.notice.fingerprint, USERS)
    messages = batch_of_first(keys, receiver, inner)
    assert hand_over(hop, receiver, [*messages, messages[0]]).complete
    hop.advance()
    assert Counter(receiver.opened()) == Counter(inner)
    assert record(hop, receiver).duplicates == 1
    assert record(hop, receiver).state == BatchState.ERASED


def test_a_second_hop_does_not_let_a_batch_below_the_users_pass(second):
    hop, keys, receiver = second
    inner = inner_messages(receiver.task, receiver.notice.fingerprint, USERS - 1)
    messages = batch_of_first(keys, receiver, inner)
    hand_over(hop, receiver, [*messages, messages[0], os.urandom(len(messages[0]))])
    hop.advance()
    assert record(hop, receiver).state == BatchState.ABANDONED
    assert "too few" in record(hop, receiver).trouble
    assert not receiver.sent


def test_only_the_first_hop_is_released(second):
    hop, _, _ = second
    with pytest.raises(StateError, match="first hop"):
        hop.release(task_of(hop), 0)
