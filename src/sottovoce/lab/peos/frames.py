"""What the processes of a batch write to their connections: frames of a known length.

A connection begins with the token of the run, so that a stranger on the same machine gets no
further.  Then come frames: four bytes of length, and MessagePack of a tag and a body.  Connections
are not encrypted: they are for the loopback interface alone.
"""

import asyncio
import hmac
from typing import Any, TypeAlias

from sottovoce.errors import AccessError, CodecError
from sottovoce.lab.peos.eos_extra import needs_eos
from sottovoce.lab.peos.party import PartyMessage
from sottovoce.lab.peos.submissions import ShareSubmission

TOKEN_BYTES = 32
MAX_FRAME_BYTES = 1 << 31

_LENGTH_BYTES = 4
_MESSAGE = "message"
_SUBMISSION = "submission"
_CLOSE = "close"


class Closed:
    """The frame that says that no user submits any more."""


Frame: TypeAlias = PartyMessage | ShareSubmission | Closed


def packed_frame(frame: Frame) -> bytes:
    """Return a frame as bytes."""
    with needs_eos():
        import msgspec
    body: tuple[str, Any]
    if isinstance(frame, PartyMessage):
        body = (_MESSAGE, frame)
    elif isinstance(frame, ShareSubmission):
        body = (_SUBMISSION, frame)
    else:
        body = (_CLOSE, None)
    data = msgspec.msgpack.encode(body)
    return len(data).to_bytes(_LENGTH_BYTES, "little") + data


def unpacked_frame(data: bytes) -> Frame:
    """Return the frame in some bytes, without their length; anything else is refused."""
    with needs_eos():
        import msgspec
    try:
        tag, body = msgspec.msgpack.decode(data, type=tuple[str, msgspec.Raw])
        if tag == _MESSAGE:
            return msgspec.msgpack.decode(body, type=PartyMessage)
        if tag == _SUBMISSION:
            return msgspec.msgpack.decode(body, type=ShareSubmission)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CodecError("a frame is malformed") from error
    if tag != _CLOSE:
        raise CodecError("a frame has an unknown tag")
    return Closed()


async def read_token(reader: asyncio.StreamReader, token: bytes) -> None:
    """Refuse a connection that does not begin with the token of the run."""
    try:
        presented = await reader.readexactly(TOKEN_BYTES)
    except asyncio.IncompleteReadError:
        presented = b""
    if not hmac.compare_digest(presented, token):
        raise AccessError("a connection must begin with the token of the run")


async def read_frame(reader: asyncio.StreamReader) -> Frame | None:
    """Return the next frame, or nothing at the end of the connection."""
    try:
        length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "little")
        if length > MAX_FRAME_BYTES:
            raise CodecError(f"a frame must have at most {MAX_FRAME_BYTES} bytes")
        return unpacked_frame(await reader.readexactly(length))
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise CodecError("a connection ended within a frame") from None
        return None
