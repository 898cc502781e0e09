"""Uploads of messages: the receipt, the two formats, and what each message costs its sender."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from sottovoce.web.limits import RateLimit
from sottovoce.web.problems import CATALOGUE, RequestError

MAX_REPORTS = 1_000  # messages in one upload
JSON = "application/json"
MSGPACK = "application/msgpack"
DUPLICATE = "duplicate"  # the verdict about a message that was here before: acknowledged again

Count = Annotated[int, Meta(ge=0)]


class RefusedMessage(Struct):
    """A message that was refused, why, and whether the same bytes may succeed later."""

    index: Count
    code: str
    retry: bool


class UploadReceipt(Struct):
    """The verdicts on the messages of an upload; accepted ones and duplicates are durable."""

    accepted: Count
    duplicates: Count
    refused: list[RefusedMessage]


def receipt(codes: Mapping[int, str], start: int, end: int) -> UploadReceipt:
    """Return the receipt of the messages from ``start`` to ``end``.

    ``codes`` has the verdict on every message that was not simply accepted, by its index.
    """
    if not codes:
        return UploadReceipt(accepted=end - start, duplicates=0, refused=[])
    duplicates = 0
    refused = []
    for index in range(start, end):
        code = codes.get(index)
        if code == DUPLICATE:
            duplicates += 1
        elif code is not None:
            refused.append(RefusedMessage(index - start, code, CATALOGUE[code].retry))
    return UploadReceipt(end - start - duplicates - len(refused), duplicates, refused)


def media_type(content_type: str) -> str:
    """Return the format of an upload, or refuse one that is not supported."""
    media = content_type.split(";")[0].strip().lower()
    if media not in (JSON, MSGPACK):
        raise RequestError("unsupported-media", f"this route reads {JSON} and {MSGPACK}")
    return media


def answer_type(accepted: str, sent: str) -> str:
    """Return the media type of the answer: what the client accepts, or what it sent."""
    if not accepted or "*/*" in accepted:
        return sent
    return MSGPACK if MSGPACK in accepted else JSON


def pay(limit: RateLimit, address: str, message_count: int) -> None:
    """Take a token of the rate limit for every message; the door has taken the first one."""
    if message_count > limit.capacity:
        detail = f"a request has at most {limit.capacity:.0f} reports at this collector's rate"
        raise RequestError("too-large", detail)
    wait = limit.wait(address, message_count - 1, paid=1)
    if wait:
        raise RequestError("slow-down", retry_after=wait)


def decoded(decoder: Any, body: bytes) -> Any:
    """Return the decoded body, or refuse it without quoting it."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # The decoder's own words may quote the body.
        raise RequestError("malformed-request") from None


_json = msgspec.json.Encoder()
_msgpack = msgspec.msgpack.Encoder()


def as_json(body: Any) -> bytes:
    """Return a body as JSON."""
    return _json.encode(body)


def as_msgpack(body: Any) -> bytes:
    """Return a body as MessagePack."""
    return _msgpack.encode(body)
