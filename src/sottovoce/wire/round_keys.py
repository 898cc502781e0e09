"""Round keys: the key of one hop for one round of one task, and the hop's signature on it.

A hop makes an X25519 key pair for every round of every task and erases the private key once its
batch is delivered.  It signs the public key with its long-term Ed25519 key, which the task's
document pins.  A device checks the signature and seals only for keys that pass.  What is signed is

    "sottovoce/key/v1" | task digest 32 | round u16, little-endian | hop u8 | public key 32

so that a signed key is good for one task, one round and one place in the chain.

Source: RFC 7748; RFC 8032.
"""

from dataclasses import dataclass, field

from sottovoce.core import settings
from sottovoce.wire import signatures
from sottovoce.wire.seal import DIGEST_BYTES, KEY_BYTES, MAX_HOPS, MAX_ROUND
from sottovoce.wire.sealed_extra import needs_cryptography

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
