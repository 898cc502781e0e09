"""Round keys: signed one by one and as a set, the first stays, devices get all or none."""

from dataclasses import replace

import pytest

from collector.people import counting, text
from collector.shuffled import Chain, fingerprint_of, shuffled_for
from sottovoce.collector import key_exchange, key_files
from sottovoce.collector.collector import Collector
from sottovoce.errors import MismatchError
from sottovoce.web.problems import RequestError
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyStatement, new_signing_key


@pytest.fixture
def chain():
    return Chain.of(2)


@pytest.fixture
def task(collector, chain):
    task = shuffled_for(collector, chain)
    collector.create(text(task), toml=False)
    return task


def keys(collector, task):
    return key_exchange.all_keys(collector.store, collector.find(task.name), 0)


def test_hops_get_keys_when_all_of_them_are_there(collector, chain, task):
    published = collector.find(task.name)
    for signed in chain.statements(task):
        with pytest.raises(RequestError, match="not all keys of this round") as refused:
            keys(collector, task)
        assert refused.value.code == "not-ready"
        assert key_exchange.add_hop_key(collector.store, published, 0, signed)
        assert not key_exchange.add_hop_key(collector.store, published, 0, signed)
    given = keys(collector, task)
    assert [key.hop for key in given] == [0, 1, 2]
    for key, signing_key in zip(given, task.shuffle.signing_keys, strict=True):
        statement = KeyStatement(fingerprint_of(task), 0, key.hop, key.public_key)
        statement.verify(key.signature, signing_key)


def test_devices_get_keys_when_every_hop_has_signed_all_of_them(collector, chain, task):
    store, published = collector.store, collector.find(task.name)
    with pytest.raises(RequestError, match="not all keys of this round"):
        key_exchange.add_set_signature(store, published, 0, 0, bytes(64))
    for signed in chain.statements(task):
        key_exchange.add_hop_key(store, published, 0, signed)
    public_keys = [key.public_key for key in keys(collector, task)]
    for hop, signature in enumerate(chain.set_signatures(task, task.opening, public_keys)):
        with pytest.raises(RequestError, match="not all hops have signed") as refused:
            key_exchange.signed_set(store, published, 0)
        assert refused.value.code == "not-ready"
        assert key_exchange.add_set_signature(store, published, 0, hop, signature)
        assert not key_exchange.add_set_signature(store, published, 0, hop, signature)
    given = key_exchange.signed_set(store, published, 0)
    assert given.keys == keys(collector, task)
    key_set = KeySet.of(fingerprint_of(task), task.opening, public_keys)
    key_set.verify_all(given.set_signatures, task.shuffle.signing_keys[:-1])


def test_a_signature_on_anything_but_these_keys_is_refused(collector, chain, task):
    store, published = collector.store, collector.find(task.name)
    for signed in chain.statements(task):
        key_exchange.add_hop_key(store, published, 0, signed)
    public_keys = [key.public_key for key in keys(collector, task)]
    first, second = chain.set_signatures(task, task.opening, public_keys)
    swapped = [public_keys[1], public_keys[0], public_keys[2]]
    other_round = replace(task.opening, high=task.opening.high // 2)
    for wrong in (
        second,
        first[:-1],
        keys(collector, task)[0].signature,
        chain.set_signatures(task, task.opening, swapped)[0],
        chain.set_signatures(task, other_round, public_keys)[0],
    ):
        with pytest.raises(RequestError) as refused:
            key_exchange.add_set_signature(store, published, 0, 0, wrong)
        assert refused.value.code == "bad-signature"
    for number, hop in ((1, 0), (0, 2)):
        with pytest.raises(RequestError) as refused:
            key_exchange.add_set_signature(store, published, number, hop, first)
        assert refused.value.code == "not-found"
    assert store.set_signatures(published.digest, 0) == []


def test_the_first_key_of_a_hop_stays(collector, chain, task):
    chain.push(collector, task)
    before = keys(collector, task)
    chain.round_keys.clear()
    with pytest.raises(MismatchError, match="another key for this round, which stays"):
        chain.push(collector, task)
    assert keys(collector, task) == before


def test_a_key_that_the_hop_has_not_signed_is_refused(collector, chain, task):
    published = collector.find(task.name)
    signed, of_other_hop = chain.statements(task)
    stranger = new_signing_key()
    statement = KeyStatement(fingerprint_of(task), 0, 0, signed.public_key)
    for wrong in (
        replace(of_other_hop, hop=0),
        replace(signed, signature=statement.sign(stranger.private_key)),
        replace(signed, public_key=bytes(32)),
        replace(signed, signature=signed.signature[:-1]),
    ):
        with pytest.raises(RequestError) as refused:
            key_exchange.add_hop_key(collector.store, published, 0, wrong)
        assert refused.value.code == "bad-signature"


def test_there_is_no_key_of_what_is_not_there(collector, chain, task):
    published = collector.find(task.name)
    signed, _ = chain.statements(task)
    for number, hop in ((1, 0), (0, 2), (0, 7)):
        with pytest.raises(RequestError) as refused:
            key_exchange.add_hop_key(collector.store, published, number, replace(signed, hop=hop))
        assert refused.value.code == "not-found"
    collector.create(text(counting()), toml=False)
    with pytest.raises(RequestError, match="not shuffled"):
        key_exchange.all_keys(collector.store, collector.find("count"), 0)


def test_the_collector_has_one_key_per_round_whoever_makes_it(collector, chain, task, clock):
    own = collector.store.round_keys(collector.find(task.name).digest, 0)
    again = Collector(collector.store, collector.folder, clock)
    again.advance()
    published = again.find(task.name)
    key_exchange.make_own_key(again.store, again.folder, published, 0)
    assert again.store.round_keys(published.digest, 0) == own
    assert [key.hop for key in own] == [2]


def test_a_key_that_was_not_made_before_a_crash_is_made_after_it(collector, chain, clock):
    """The task is published, and the process dies before it has made a key."""
    task = shuffled_for(collector, chain)
    dying = Collector(_DyingStore(collector.store), collector.folder, clock)
    with pytest.raises(_DeathError):
        dying.create(text(task), toml=False)
    after = Collector(collector.store, collector.folder, clock)
    digest = after.find(task.name).digest
    assert after.store.round_keys(digest, 0) == []
    after.advance()
    assert [key.hop for key in after.store.round_keys(digest, 0)] == [2]
    assert key_files.public_signing_key(collector.folder) == task.shuffle.key


class _DeathError(Exception):
    """The process dies here."""


class _DyingStore:
    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    def add_round_key(self, *arguments):
        raise _DeathError
