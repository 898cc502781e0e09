"""Signatures of hops and collectors."""

import pytest

from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire.round_keys import new_signing_key
from sottovoce.wire.signatures import SIGNATURE_BYTES, sign, verify

pytest.importorskip("cryptography", reason="signing needs the extra `sealed`")

KEYS = new_signing_key()
STATEMENT = b"label/v1 something"


def test_a_signature_is_good_for_its_statement_and_key():
    signature = sign(STATEMENT, KEYS.private_key)
    assert len(signature) == SIGNATURE_BYTES
    verify(STATEMENT, signature, KEYS.public_key, "refused")
    with pytest.raises(MismatchError, match="refused"):
        verify(STATEMENT + b"!", signature, KEYS.public_key, "refused")
    with pytest.raises(MismatchError, match="refused"):
        verify(STATEMENT, signature, new_signing_key().public_key, "refused")


@pytest.mark.parametrize("length", [0, 63, 65])
def test_a_signature_has_its_length(length):
    with pytest.raises(CodecError, match=f"must have 64 bytes, not {length}"):
        verify(STATEMENT, bytes(length), KEYS.public_key, "refused")


def test_keys_have_32_bytes():
    with pytest.raises(ParameterError, match="`signing_key`"):
        sign(STATEMENT, bytes(31))
    with pytest.raises(ParameterError, match="`verifying_key`"):
        verify(STATEMENT, bytes(64), bytes(33), "refused")
