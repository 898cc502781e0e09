"""Requests for the tokens of fakes: signed for one task, one round and one hop."""

import hashlib
from dataclasses import replace

import pytest

from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire.fake_tokens import MAX_TOKENS, FakeTokenRequest
from sottovoce.wire.round_keys import new_signing_key

KEY = new_signing_key()
NUMBERS = (bytes(255) + b"\x01", bytes(255) + b"\x02")
REQUEST = FakeTokenRequest(bytes(range(32)), 258, 1, NUMBERS)


def test_what_is_signed_is_written_down():
    hashed = hashlib.sha256(b"".join(NUMBERS)).digest()
    expected = b"sottovoce/fakes/v1" + bytes(range(32)) + b"\x02\x01" + b"\x01" + hashed
    assert REQUEST.to_bytes() == expected


def test_a_signature_is_good_for_its_request_alone():
    signature = REQUEST.sign(KEY.private_key)
    REQUEST.verify(signature, KEY.public_key)
    for changes in (
        {"digest": bytes(32)},
        {"round": 0},
        {"hop": 0},
        {"blinded": NUMBERS[::-1]},
        {"blinded": NUMBERS[:1]},
    ):
        with pytest.raises(MismatchError, match="not signed for this task, round and hop"):
            replace(REQUEST, **changes).verify(signature, KEY.public_key)
    with pytest.raises(MismatchError):
        REQUEST.verify(signature, new_signing_key().public_key)
    with pytest.raises(CodecError, match="64 bytes"):
        REQUEST.verify(signature[:-1], KEY.public_key)


@pytest.mark.parametrize(
    "blinded", [(), (bytes(255),), (bytes(256),) * (MAX_TOKENS + 1)], ids=["none", "short", "many"]
)
def test_what_cannot_be_asked_for_is_refused(blinded):
    with pytest.raises(ParameterError, match="`blinded"):
        replace(REQUEST, blinded=blinded)
