"""Envelopes: the bytes around a packed report, which say nothing about the person who sent it.

The first byte of an envelope is the number of its version.  A ``Version`` lists the fields of an
envelope; one process reads every version in ``VERSIONS``.  All messages of a task have one version,
``version_of(task)``.  Version 1 is, with little-endian numbers:

    version u8 | flags u8 | round u16 | length u32 | member u32 | task digest 16 | report id 16
    [subject 16] [slot u16] [public: canonical JSON] | payload

Version 2 is the same with the whole fingerprint, 32 bytes, as the task digest.  Sealed messages are
bound to these 32 bytes too (``wire/seal.py``).

``length`` counts the whole envelope, so that envelopes can follow one another: the message of a
bundle has one per slot.  The fields in brackets are legal only where the task declares them (a
slot: where the round has a bundle), and ``flags`` says which are there.  The payload is padded with
zeros to the width of the round, whichever member answered.

Envelopes that agree in everything of the header but member and report id have one shape.  They are
read together, as arrays over reports.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Bytes, Ints
from sottovoce.errors import CodecError, ParameterError

SUBJECT = 1
SLOT = 2
PUBLIC = 4
ID_BYTES = 16  # of a report id and of a subject

_OF_ONE_REPORT = ("member", "id")  # the fields of a header that differ within a shape


@dataclass(frozen=True)
class Field:
    """A field of fixed width: a little-endian number, or bytes."""

    name: str
    width: int  # in bytes
    is_number: bool = False
    flag: int = 0  # the flag that says that the field is there; 0 for a field of the header

    @property
    def dtype(self) -> tuple[Any, ...]:
        """Return the field as an entry of a structured NumPy type."""
        if self.is_number:
            return (self.name, f"<u{self.width}")
        return (self.name, "u1", (self.width,))


@dataclass(frozen=True)
class Version:
    """How envelopes of one version are laid out: their fields in order, those of the header first.

    Behind the fields come the public part, if the flags say so, and the payload.
    """

    number: int
    fields: tuple[Field, ...]

    @cached_property
    def header(self) -> tuple[Field, ...]:
        """Return the fields that every envelope has."""
        return tuple(field for field in self.fields if not field.flag)

    @cached_property
    def header_bytes(self) -> int:
        """Return the width of the header."""
        return sum(field.width for field in self.header)

    @cached_property
    def digest_bytes(self) -> int:
        """Return how many bytes of a task's fingerprint an envelope carries."""
        positions = self._positions["digest"]
        return int(positions.stop - positions.start)

    @cached_property
    def known_flags(self) -> int:
        """Return all flags that an envelope may have."""
        return PUBLIC | sum(field.flag for field in self.fields)

    def task_digest(self, fingerprint: bytes) -> bytes:
        """Return the digest in the envelopes of a task: the beginning of its fingerprint."""
        return fingerprint[: self.digest_bytes]

    def field_bytes(self, flags: int) -> int:
        """Return the width of all fields that are there under some flags."""
        return sum(field.width for field in self._present(flags))

    def write(self, flags: int, values: Mapping[str, Any]) -> bytes:
        """Return the fields of one envelope that are there under some flags."""
        return b"".join(
            values[field.name].to_bytes(field.width, "little")
            if field.is_number
            else values[field.name]
            for field in self._present(flags)
        )

    def dtype(self, flags: int, tail_bytes: int) -> np.dtype[Any]:
        """Return an envelope as a NumPy type; the tail is what comes behind the fields."""
        entries = [field.dtype for field in self._present(flags)]
        return np.dtype([*entries, ("tail", "u1", (tail_bytes,))])

    def read_number(self, name: str, header: bytes) -> int:
        """Return a number of a header."""
        return int.from_bytes(header[self._positions[name]], "little")

    def read_bytes(self, name: str, header: bytes) -> bytes:
        """Return the bytes of a field of a header."""
        return header[self._positions[name]]

    @cached_property
    def shape(self) -> Callable[[bytes], Hashable]:
        """Return a function that gives what all envelopes of one shape have in common."""
        return itemgetter(*self._shared)

    def same_shape(self, rows: Bytes) -> bool:
        """Return whether envelopes, one a row, all have the shape of the first."""
        return all((rows[:, positions] == rows[0, positions]).all() for positions in self._shared)

    def _present(self, flags: int) -> list[Field]:
        return [field for field in self.fields if not field.flag or flags & field.flag]

    @cached_property
    def _positions(self) -> dict[str, slice]:
        """Return where in an envelope each field of the header stands."""
        positions = {}
        start = 0
        for field in self.header:
            positions[field.name] = slice(start, start + field.width)
            start += field.width
        return positions

    @cached_property
    def _shared(self) -> tuple[slice, ...]:
        """Return where the fields stand that a shape has in common; neighbours as one."""
        joined: list[slice] = []
        for name, positions in self._positions.items():
            if name in _OF_ONE_REPORT:
                continue
            if joined and joined[-1].stop == positions.start:
                joined[-1] = slice(joined[-1].start, positions.stop)
            else:
                joined.append(positions)
        return tuple(joined)


