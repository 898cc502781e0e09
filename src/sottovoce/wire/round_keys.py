"""Round keys: the key of one hop for one round of one task, and the hop's signature on it.

A hop makes an X25519 key pair for every round of every task and erases the private key once its
batch is delivered.  It signs the public key with its long-term Ed25519 key, which the task's
document pins.  A device checks the signature and seals only for keys that pass.  What is signed is

    "sottovoce/key/v1" | task digest 32 | round u16, little-endian | hop u8 | public key 32

so that a signed key is good for one task, one round and one place in the chain.  The collector has
a key as well, under the number after the last hop.  That nobody signs a key of its own for every
device is what ``key_set.py`` is for.

Source: RFC 7748; RFC 8032.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sottovoce.core import settings
from sottovoce.core.base64url import text_of
from sottovoce.errors import CodecError, ParameterError
from sottovoce.tasks import shuffle
from sottovoce.wire import signatures
from sottovoce.wire.seal import DIGEST_BYTES, KEY_BYTES, MAX_HOPS, MAX_ROUND
from sottovoce.wire.sealed_extra import needs_cryptography
from sottovoce.wire.signatures import SIGNATURE_BYTES

_LABEL = b"sottovoce/key/v1"


@dataclass(frozen=True)
class KeyPair:
    """A private key and the public key that belongs to it; ``repr`` leaves the private key out."""

    private_key: bytes = field(repr=False)
    public_key: bytes

    def __post_init__(self) -> None:
        settings.octets("private_key", self.private_key, KEY_BYTES)
        settings.octets("public_key", self.public_key, KEY_BYTES)


@dataclass(frozen=True)
class KeyStatement:
    """The statement "this is the public key of this hop for this round of this task"."""

    digest: bytes
    round: int
    hop: int
    public_key: bytes

    def __post_init__(self) -> None:
        settings.octets("digest", self.digest, DIGEST_BYTES)
        settings.whole("round", self.round, 0, MAX_ROUND)
        settings.whole("hop", self.hop, 0, MAX_HOPS)
        settings.octets("public_key", self.public_key, KEY_BYTES)

    def to_bytes(self) -> bytes:
        """Return the bytes that are signed."""
        place = self.round.to_bytes(2, "little") + bytes([self.hop])
        return _LABEL + self.digest + place + self.public_key

    def sign(self, signing_key: bytes) -> bytes:
        """Return the signature of the hop whose long-term private key this is."""
        return signatures.sign(self.to_bytes(), signing_key)

    def verify(self, signature: bytes, verifying_key: bytes) -> None:
        """Refuse the statement unless the hop with this long-term public key has signed it."""
        refusal = (
            "a round key is not signed for this task, round and hop by the key in the document"
        )
        signatures.verify(self.to_bytes(), signature, verifying_key, refusal)


@dataclass(frozen=True)
class SignedKey:
    """The public key of one hop for one round, and a signature that nobody has verified yet."""

    hop: int
    public_key: bytes
    signature: bytes

    def to_dict(self) -> dict[str, Any]:
        """Return the key as the collector serves it."""
        return {
            "hop": self.hop,
            "public_key": text_of(self.public_key),
            "signature": text_of(self.signature),
        }


def read_signed_keys(listed: Any) -> tuple[SignedKey, ...]:
    """Return the keys in the answer of a collector, which stand in the order of the hops."""
    if not isinstance(listed, list) or len(listed) > shuffle.MAX_HOPS + 1:
        raise CodecError(f"`keys` must be a list of at most {shuffle.MAX_HOPS + 1} keys")
    return tuple(_signed_key(entry, hop) for hop, entry in enumerate(listed))


def verify_keys(
    digest: bytes, number: int, keys: Sequence[SignedKey], verifying_keys: Sequence[bytes]
) -> tuple[bytes, ...]:
    """Return the public keys of a round, each signed by the one whose place it is in.

    ``verifying_keys`` are the long-term keys of all hops and of the collector.
    """
    settings.entries("keys", keys, len(verifying_keys), len(verifying_keys))
    for hop, verifying_key in enumerate(verifying_keys):
        statement = KeyStatement(digest, number, hop, keys[hop].public_key)
        statement.verify(keys[hop].signature, verifying_key)
    return tuple(key.public_key for key in keys)


def answered_bytes(name: str, value: Any, length: int) -> bytes:
    """Return bytes in the answer of a server, or refuse the answer."""
    try:
        return settings.base64url(name, value, length)
    except ParameterError as error:
        raise CodecError(str(error)) from None


def new_round_key() -> KeyPair:
    """Return a new X25519 key pair, for one round of one task."""
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    key = X25519PrivateKey.generate()
    return KeyPair(key.private_bytes_raw(), key.public_key().public_bytes_raw())


def new_signing_key() -> KeyPair:
    """Return a new Ed25519 key pair: the long-term key of a hop, for the documents of its tasks."""
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    key = Ed25519PrivateKey.generate()
    return KeyPair(key.private_bytes_raw(), key.public_key().public_bytes_raw())


def _signed_key(content: Any, hop: int) -> SignedKey:
    """Return the key of a hop."""
    if not isinstance(content, dict) or set(content) != {"hop", "public_key", "signature"}:
        raise CodecError("each entry of `keys` must have a hop, a public key and a signature")
    if type(content["hop"]) is not int or content["hop"] != hop:
        raise CodecError("`keys` must stand in the order of the hops")
    public_key = answered_bytes("public_key", content["public_key"], KEY_BYTES)
    signature = answered_bytes("signature", content["signature"], SIGNATURE_BYTES)
    return SignedKey(hop, public_key, signature)
