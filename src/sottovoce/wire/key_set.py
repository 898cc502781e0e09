"""Key sets: all keys of one round, which every hop signs as one.

A signature on a single key says whose key it is, not that everybody gets the same one.  A collector
that signed another key of its own for every device would know by it whose message opens, however
honestly the hops mix.  So each hop looks at all keys of a round together, signs the first set that
it sees, and never another one for that round.  A device seals only if every hop has signed exactly
the set that it was given.  One honest hop is then enough to give all devices the same keys.

The set also names the round that is asked.  A collector that put a question of its own to every
device could tell their answers apart as well.  What a hop signs is

    "sottovoce/key-set/v1" | task digest 32 | round u16, little-endian
    | SHA-256 of the round's canonical document 32 | hop u8 | public keys, 32 each

with its own number and the keys of all hops in their order, the collector's last.

Source: RFC 8032.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.core import settings
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, signatures
from sottovoce.wire.seal import DIGEST_BYTES, KEY_BYTES, MAX_HOPS, MAX_ROUND

HASH_BYTES = 32
_LABEL = b"sottovoce/key-set/v1"
_REFUSAL = "a hop has not signed exactly these keys for this round of the task"


@dataclass(frozen=True)
class KeySet:
    """The public keys of one round of one task: those of all hops, then the collector's."""

    digest: bytes
    round: int
    round_hash: bytes
    public_keys: tuple[bytes, ...]

    def __post_init__(self) -> None:
        settings.octets("digest", self.digest, DIGEST_BYTES)
        settings.whole("round", self.round, 0, MAX_ROUND)
        settings.octets("round_hash", self.round_hash, HASH_BYTES)
        settings.entries("public_keys", self.public_keys, 2, MAX_HOPS + 1)
        for index, public_key in enumerate(self.public_keys):
            settings.octets(f"public_keys[{index}]", public_key, KEY_BYTES)
        settings.distinct("public_keys", self.public_keys)

    @classmethod
    def of(cls, digest: bytes, asked: Round, public_keys: Sequence[bytes]) -> "KeySet":
        """Return the set of the keys of a round."""
        round_hash = codec.fingerprint(codec.canonical(codec.document(asked)))
        return cls(digest, asked.number, round_hash, tuple(public_keys))

    @property
    def hops(self) -> int:
        """Return the number of hops, each of which signs the set."""
        return len(self.public_keys) - 1

    def to_bytes(self, hop: int) -> bytes:
        """Return the bytes that a hop signs."""
        settings.whole("hop", hop, 0, self.hops - 1)
        place = self.digest + self.round.to_bytes(2, "little") + self.round_hash
        return _LABEL + place + bytes([hop]) + b"".join(self.public_keys)

    def sign(self, hop: int, signing_key: bytes) -> bytes:
        """Return the signature of a hop, whose long-term private key this is."""
        return signatures.sign(self.to_bytes(hop), signing_key)

    def verify(self, hop: int, signature: bytes, verifying_key: bytes) -> None:
        """Refuse the set unless the hop with this long-term public key has signed it."""
        signatures.verify(self.to_bytes(hop), signature, verifying_key, _REFUSAL)

    def verify_all(self, signed: Sequence[bytes], verifying_keys: Sequence[bytes]) -> None:
        """Refuse the set unless every hop has signed it; both lists are in the order of hops."""
        settings.entries("set_signatures", signed, self.hops, self.hops)
        settings.entries("verifying_keys", verifying_keys, self.hops, self.hops)
        for hop, (signature, verifying_key) in enumerate(zip(signed, verifying_keys, strict=True)):
            self.verify(hop, signature, verifying_key)
