"""The parts in which a hop hands a batch on: to the next hop, or to the collector.

A batch is the sealed messages of one round, all of one length, in the order that the hop has drawn.
It travels in parts, each signed with the long-term key of the hop that sends it, which the task's
document pins.  What is signed is

    "sottovoce/batch/v1" | task digest 32 | round u16 | hop u8 | part u32 | parts u32
    | SHA-256 of the whole batch | SHA-256 of this part's messages          numbers little-endian

so that a part is good for one task, one round, one sender and one place in one batch.  A part
travels as

    signature 64 | parts u32 | SHA-256 of the whole batch 32 | messages

Its number stands in the address that it is sent to.
"""

import hashlib
from dataclasses import dataclass

from sottovoce.core import settings
from sottovoce.errors import CodecError
from sottovoce.wire import signatures
from sottovoce.wire.seal import DIGEST_BYTES, MAX_HOPS, MAX_ROUND
from sottovoce.wire.signatures import SIGNATURE_BYTES

HASH_BYTES = 32
MAX_PARTS = 1 << 24
_NUMBER_BYTES = 4
_HEAD_BYTES = SIGNATURE_BYTES + _NUMBER_BYTES + HASH_BYTES
_LABEL = b"sottovoce/batch/v1"


@dataclass(frozen=True)
class BatchPart:
    """A part of a batch, and who sends it: hop ``hop`` of the task with this digest."""

    digest: bytes
    round: int
    hop: int
    part: int
    parts: int
    batch_hash: bytes
    messages: bytes

    def __post_init__(self) -> None:
        settings.octets("digest", self.digest, DIGEST_BYTES)
        settings.whole("round", self.round, 0, MAX_ROUND)
        settings.whole("hop", self.hop, 0, MAX_HOPS - 1)
        settings.whole("parts", self.parts, 1, MAX_PARTS)
        settings.whole("part", self.part, 0, self.parts - 1)
        settings.octets("batch_hash", self.batch_hash, HASH_BYTES)
        settings.instance("messages", self.messages, bytes)

    def signed_bytes(self) -> bytes:
        """Return the bytes that are signed."""
        place = self.round.to_bytes(2, "little") + bytes([self.hop])
        numbers = _number(self.part) + _number(self.parts)
        own_hash = hashlib.sha256(self.messages).digest()
        return _LABEL + self.digest + place + numbers + self.batch_hash + own_hash

    def write(self, signing_key: bytes) -> bytes:
        """Return the part as it travels, signed by the hop with this long-term private key."""
        signature = signatures.sign(self.signed_bytes(), signing_key)
        return signature + _number(self.parts) + self.batch_hash + self.messages


@dataclass(frozen=True)
class PartPlace:
    """Where a part belongs, as its receiver knows it before it reads the part."""

    digest: bytes
    round: int
    hop: int
    part: int


def read(data: bytes, place: PartPlace, verifying_key: bytes) -> BatchPart:
    """Return the part in some bytes, if the hop with this long-term public key has signed it."""
    if len(data) <= _HEAD_BYTES:
        raise CodecError(f"a part of a batch must have more than {_HEAD_BYTES} bytes")
    signature = data[:SIGNATURE_BYTES]
    hash_start = SIGNATURE_BYTES + _NUMBER_BYTES
    part = BatchPart(
        digest=place.digest,
        round=place.round,
        hop=place.hop,
        part=place.part,
        parts=int.from_bytes(data[SIGNATURE_BYTES:hash_start], "little"),
        batch_hash=data[hash_start:_HEAD_BYTES],
        messages=data[_HEAD_BYTES:],
    )
    refusal = "a part of a batch is not signed for this task, round and place by the hop's key"
    signatures.verify(part.signed_bytes(), signature, verifying_key, refusal)
    return part


def _number(value: int) -> bytes:
    return value.to_bytes(_NUMBER_BYTES, "little")
