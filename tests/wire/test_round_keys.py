"""Round keys: a signature is good for one key, one task, one round and one hop.

The bytes are pinned by the golden vectors (``seal.json``).
"""

from dataclasses import replace

import pytest

from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire import seal
from sottovoce.wire.round_keys import KeyPair, KeyStatement, new_round_key, new_signing_key

SIGNER = new_signing_key()
STATEMENT = KeyStatement(bytes(range(32)), 258, 1, new_round_key().public_key)
SIGNATURE = STATEMENT.sign(SIGNER.private_key)


def test_a_signed_key_passes_and_can_be_sealed_for():
    pair = new_round_key()
    statement = KeyStatement(bytes(32), 0, 0, pair.public_key)
    statement.verify(statement.sign(SIGNER.private_key), SIGNER.public_key)
    context = seal.SealContext(bytes(32), 0, 0, 2)
    sealed = seal.seal(b"hi", [statement.public_key], context)
    assert seal.open_layer(sealed, pair.private_key, context, 0) == b"hi"


def test_the_signed_bytes_have_one_length_and_contain_every_field():
    assert len(STATEMENT.to_bytes()) == 16 + 32 + 2 + 1 + 32
    changes = (
        {"digest": bytes(32)},
        {"round": 513},
        {"hop": 2},
        {"public_key": new_round_key().public_key},
    )
    texts = {STATEMENT.to_bytes(), *(replace(STATEMENT, **change).to_bytes() for change in changes)}
    assert len(texts) == 5


@pytest.mark.parametrize("change", [{"digest": bytes(32)}, {"round": 513}, {"hop": 2}])
def test_a_signature_is_good_for_one_task_round_and_hop(change):
    STATEMENT.verify(SIGNATURE, SIGNER.public_key)
    with pytest.raises(MismatchError, match="not signed for this task, round and hop"):
        replace(STATEMENT, **change).verify(SIGNATURE, SIGNER.public_key)


def test_another_key_and_another_signer_are_refused():
    with pytest.raises(MismatchError):
        replace(STATEMENT, public_key=SIGNER.public_key).verify(SIGNATURE, SIGNER.public_key)
    with pytest.raises(MismatchError):
        STATEMENT.verify(SIGNATURE, new_signing_key().public_key)


def test_a_signature_of_another_length_is_malformed():
    for signature in (b"", SIGNATURE[:-1], SIGNATURE + b"\0"):
        with pytest.raises(CodecError, match="64 bytes"):
            STATEMENT.verify(signature, SIGNER.public_key)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("digest", {"digest": bytes(16)}),
        ("round", {"round": 1 << 16}),
        ("hop", {"hop": 9}),
        ("public_key", {"public_key": bytes(33)}),
    ],
)
def test_a_setting_that_is_not_allowed_is_named(name, change):
    with pytest.raises(ParameterError, match=f"`{name}` must"):
        replace(STATEMENT, **change)


def test_keys_are_new_each_time_and_the_private_one_is_not_shown():
    for make in (new_round_key, new_signing_key):
        first, second = make(), make()
        assert first.private_key != second.private_key
        assert first.public_key != second.public_key
        assert repr(first) == f"KeyPair(public_key={first.public_key!r})"
    with pytest.raises(ParameterError, match="`private_key` must have exactly 32 bytes, not 3"):
        KeyPair(b"abc", bytes(32))
