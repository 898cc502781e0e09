"""Bodies of requests: how large, how slow and how many at once they may be.

A body is counted as it arrives.  It must be complete before its deadline, no larger than allowed,
and all bodies that the process holds at once share one budget of bytes, of which a single address
may use a quarter.  What a request claims in ``Content-Length`` is checked before anything is read,
but only bytes that have arrived take from the budget: a claim costs nothing to make.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any

from starlette.types import Message, Receive, Scope

from sottovoce.errors import SottovoceError
from sottovoce.web.limits import address_of
from sottovoce.web.problems import RequestError

_DIGITS = 18  # most digits of a content length that is read as a number
_DRAINED_BYTES = 1 << 16  # an unwanted body is read to its end if it has at most so many bytes
_ADDRESS_PART = 4


class BodyLimits:
    """Limits of request bodies in a process.

    ``max_body`` is the size of one body and ``max_held`` that of all bodies in memory, in bytes.
    ``seconds`` is the time for receiving one body.
    """

    def __init__(self, max_body: int, max_held: int, seconds: float) -> None:
        self.max_body = max_body
        self.seconds = seconds
        self._max_held = max_held
        self._max_of_address = max(max_held // _ADDRESS_PART, max_body)
        self._of_addresses: Counter[str] = Counter()
        self.bytes_in_memory = 0  # bytes of all bodies at this moment

    def take(self, address: str, size: int) -> None:
        """Count bytes that an address sends, or refuse them."""
        of_address = self._of_addresses[address] + size
        if self.bytes_in_memory + size > self._max_held or of_address > self._max_of_address:
            raise RequestError("busy", "too many bytes are being received at once", retry_after=1.0)
        self.bytes_in_memory += size
        self._of_addresses[address] = of_address

    def allow_short(self, stated: bytes | None) -> bool:
        """Return whether a content length is that of a short body that is not too large."""
        return stated is not None and is_short(stated) and int(stated) <= self.max_body

    def too_slow(self) -> RequestError:
        """Return the error for a body that arrives too slowly."""
        return RequestError("too-slow", f"a body must arrive within {self.seconds:g} seconds")

    def give_back(self, address: str, size: int) -> None:
        """Return the bytes of a request that is over."""
        self.bytes_in_memory -= size
        self._of_addresses[address] -= size
        if self._of_addresses[address] <= 0:
            del self._of_addresses[address]


class Body:
    """The body of one request: the channel that the service reads it from, with its limits."""

    def __init__(self, limits: BodyLimits, scope: Scope, receive: Receive) -> None:
        self._limits = limits
        self._receive = receive
        self._address = address_of(scope)
        headers: dict[bytes, bytes] = dict(scope["headers"])
        self._stated = headers.get(b"content-length")
        self._chunked = b"transfer-encoding" in headers
        self._timer: asyncio.TimerHandle | None = None
        self._expired = False
        self._reader: asyncio.Task[Any] | None = None  # who waits for the next piece
        self._size = 0
        self._ended = False

    async def receive(self) -> Message:
        """Return the next piece; refuses a body that is too large, too slow or one too many."""
        if self._ended:
            return await self._receive()
        message = await self._before_deadline()
        if message["type"] == "http.disconnect":
            self._end()
            return message
        size = len(message.get("body", b""))
        if self._size + size > self._limits.max_body:
            self._refuse_size()
        self._limits.take(self._address, size)
        self._size += size
        if not message.get("more_body", False):
            self._end()
        return message

    def _end(self) -> None:
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()

    async def _before_deadline(self) -> Message:
        """Return the next message of the server, or refuse a body that arrives too slowly.

        One timer serves the whole body.  ``asyncio.timeout`` for every piece would take four times
        as long, in every upload.
        """
        if self._timer is None:
            self._check_stated()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._limits.seconds, self._expire)
        if not self._expired:
            self._reader = asyncio.current_task()
            try:
                return await self._receive()
            except asyncio.CancelledError:
                if not self._expired or (self._reader is not None and self._reader.uncancel()):
                    raise  # another task cancelled the request
            finally:
                self._reader = None
        raise self._limits.too_slow()

    def _expire(self) -> None:
        self._expired = True
        if self._reader is not None:
            self._reader.cancel()

    async def drain(self) -> bool:
        """Read the rest of a short body that nobody wants; return whether it has come to its end.

        A connection on which it has not cannot be used for another request.
        """
        if not self._ended and not self._stated and not self._chunked:
            return True  # a request without a body
        if self._chunked or not is_short(self._stated):
            return self._ended
        with suppress(SottovoceError):
            while not self._ended:
                await self.receive()
        return self._ended

    def close(self) -> None:
        """Return the bytes to the budget: the request is over."""
        if self._timer is not None:
            self._timer.cancel()
        self._limits.give_back(self._address, self._size)
        self._size = 0

    def _check_stated(self) -> None:
        if self._stated is None:
            return
        if not self._stated.isdigit():
            raise RequestError("malformed-request", "the content length is not a number of bytes")
        if len(self._stated) > _DIGITS or int(self._stated) > self._limits.max_body:
            self._refuse_size()

    def _refuse_size(self) -> None:
        raise RequestError("too-large", f"a body has at most {self._limits.max_body} bytes")


def is_short(stated: bytes | None) -> bool:
    """Return whether a content length is that of a body which is read to its end in any case.

    >>> is_short(b"100"), is_short(b"100000000"), is_short(b"x"), is_short(None)
    (True, False, False, False)
    """
    if stated is None or not stated.isdigit() or len(stated) > _DIGITS:
        return False
    return int(stated) <= _DRAINED_BYTES


async def whole(receive: Receive) -> bytes:
    """Return a whole body; the channel itself keeps the limits."""
    pieces = []
    has_more = True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestError("malformed-request", "the body was cut")
        pieces.append(message.get("body", b""))
        has_more = message.get("more_body", False)
    return b"".join(pieces)
