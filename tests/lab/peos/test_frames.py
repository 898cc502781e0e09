"""Frames: what travels between processes comes back, and nothing else is taken."""

import asyncio

import pytest

from sottovoce.errors import AccessError, CodecError
from sottovoce.lab.peos.frames import (
    Closed,
    packed_frame,
    read_frame,
    read_token,
    unpacked_frame,
)
from sottovoce.lab.peos.party import PartyMessage
from sottovoce.lab.peos.submissions import ShareSubmission

MESSAGE = PartyMessage(1, 2, "hide", 3, b"\0\xff", True, 2)
SUBMISSION = ShareSubmission(bytes(16), b"share")


def stream(data):
    """Return a reader at whose end the connection was closed."""
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


def read_all(data):
    async def read():
        reader = stream(data)
        frames = []
        while (frame := await read_frame(reader)) is not None:
            frames.append(frame)
        return frames

    return asyncio.run(read())


def test_frames_come_back():
    packed = b"".join(map(packed_frame, (MESSAGE, SUBMISSION, Closed())))
    message, submission, closed = read_all(packed)
    assert message == MESSAGE
    assert submission == SUBMISSION
    assert isinstance(closed, Closed)


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\xc1",
        packed_frame(MESSAGE)[4:-1],
        b"\x92\xa5other\xc0",
        b"\x92\xa7message\xc0",
        packed_frame(SUBMISSION)[4:].replace(b"submission", b"message\xa0\xa0"),
    ],
)
def test_anything_else_is_refused(broken):
    with pytest.raises(CodecError, match="a frame"):
        unpacked_frame(broken)


def test_a_connection_that_ends_within_a_frame_is_refused():
    with pytest.raises(CodecError, match="within a frame"):
        read_all(packed_frame(MESSAGE)[:-1])


def test_a_frame_that_is_too_long_is_refused():
    with pytest.raises(CodecError, match="at most"):
        read_all(b"\xff\xff\xff\xff")


def test_a_connection_begins_with_the_token():
    token = bytes(range(32))

    async def read(presented):
        await read_token(stream(presented), token)

    asyncio.run(read(token))
    for wrong in (bytes(32), token[:-1], b""):
        with pytest.raises(AccessError, match="token of the run"):
            asyncio.run(read(wrong))