def _layout(digest_bytes: int) -> tuple[Field, ...]:
    """Return the fields of versions 1 and 2, which differ in the width of the digest."""
    return (
        Field("version", 1, is_number=True),
        Field("flags", 1, is_number=True),
        Field("round", 2, is_number=True),
        Field("length", 4, is_number=True),
        Field("member", 4, is_number=True),
        Field("digest", digest_bytes),
        Field("id", ID_BYTES),
        Field("subject", ID_BYTES, flag=SUBJECT),
        Field("slot", 2, is_number=True, flag=SLOT),
    )


VERSION_1 = Version(1, _layout(digest_bytes=16))
VERSION_2 = Version(2, _layout(digest_bytes=32))
VERSIONS = {VERSION_1.number: VERSION_1, VERSION_2.number: VERSION_2}


class Enveloped(Protocol):
    """A task or its notice: what says which version its envelopes have."""

    @property
    def envelope_version(self) -> int:
        """Return the number of the version."""


def version_of(task: Enveloped) -> Version:
    """Return the version of the envelopes of a task."""
    return VERSIONS[task.envelope_version]


@dataclass(frozen=True)
class Header:
    """What the headers of all envelopes of one shape say."""

    version: Version
    flags: int
    round: int
    length: int
    digest: bytes


@dataclass(frozen=True)
class Envelope:
    """One envelope, as a device writes it: the same bytes as ``Envelopes`` of one report."""

    digest: bytes
    round: int
    member: int
    id: bytes
    payload: bytes
    subject: bytes | None = None
    slot: int | None = None
    public: bytes = b""
    version: Version = VERSION_1

    def write(self) -> bytes:
        """Return the bytes of the envelope."""
        flags = PUBLIC if self.public else 0
        flags |= SUBJECT if self.subject is not None else 0
        flags |= SLOT if self.slot is not None else 0
        tail = self.public + self.payload
        values = {
            "version": self.version.number,
            "flags": flags,
            "round": self.round,
            "length": self.version.field_bytes(flags) + len(tail),
            "member": self.member,
            "digest": self.digest,
            "id": self.id,
            "subject": self.subject,
            "slot": self.slot,
        }
        return self.version.write(flags, values) + tail


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
    public: tuple[bytes, ...] = ()
    version: Version = VERSION_1

    def __post_init__(self) -> None:
        if len(self.digest) != self.version.digest_bytes:
            raise ParameterError(
                f"`digest` must have {self.version.digest_bytes} bytes"
                f" in an envelope of version {self.version.number}"
            )

    def __len__(self) -> int:
        return len(self.members)

    @property
    def flags(self) -> int:
        """Return which optional fields are there."""
        flags = 0
        if self.subjects is not None:
            flags |= SUBJECT
        if self.slots is not None:
            flags |= SLOT
        if self.public:
            flags |= PUBLIC
        return flags

    @property
    def sizes(self) -> Ints:
        """Return the bytes of every envelope."""
        sizes = np.full(len(self), self.version.field_bytes(self.flags) + self.payloads.shape[1])
        if self.public:
            sizes += np.array([len(text) for text in self.public])
        return sizes

    def write(self) -> bytes:
        """Return the envelopes one after another."""
        if self.public:
            return b"".join(self._write_one(index) for index in range(len(self)))
        return self._structured(self.payloads).tobytes()

    def take(self, chosen: npt.NDArray[Any]) -> "Envelopes":
        """Return some of the envelopes."""
        public = self.public
        if public:
            public = tuple(public[index] for index in np.arange(len(self))[chosen])
        return replace(
            self,
            members=self.members[chosen],
            ids=self.ids[chosen],
            payloads=self.payloads[chosen],
            subjects=None if self.subjects is None else self.subjects[chosen],
            slots=None if self.slots is None else self.slots[chosen],
            public=public,
        )

    def _write_one(self, index: int) -> bytes:
        tail = np.frombuffer(self.public[index] + self.payloads[index].tobytes(), np.uint8)
        return self.take(np.array([index]))._structured(tail[None, :]).tobytes()

    def _structured(self, tails: Bytes) -> npt.NDArray[Any]:
        """Return envelopes with these tails, one entry each."""
        dtype = self.version.dtype(self.flags, tails.shape[1])
        envelopes = np.zeros(len(self), dtype)
        envelopes["version"] = self.version.number
        envelopes["flags"] = self.flags
        envelopes["round"] = self.round
        envelopes["length"] = dtype.itemsize
        envelopes["member"] = self.members
        envelopes["digest"] = np.frombuffer(self.digest, np.uint8)
        envelopes["id"] = self.ids
        if self.subjects is not None:
            envelopes["subject"] = self.subjects
        if self.slots is not None:
            envelopes["slot"] = self.slots
        envelopes["tail"] = tails
        return envelopes


