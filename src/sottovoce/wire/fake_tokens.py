"""How a hop asks the issuer to sign tokens for its fakes.

A fake must carry a token like every other message, or the collector could tell it apart.  A hop
sends the blinded numbers of its tokens, signed with its long-term key:

    "sottovoce/fakes/v1" | task digest 32 | round u16, little-endian | hop u8
    | SHA-256 of all blinded numbers, one after another

so that nobody else gets tokens in the name of the hop.
"""

import hashlib
from dataclasses import dataclass

from sottovoce.core import settings
from sottovoce.wire import signatures
from sottovoce.wire.seal import DIGEST_BYTES, MAX_HOPS, MAX_ROUND
from sottovoce.wire.tokens import MODULUS_BYTES

MAX_TOKENS = 1_000  # in one request

_LABEL = b"sottovoce/fakes/v1"


@dataclass(frozen=True)
class FakeTokenRequest:
    """The blinded numbers that a hop wants to have signed for one round of one task."""

    digest: bytes
    round: int
    hop: int
    blinded: tuple[bytes, ...]

    def __post_init__(self) -> None:
        settings.octets("digest", self.digest, DIGEST_BYTES)
        settings.whole("round", self.round, 0, MAX_ROUND)
        settings.whole("hop", self.hop, 0, MAX_HOPS - 1)
        settings.entries("blinded", self.blinded, 1, MAX_TOKENS)
        for index, number in enumerate(self.blinded):
            settings.octets(f"blinded[{index}]", number, MODULUS_BYTES)

    def to_bytes(self) -> bytes:
        """Return the bytes that are signed."""
        place = self.round.to_bytes(2, "little") + bytes([self.hop])
        return _LABEL + self.digest + place + hashlib.sha256(b"".join(self.blinded)).digest()

    def sign(self, signing_key: bytes) -> bytes:
        """Return the signature of the hop whose long-term private key this is."""
        return signatures.sign(self.to_bytes(), signing_key)

    def verify(self, signature: bytes, verifying_key: bytes) -> None:
        """Refuse the request unless the hop with this long-term public key has signed it."""
        refusal = "a request for tokens is not signed for this task, round and hop by the hop's key"
        signatures.verify(self.to_bytes(), signature, verifying_key, refusal)
