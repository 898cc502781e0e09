"""Envelope v1: the bytes around a packed report, and nothing about the person who sent it.

    version u8 | flags u8 | round u16 | length u32 | member u32 | task digest 16 | report id 16
    [subject 16] [slot u16] [public: canonical JSON] | payload

Little-endian; ``length`` counts the whole envelope, so envelopes can follow one another.  The optional
fields are legal only where the task declares them (a slot: where the round has a bundle).  The payload
is padded with zeros to the width of the round, whichever member answered.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Bytes, Ints
from sottovoce.errors import CodecError

VERSION = 1
SUBJECT, SLOT, PUBLIC = 1, 2, 4
ID_BYTES = 16


@dataclass(frozen=True, eq=False)
class Envelopes:
    """Envelopes of one task, one round and one shape, as arrays over reports."""

    digest: bytes
    round: int
    members: Ints
    ids: Bytes
    payloads: Bytes
    subjects: Bytes | None = None
    slots: Ints | None = None
    public: tuple[bytes, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.members)

    @property
    def flags(self) -> int:
        """Return which optional fields are there."""
        return SUBJECT * (self.subjects is not None) | SLOT * (self.slots is not None) | PUBLIC * bool(self.public)

    @property
    def sizes(self) -> Ints:
        """Return the bytes of every envelope."""
        seen = np.array([len(one) for one in self.public], np.int64) if self.public else np.zeros(len(self), np.int64)
        return seen + _layout(self.flags, self.payloads.shape[1]).itemsize

    def write(self) -> bytes:
        """Return the envelopes one after another."""
        if self.public:
            return b"".join(self._one(index) for index in range(len(self)))
        return self._rows(self.payloads).tobytes()

    def _one(self, index: int) -> bytes:
        tail = np.frombuffer(self.public[index] + self.payloads[index].tobytes(), np.uint8)
        return self.take(np.array([index]))._rows(tail[None, :]).tobytes()

    def take(self, chosen: npt.NDArray[Any]) -> "Envelopes":
        """Return some of the envelopes."""
        return Envelopes(
            self.digest,
            self.round,
            self.members[chosen],
            self.ids[chosen],
            self.payloads[chosen],
            None if self.subjects is None else self.subjects[chosen],
            None if self.slots is None else self.slots[chosen],
            tuple(self.public[index] for index in np.arange(len(self))[chosen]) if self.public else (),
        )

    def _rows(self, tails: Bytes) -> npt.NDArray[Any]:
        kind = _layout(self.flags, tails.shape[1])
        made = np.zeros(len(self), kind)
        made["version"], made["flags"], made["round"] = VERSION, self.flags, self.round
        made["length"], made["member"] = kind.itemsize, self.members
        made["digest"], made["id"] = np.frombuffer(self.digest, np.uint8), self.ids
        if self.subjects is not None:
            made["subject"] = self.subjects
        if self.slots is not None:
            made["slot"] = self.slots
        made["tail"] = tails
        return made


def read(messages: Iterable[bytes], width: int) -> list[Envelopes]:
    """Return the envelopes in the messages, grouped by shape; ``width`` is that of the round's payload."""
    data = b"".join(messages)
    return [_open(group, width) for group in _groups(data)]


def read_alike(data: bytes, length: int, width: int) -> Envelopes:
    """Return envelopes of one length that are known to agree in version, flags, round and digest."""
    return _open(_rows_of(data, length), width)


def head(piece: bytes) -> bytes:
    """Return what envelopes of one shape share: version, flags, round, length, digest; 24 bytes."""
    return piece[:8] + piece[12:28]


def rounds(messages: Iterable[bytes]) -> dict[int, list[bytes]]:
    """Return the messages by the number of their round."""
    found: dict[int, list[bytes]] = defaultdict(list)
    for message in messages:
        if len(message) < HEADER_BYTES or message[0] != VERSION:
            raise CodecError(f"an envelope starts with {HEADER_BYTES} bytes of version {VERSION}")
        found[int.from_bytes(message[2:4], "little")].append(message)
    return dict(found)


def _layout(flags: int, tail: int) -> np.dtype[Any]:
    optional = [("subject", "u1", (ID_BYTES,))] * bool(flags & SUBJECT) + [("slot", "<u2")] * bool(flags & SLOT)
    return np.dtype([*_FIXED, *optional, ("tail", "u1", (tail,))])


_FIXED: list[Any] = [
    ("version", "u1"),
    ("flags", "u1"),
    ("round", "<u2"),
    ("length", "<u4"),
    ("member", "<u4"),
    ("digest", "u1", (ID_BYTES,)),
    ("id", "u1", (ID_BYTES,)),
]
HEADER_BYTES = np.dtype(_FIXED).itemsize


def _groups(data: bytes) -> list[npt.NDArray[Any]]:
    """Return rows of equal flags, round, length and digest."""
    if not data:
        return []
    whole = _uniform(data)
    if whole is not None:
        return [whole]
    pieces: dict[bytes, list[bytes]] = defaultdict(list)
    position = 0
    while position < len(data):
        piece = _cut(data, position)
        pieces[head(piece)].append(piece)
        position += len(piece)
    return [_rows_of(b"".join(group), len(group[0])) for group in pieces.values()]


def _uniform(data: bytes) -> npt.NDArray[Any] | None:
    first = _cut(data, 0)
    if len(data) % len(first):
        return None
    rows = np.frombuffer(data, np.uint8).reshape(-1, len(first))
    alike = (rows[:, :8] == rows[0, :8]).all() and (rows[:, 12:28] == rows[0, 12:28]).all()
    return _rows_of(data, len(first)) if alike else None


def _cut(data: bytes, position: int) -> bytes:
    length = int.from_bytes(data[position + 4 : position + 8], "little")
    piece = data[position : position + length]
    if len(piece) < HEADER_BYTES or len(piece) < length or piece[0] != VERSION:
        raise CodecError(f"an envelope of version {VERSION} is cut or malformed")
    return piece


def _rows_of(data: bytes, length: int) -> npt.NDArray[Any]:
    flags = data[1]
    if flags >= 2 * PUBLIC:
        raise CodecError("an envelope has unknown flags")
    tail = length - _layout(flags, 0).itemsize
    if tail < 0:
        raise CodecError("an envelope is shorter than its fields")
    return np.frombuffer(data, _layout(flags, tail))


def _open(rows: npt.NDArray[Any], width: int) -> Envelopes:
    flags, tails = int(rows["flags"][0]), rows["tail"]
    extra = tails.shape[1] - width
    if extra < 0 or (extra > 0) != bool(flags & PUBLIC):
        raise CodecError(f"the payload of this round has {width} bytes")
    return Envelopes(
        digest=rows["digest"][0].tobytes(),
        round=int(rows["round"][0]),
        members=rows["member"].astype(np.int64),
        ids=rows["id"],
        payloads=tails[:, extra:],
        subjects=rows["subject"] if flags & SUBJECT else None,
        slots=rows["slot"].astype(np.int64) if flags & SLOT else None,
        public=tuple(tail.tobytes() for tail in tails[:, :extra]) if flags & PUBLIC else (),
    )