@dataclass(frozen=True, eq=False)
class ShapeGroup:
    """Messages of one shape: as many envelopes each, and the same headers in the same order.

    ``headers`` are those of one message, and none if the messages are not made of whole envelopes.
    ``indices`` says which of all messages these are; ``rows`` are their bytes, one message a row.
    """

    headers: tuple[Header, ...]
    indices: Ints
    rows: Bytes

    def envelopes(self, width: int) -> list[Envelopes]:
        """Return the first envelope of every message, then the second of every message, ..."""
        opened = []
        start = 0
        for header in self.headers:
            rows = self.rows[:, start : start + header.length]
            opened.append(_open(header, rows, width))
            start += header.length
        return opened


def flags_of_task(declares: Collection[str], slots: int) -> int:
    """Return the flags of the envelopes of a task whose round has so many slots."""
    flags = 0
    if "subject" in declares:
        flags |= SUBJECT
    if slots > 1:
        flags |= SLOT
    if "public" in declares:
        flags |= PUBLIC
    return flags


def header(data: bytes) -> Header:
    """Return the header of the envelope that some bytes begin with, or refuse them."""
    version, envelope = _cut(data, 0)
    flags = version.read_number("flags", envelope)
    if flags & ~version.known_flags:
        raise CodecError("an envelope has unknown flags")
    return Header(
        version=version,
        flags=flags,
        round=version.read_number("round", envelope),
        length=len(envelope),
        digest=version.read_bytes("digest", envelope),
    )


def read(messages: Iterable[bytes], width: int) -> list[Envelopes]:
    """Return the envelopes in the messages, grouped by shape.

    ``width`` is that of the round's payload.  Bytes that are not whole envelopes are refused.
    """
    data = b"".join(messages)
    if not data:
        return []
    first = header(data)
    if len(data) % first.length == 0:
        rows = np.frombuffer(data, np.uint8).reshape(-1, first.length)
        if first.version.same_shape(rows):
            return [_open(first, rows, width)]
    shapes: dict[Hashable, list[bytes]] = defaultdict(list)
    for version, envelope in _all(data):
        shapes[version.shape(envelope)].append(envelope)
    return [_open(header(group[0]), _stacked(group), width) for group in shapes.values()]


def by_round(messages: Iterable[bytes]) -> dict[int, list[bytes]]:
    """Return the messages by the number of their round, which their first envelope states."""
    rounds: dict[int, list[bytes]] = defaultdict(list)
    for message in messages:
        version = _version_of(message, 0)
        if len(message) < version.header_bytes:
            raise CodecError(f"an envelope must have at least {version.header_bytes} bytes")
        rounds[version.read_number("round", message)].append(message)
    return dict(rounds)


def by_shape(messages: Sequence[bytes]) -> Iterator[ShapeGroup]:
    """Yield the messages grouped by shape; those of a malformed group have no headers."""
    if len(set(map(len, messages))) == 1:  # what honest devices send, nearly always
        yield from _of_one_length(messages, np.arange(len(messages)))
        return
    lengths: dict[int, list[int]] = defaultdict(list)
    for index, message in enumerate(messages):
        lengths[len(message)].append(index)
    for indices in lengths.values():
        yield from _of_one_length([messages[index] for index in indices], np.asarray(indices))


