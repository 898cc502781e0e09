"""What a store keeps of shuffled tasks, in every database."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from collector.store.offers import (
    DIGEST,
    NOW,
    accept,
    close_round,
    hashed,
    report_id,
    singles,
    stored,
    task,
    token,
    users,
)
from sottovoce.collector.store.base import State
from sottovoce.collector.store.shuffle_base import (
    Canary,
    CanaryCounts,
    Grant,
    OpenedPart,
    PartRecord,
)
from sottovoce.errors import MismatchError, StateError
from sottovoce.wire.round_keys import SignedKey

KEY = SignedKey(0, b"p" * 32, b"s" * 64)
MESSAGES = (b"first part", b"second part")
BATCH_HASH = hashlib.sha256(b"".join(MESSAGES)).digest()
PARTS = [PartRecord(number, 2, BATCH_HASH, data) for number, data in enumerate(MESSAGES)]


def filled(store):
    for part in PARTS:
        assert store.add_part(DIGEST, 0, part)
    assert store.complete_batch(DIGEST, 0)
    return store


def test_the_first_key_of_a_hop_stays(round_open, open_store):
    assert round_open.add_round_key(DIGEST, 0, KEY)
    assert not round_open.add_round_key(DIGEST, 0, KEY)
    with pytest.raises(MismatchError, match="which stays"):
        round_open.add_round_key(DIGEST, 0, replace(KEY, public_key=b"q" * 32))
    own = SignedKey(1, b"o" * 32, b"t" * 64)
    assert round_open.add_round_key(DIGEST, 0, own, b"x" * 32)
    again = open_store()
    assert again.round_keys(DIGEST, 0) == [KEY, own]
    assert again.private_round_key(DIGEST, 0) == b"x" * 32
    with pytest.raises(MismatchError, match="no such round"):
        again.add_round_key(DIGEST, 1, KEY)
    assert again.round_keys(DIGEST, 1) == []
    assert again.private_round_key(DIGEST, 1) is None


def test_signatures_on_all_keys_are_kept_by_hop(round_open, open_store):
    assert round_open.add_set_signature(DIGEST, 0, 1, b"b" * 64)
    assert round_open.add_set_signature(DIGEST, 0, 0, b"a" * 64)
    assert not round_open.add_set_signature(DIGEST, 0, 0, b"c" * 64)
    again = open_store()
    assert again.set_signatures(DIGEST, 0) == [b"a" * 64, b"b" * 64]
    assert again.set_signatures(DIGEST, 1) == []
    with pytest.raises(MismatchError, match="no such round"):
        again.add_set_signature(DIGEST, 1, 0, b"a" * 64)


def test_parts_are_kept_once_and_make_a_batch(round_open):
    assert round_open.batch(DIGEST, 0) is None
    assert round_open.add_part(DIGEST, 0, PARTS[1])
    assert not round_open.add_part(DIGEST, 0, PARTS[1])
    assert not round_open.complete_batch(DIGEST, 0), "a part is missing"
    for wrong in (
        replace(PARTS[1], messages=b"other"),
        replace(PARTS[0], parts=3),
        replace(PARTS[0], batch_hash=bytes(32)),
        replace(PARTS[1], batch_hash=bytes(32)),
    ):
        with pytest.raises(MismatchError, match=r"(it stays|they stay)"):
            round_open.add_part(DIGEST, 0, wrong)
    assert round_open.add_part(DIGEST, 0, PARTS[0])
    assert list(round_open.parts(DIGEST, 0)) == list(enumerate(MESSAGES))
    assert round_open.complete_batch(DIGEST, 0)
    assert round_open.complete_batch(DIGEST, 0)
    batch = round_open.batch(DIGEST, 0)
    assert (batch.parts, batch.received, batch.complete, batch.opened) == (2, 2, True, 0)


def test_a_batch_is_dropped_whole_unless_it_is_complete(round_open):
    assert not round_open.drop_batch(DIGEST, 0)
    round_open.add_part(DIGEST, 0, PARTS[0])
    assert round_open.drop_batch(DIGEST, 0)
    assert round_open.batch(DIGEST, 0) is None
    assert list(round_open.parts(DIGEST, 0)) == []
    filled(round_open)
    assert not round_open.drop_batch(DIGEST, 0)
    assert round_open.batch(DIGEST, 0).complete


def test_a_part_is_opened_once_with_its_messages_or_not_at_all(round_open):
    filled(round_open)
    offer = singles("ab")
    opened = OpenedPart(DIGEST, 0, 0, messages=5, unopened=2, canaries=())
    round_open.accept([offer], {(DIGEST, "malformed"): 1}, NOW, opened)
    with pytest.raises(StateError, match="opened before"):
        round_open.accept([singles("cd")], {(DIGEST, "malformed"): 1}, NOW, opened)
    assert users(round_open) == 2, "the second attempt has changed nothing"
    assert round_open.refusals(DIGEST) == {"malformed": 1}
    assert list(round_open.parts(DIGEST, 0)) == [(1, MESSAGES[1])]
    second = OpenedPart(DIGEST, 0, 1, messages=3)
    round_open.accept([singles("bc")], {}, NOW, second)
    batch = round_open.batch(DIGEST, 0)
    assert (batch.messages, batch.unopened, batch.duplicates, batch.opened) == (8, 2, 1, 2)
    assert users(round_open) == 3


def test_a_round_with_a_complete_batch_closes_when_all_is_opened(round_open):
    own = SignedKey(1, b"o" * 32, b"t" * 64)
    round_open.add_round_key(DIGEST, 0, own, b"x" * 32)
    filled(round_open)
    assert not round_open.turn(DIGEST, 0, State.OPEN, State.CLOSING, NOW)
    assert not round_open.close_batch(DIGEST, 0, NOW)
    for part in range(2):
        round_open.accept([], {}, NOW, OpenedPart(DIGEST, 0, part, messages=1))
        assert round_open.close_batch(DIGEST, 0, NOW + part) is (part == 1)
    assert round_open.rounds(DIGEST)[0].state is State.SEALING
    assert round_open.rounds(DIGEST)[0].changed == NOW + 1
    assert round_open.private_round_key(DIGEST, 0) is None
    assert round_open.round_keys(DIGEST, 0) == [own]
    assert not round_open.close_batch(DIGEST, 0, NOW)
    assert round_open.seal(DIGEST, 0, 0, "", NOW)
    assert not round_open.add_part(DIGEST, 0, PARTS[0]), "the same part is still acknowledged"


def test_a_round_that_is_not_open_takes_no_batch_and_forgets_what_it_had(round_open):
    round_open.add_round_key(DIGEST, 0, SignedKey(1, b"o" * 32, b"t" * 64), b"x" * 32)
    round_open.add_part(DIGEST, 0, PARTS[0])
    close_round(round_open)
    with pytest.raises(MismatchError, match="takes no batch"):
        round_open.add_part(DIGEST, 0, PARTS[1])
    assert not round_open.complete_batch(DIGEST, 0)
    round_open.seal(DIGEST, 0, 0, "", NOW)
    assert list(round_open.parts(DIGEST, 0)) == []
    assert round_open.private_round_key(DIGEST, 0) is None


def test_canaries_are_remembered_sent_and_found(round_open):
    filled(round_open)
    canaries = [Canary(report_id(name), name.encode()) for name in "abc"]
    round_open.add_canaries(DIGEST, 0, canaries)
    assert sorted(round_open.unsent_canaries(DIGEST, 0), key=lambda one: one.sealed) == canaries
    round_open.note_sent(DIGEST, 0, [report_id("a"), report_id("b")])
    assert round_open.unsent_canaries(DIGEST, 0) == [canaries[2]]
    assert round_open.canary_ids(DIGEST, 0) == {report_id(name) for name in "abc"}
    found = (report_id("a"), report_id("a"))
    round_open.accept([], {}, NOW, OpenedPart(DIGEST, 0, 0, messages=2, canaries=found))
    assert round_open.canary_counts(DIGEST, 0) == CanaryCounts(made=3, sent=2, found=1)
    assert round_open.canary_counts(DIGEST, 1) == CanaryCounts()


def test_verified_tokens_need_not_be_known_and_are_good_once(round_open):
    claims = np.array([list(hashed(name)) for name in "xy"], np.uint8)
    offer = replace(singles("ab"), claims=claims, verified=True)
    assert accept(round_open, offer) == [["accepted", "accepted"]]
    again = replace(singles("cd"), claims=claims[[0, 0]], verified=True)
    assert accept(round_open, again) == [["token-spent", "token-spent"]]
    mixed = np.array([list(hashed(name)) for name in "zy"], np.uint8)
    third = replace(singles("ef"), claims=mixed, verified=True)
    assert accept(round_open, third) == [["accepted", "token-spent"]]
    assert accept(round_open, replace(singles("g"), claims=claims[:1])) == [["token-unknown"]]
    assert len(stored(round_open)) == 3


def test_an_enrolment_token_buys_one_signature_per_task(store):
    store.publish(task(), "opening")
    store.add_tokens([token("mine"), token("old", expires=NOW), token("key", scope="analyst")])

    def claim(name, number, digest=DIGEST):
        return store.claim_signature(digest, hashed(name), hashed(number), NOW)

    assert claim("mine", 1) is Grant.GRANTED
    assert claim("mine", 1) is Grant.GRANTED
    assert claim("mine", 2) is Grant.TOKEN_SPENT
    assert claim("mine", 2, "another task") is Grant.GRANTED
    for name in ("old", "key", "nobody"):
        assert claim(name, 3) is Grant.TOKEN_UNKNOWN


def test_a_hop_gets_a_limited_number_of_signatures(round_open):
    numbers = [hashed(number) for number in range(5)]
    assert round_open.claim_fakes(DIGEST, 0, 0, numbers[:2], 3)
    assert round_open.claim_fakes(DIGEST, 0, 0, numbers[:2], 3)
    assert not round_open.claim_fakes(DIGEST, 0, 0, numbers[2:4], 3)
    assert round_open.claim_fakes(DIGEST, 0, 0, numbers[1:3], 3)
    assert not round_open.claim_fakes(DIGEST, 0, 0, numbers[3:], 3)
    assert round_open.claim_fakes(DIGEST, 0, 1, numbers[3:], 3), "another hop"
