"""Sealing: only for keys that all hops of the document have signed, one by one and as a set."""

from dataclasses import replace

import pytest

import sottovoce as sv
from client.shuffling import PLAN, Chain, blind_collection
from client.values import Untouchable
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.sealing import Sealing
from sottovoce.errors import MismatchError, ParameterError, SottovoceError
from sottovoce.tasks.round import Round
from sottovoce.wire import codec
from sottovoce.wire.envelope import VERSION_2
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyStatement, SignedKey, new_round_key
from sottovoce.wire.tokens import TOKEN_BYTES

CHAIN = Chain(("https://mix-a.example.org", "https://mix-b.example.org"))
TASK = CHAIN.task()
NOTICE = codec.publish(TASK)
ASKED = NOTICE.opening
GIVEN = CHAIN.given(NOTICE)


def test_the_collector_finds_envelopes_of_version_two_under_the_last_layer():
    sealing = CHAIN.sealing(TASK)
    message = Client(TASK, ":memory:").answer("7", sealing=sealing)
    assert len(message) == sealing.sealed_bytes
    token, envelopes = CHAIN.open(message, TASK)
    assert token == b""
    assert envelopes[0] == 2
    assert NOTICE.fingerprint in envelopes
    assert len(envelopes) == VERSION_2.header_bytes + ASKED.width


def test_the_ledger_keeps_the_sealed_bytes_and_repeats_them(tmp_path):
    with DiskLedger(tmp_path / "ledger") as ledger:
        client = Client(TASK, ledger)
        message = client.answer("7", sealing=CHAIN.sealing(TASK))
        assert client.resend() == ledger.message(NOTICE.digest) == message
    _, envelopes = CHAIN.open(message, TASK)
    with DiskLedger(tmp_path / "ledger") as ledger:
        assert Client(TASK, ledger).resend() == message
    assert envelopes[-ASKED.width - 16 :] not in (tmp_path / "ledger").read_bytes()


def test_without_keys_nothing_is_answered():
    client = Client(TASK, ":memory:")
    with pytest.raises(ParameterError, match="`sealing` is missing"):
        client.answer(Untouchable())
    assert client.ledger.entries() == []


def other_hop(keys):
    return (replace(keys[1], hop=0), replace(keys[0], hop=1), keys[2])


def signed_by_another(keys):
    stranger = Chain(CHAIN.urls)
    statement = KeyStatement(NOTICE.fingerprint, 0, 0, keys[0].public_key)
    return (
        replace(keys[0], signature=statement.sign(stranger.signing_keys[0].private_key)),
        *keys[1:],
    )


def of_the_collector_alone(keys):
    """Every key is signed by the collector, which would like to be every hop."""
    own = CHAIN.signing_keys[-1].private_key
    return tuple(
        replace(
            key, signature=KeyStatement(NOTICE.fingerprint, 0, key.hop, key.public_key).sign(own)
        )
        for key in keys
    )


def changed(keys):
    return (
        replace(keys[0], public_key=bytes([keys[0].public_key[0] ^ 1]) + keys[0].public_key[1:]),
        *keys[1:],
    )


def low_order(keys):
    """The hop itself signs a key for which every shared secret is zero."""
    zero = bytes(32)
    statement = KeyStatement(NOTICE.fingerprint, 0, 0, zero)
    return (replace(keys[0], public_key=zero, signature=statement.sign(hop_key())), *keys[1:])


def hop_key():
    return CHAIN.signing_keys[0].private_key


