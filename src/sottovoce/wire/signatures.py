"""Signatures with the long-term keys that a task's document pins: those of hops and collector.

Every statement that is signed begins with a label of its own, so that a signature on one kind of
statement is good for no other.

Source: RFC 8032 (Ed25519).
"""

from sottovoce.core import settings
from sottovoce.errors import CodecError, MismatchError
from sottovoce.wire.sealed_extra import needs_cryptography

KEY_BYTES = 32
SIGNATURE_BYTES = 64


def sign(statement: bytes, signing_key: bytes) -> bytes:
    """Return the signature of the party whose long-term private key this is."""
    settings.octets("signing_key", signing_key, KEY_BYTES)
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    return Ed25519PrivateKey.from_private_bytes(signing_key).sign(statement)


def verify(statement: bytes, signature: bytes, verifying_key: bytes, refusal: str) -> None:
    """Raise with ``refusal`` unless the party with this long-term public key has signed."""
    settings.octets("verifying_key", verifying_key, KEY_BYTES)
    if len(signature) != SIGNATURE_BYTES:
        raise CodecError(f"a signature must have {SIGNATURE_BYTES} bytes, not {len(signature)}")
    with needs_cryptography():
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        Ed25519PublicKey.from_public_bytes(verifying_key).verify(signature, statement)
    except (InvalidSignature, ValueError) as error:
        raise MismatchError(refusal) from error
