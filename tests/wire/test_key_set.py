"""Key sets: a hop's signature is good for exactly these keys, in this order, for this round.

The bytes are pinned by the golden vectors (``key_set.json``).
"""

from dataclasses import replace

import pytest

from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire.key_set import KeySet
from sottovoce.wire.round_keys import KeyStatement, new_round_key, new_signing_key

HOPS = (new_signing_key(), new_signing_key())
VERIFYING = [pair.public_key for pair in HOPS]
KEYS = tuple(new_round_key().public_key for _ in range(3))
ASKED = Round(1, Question(GRR(1.0, 4)))
SET = KeySet.of(bytes(range(32)), ASKED, KEYS)
SIGNATURES = [SET.sign(hop, pair.private_key) for hop, pair in enumerate(HOPS)]


def test_a_set_that_every_hop_has_signed_passes():
    SET.verify_all(SIGNATURES, VERIFYING)
    assert SET.hops == 2
    assert SET.round == 1


CHANGES = {
    "another task": {"digest": bytes(32)},
    "another round": {"round": 0},
    "another question": {"round_hash": bytes(32)},
    "another key of the collector": {"public_keys": (*KEYS[:2], new_round_key().public_key)},
    "another key of a hop": {"public_keys": (new_round_key().public_key, *KEYS[1:])},
    "another order": {"public_keys": (KEYS[1], KEYS[0], KEYS[2])},
    "one more key": {"public_keys": (*KEYS, new_round_key().public_key)},
    "one key less": {"public_keys": KEYS[:2]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_signature_is_good_for_one_set(change):
    other = replace(SET, **CHANGES[change])
    with pytest.raises(MismatchError, match="has not signed exactly these keys"):
        other.verify(0, SIGNATURES[0], VERIFYING[0])


def test_the_question_is_part_of_what_is_signed():
    for asked in (Round(1, Question(GRR(1.0, 5))), replace(ASKED, low=1)):
        other = KeySet.of(SET.digest, asked, KEYS)
        with pytest.raises(MismatchError):
            other.verify_all(SIGNATURES, VERIFYING)


def test_a_hop_signs_with_its_own_number():
    assert SET.to_bytes(0) != SET.to_bytes(1)
    with pytest.raises(MismatchError):
        SET.verify(1, SIGNATURES[0], VERIFYING[0])
    with pytest.raises(MismatchError):
        SET.verify_all(SIGNATURES[::-1], VERIFYING)
    with pytest.raises(ParameterError, match="`hop`"):
        SET.to_bytes(2)  # the collector does not sign a set


@pytest.mark.parametrize("signed", [SIGNATURES[:1], [], [*SIGNATURES, SIGNATURES[0]]])
def test_every_hop_must_have_signed(signed):
    with pytest.raises(ParameterError, match="`set_signatures`"):
        SET.verify_all(signed, VERIFYING)


def test_a_signature_on_one_key_is_none_on_a_set():
    for hop, pair in enumerate(HOPS):
        statement = KeyStatement(SET.digest, SET.round, hop, KEYS[hop])
        single = statement.sign(pair.private_key)
        with pytest.raises(MismatchError):
            SET.verify(hop, single, VERIFYING[hop])
        with pytest.raises(MismatchError):
            statement.verify(SIGNATURES[hop], VERIFYING[hop])


def test_two_places_may_not_hold_one_key():
    with pytest.raises(ParameterError, match="`public_keys` must differ, but 1 and 3"):
        replace(SET, public_keys=(KEYS[0], KEYS[1], KEYS[0]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("digest", bytes(16)),
        ("round", 1 << 16),
        ("round_hash", bytes(31)),
        ("public_keys", KEYS[:1]),
        ("public_keys", tuple(bytes([number]) * 32 for number in range(10))),
        ("public_keys", (*KEYS[:2], bytes(31))),
    ],
)
def test_a_setting_that_is_not_allowed_is_named(name, value):
    with pytest.raises(ParameterError, match=f"`{name}"):
        replace(SET, **{name: value})


def test_a_signature_of_another_length_is_malformed():
    with pytest.raises(CodecError, match="64 bytes"):
        SET.verify(0, SIGNATURES[0][:-1], VERIFYING[0])