WRONG = {
    "another hop": other_hop,
    "another round": lambda keys: CHAIN.signed(NOTICE.fingerprint, 1),
    "another task": lambda keys: CHAIN.signed(bytes(32), 0),
    "another signer": signed_by_another,
    "the collector's alone": of_the_collector_alone,
    "a changed key": changed,
    "a key that hides nothing": low_order,
    "one too few": lambda keys: keys[1:],
    "one too many": lambda keys: (*keys, keys[0]),
    "none": lambda keys: (),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_keys_are_refused_before_there_is_a_value(wrong):
    with pytest.raises(SottovoceError):
        Sealing(NOTICE, ASKED, replace(GIVEN, keys=WRONG[wrong](GIVEN.keys)))
    assert Sealing(NOTICE, ASKED, GIVEN).sealed_bytes > 0


def own_key_of_the_collector():
    """A key that the collector has made for this device alone; everything else is right."""
    pair = new_round_key()
    statement = KeyStatement(NOTICE.fingerprint, 0, 2, pair.public_key)
    key = SignedKey(2, pair.public_key, statement.sign(CHAIN.signing_keys[2].private_key))
    return replace(GIVEN, keys=(*GIVEN.keys[:2], key))


def signed_by_one_hop_only():
    """The dishonest hop signs the collector's other key; the honest one does not."""
    given = own_key_of_the_collector()
    public_keys = [key.public_key for key in given.keys]
    key_set = KeySet.of(NOTICE.fingerprint, ASKED, public_keys)
    signature = key_set.sign(1, CHAIN.signing_keys[1].private_key)
    return replace(given, set_signatures=(given.set_signatures[0], signature))


def one_hop_signs_for_both():
    public_keys = [key.public_key for key in GIVEN.keys]
    key_set = KeySet.of(NOTICE.fingerprint, ASKED, public_keys)
    stolen = key_set.sign(0, CHAIN.signing_keys[1].private_key)
    return replace(GIVEN, set_signatures=(stolen, GIVEN.set_signatures[1]))


def another_question():
    """The hops have signed another round of the same number."""
    other = replace(ASKED, high=ASKED.high // 2)
    signatures = CHAIN.set_signatures(NOTICE.fingerprint, other)
    return replace(GIVEN, set_signatures=signatures)


def signatures_of_round_one():
    later = CHAIN.given(NOTICE, Round(1, ASKED.ask))
    return replace(GIVEN, set_signatures=later.set_signatures)


WRONG_SETS = {
    "a key of the collector for this device": own_key_of_the_collector,
    "signed by the dishonest hop only": signed_by_one_hop_only,
    "one hop in the name of both": one_hop_signs_for_both,
    "another question": another_question,
    "of another round": signatures_of_round_one,
    "of one hop": lambda: replace(GIVEN, set_signatures=GIVEN.set_signatures[:1]),
    "of nobody": lambda: replace(GIVEN, set_signatures=()),
    "in another order": lambda: replace(GIVEN, set_signatures=GIVEN.set_signatures[::-1]),
    "key by key": lambda: replace(
        GIVEN, set_signatures=tuple(key.signature for key in GIVEN.keys[:2])
    ),
}


@pytest.mark.parametrize("wrong", WRONG_SETS)
def test_a_set_that_not_every_hop_has_signed_is_refused(wrong):
    with pytest.raises(SottovoceError):
        Sealing(NOTICE, ASKED, WRONG_SETS[wrong]())


def test_keys_of_another_task_or_round_seal_nothing():
    client = Client(TASK, ":memory:")
    other = CHAIN.task("other")
    with pytest.raises(MismatchError, match="another task"):
        client.answer(Untouchable(), sealing=CHAIN.sealing(other))
    later_round = Round(1, ASKED.ask)
    later = Sealing(NOTICE, later_round, CHAIN.given(NOTICE, later_round))
    with pytest.raises(MismatchError, match="another of its rounds"):
        client.answer(Untouchable(), sealing=later)
    assert client.ledger.entries() == []


def test_a_task_that_is_not_shuffled_has_nothing_to_seal():
    plain = sv.Task("browser", PLAN, 6.0)
    with pytest.raises(ParameterError, match="shuffled task"):
        Sealing(codec.publish(plain), plain.opening, GIVEN)
    with pytest.raises(MismatchError, match="another task"):
        Client(plain, ":memory:").answer(Untouchable(), sealing=CHAIN.sealing(TASK))


def test_the_messages_of_a_round_have_one_length_whatever_was_answered():
    """A choice of questions, with a token: all of it is under the first layer."""
    task = CHAIN.task(collection=blind_collection())
    sealing = CHAIN.sealing(task)
    sealed = {len(sealing.seal(b"\2" * count, bytes(TOKEN_BYTES))) for count in (1, 30)}
    assert sealed == {sealing.sealed_bytes}