def _of_one_length(messages: Sequence[bytes], indices: Ints) -> Iterator[ShapeGroup]:
    """Yield messages of one length grouped by shape: as one group at once, if that is possible."""
    headers = _headers(messages[0])
    rows = _stacked(messages)
    if headers and _same_shape(headers, rows):
        yield ShapeGroup(headers, indices, rows)
        return
    shapes: dict[Hashable, list[int]] = defaultdict(list)
    for row, message in enumerate(messages):
        shapes[_message_shape(message)].append(row)
    for shape, chosen in shapes.items():
        shared = () if shape is None else _headers(messages[chosen[0]])
        yield ShapeGroup(shared, indices[chosen], rows[chosen])


def _same_shape(headers: Sequence[Header], rows: Bytes) -> bool:
    """Return whether all messages, one a row, have the headers of the first."""
    start = 0
    for shared in headers:
        if not shared.version.same_shape(rows[:, start : start + shared.length]):
            return False
        start += shared.length
    return True


def _headers(message: bytes) -> tuple[Header, ...]:
    """Return the headers of a message; none if it is malformed or empty."""
    try:
        return tuple(header(envelope) for _, envelope in _all(message))
    except CodecError:
        return ()


def _message_shape(message: bytes) -> Hashable:
    """Return what all messages of one shape have in common; None for a malformed or empty one."""
    if not message or message[0] not in VERSIONS:
        return None
    version = VERSIONS[message[0]]
    if len(message) == version.read_number("length", message) >= version.header_bytes:
        return version.shape(message)  # nearly all messages are one envelope
    try:
        return tuple(version.shape(envelope) for version, envelope in _all(message))
    except CodecError:
        return None


def _all(data: bytes) -> Iterator[tuple[Version, bytes]]:
    """Yield the envelopes that follow one another, each with its version."""
    position = 0
    while position < len(data):
        version, envelope = _cut(data, position)
        yield version, envelope
        position += len(envelope)


def _cut(data: bytes, position: int) -> tuple[Version, bytes]:
    """Return the envelope at a position and its version, or refuse one that is not whole."""
    version = _version_of(data, position)
    length = version.read_number("length", data[position : position + version.header_bytes])
    envelope = data[position : position + length]
    if length < version.header_bytes or len(envelope) < length:
        raise CodecError("an envelope is cut, or states a wrong length")
    return version, envelope


def _version_of(data: bytes, position: int) -> Version:
    number = data[position] if position < len(data) else None
    if number not in VERSIONS:
        known = ", ".join(map(str, sorted(VERSIONS)))
        raise CodecError(f"an envelope must begin with the number of a known version: {known}")
    return VERSIONS[number]


def _stacked(messages: Sequence[bytes]) -> Bytes:
    """Return messages of one length as the rows of an array."""
    return np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), len(messages[0]))


def _open(shared: Header, rows: Bytes, width: int) -> Envelopes:
    """Return envelopes of one shape, one a row, whose payloads have ``width`` bytes."""
    flags = shared.flags
    tail_bytes = shared.length - shared.version.field_bytes(flags)
    if tail_bytes < 0:
        raise CodecError("an envelope is shorter than its fields")
    public_bytes = tail_bytes - width
    if public_bytes < 0 or (public_bytes > 0) != bool(flags & PUBLIC):
        raise CodecError(f"the payload of this round must have {width} bytes")
    dtype = shared.version.dtype(flags, tail_bytes)
    envelopes = np.ascontiguousarray(rows).view(dtype).ravel()
    tails = envelopes["tail"]
    public: tuple[bytes, ...] = ()
    if flags & PUBLIC:
        public = tuple(text.tobytes() for text in tails[:, :public_bytes])
    return Envelopes(
        digest=shared.digest,
        round=shared.round,
        members=envelopes["member"].astype(np.int64),
        ids=envelopes["id"],
        payloads=tails[:, public_bytes:],
        subjects=envelopes["subject"] if flags & SUBJECT else None,
        slots=envelopes["slot"].astype(np.int64) if flags & SLOT else None,
        public=public,
        version=shared.version,
    )
