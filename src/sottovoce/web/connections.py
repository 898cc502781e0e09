"""Connections that send no complete request: a deadline for headers, and a bound on their number.

Uvicorn waits for ever for the headers of a request.  This protocol gives every connection a number
of seconds, from the moment it is made or sends the first byte of a further request until the
headers are complete, and a number of bytes for them.  If too many connections wait at once the
oldest is closed, so that whoever opens many of them gets in their own way first.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEADER_BYTES = 1 << 16  # of one request


class WaitingConnections:
    """The connections of a process that owe the headers of a request, the oldest first."""

    def __init__(self, seconds: float, max_count: int) -> None:
        self._seconds = seconds
        self._max_count = max_count
        self._timers: dict[TimedProtocol, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._timers)

    def add(self, connection: "TimedProtocol") -> None:
        """Start the time of a connection, unless it runs already."""
        if connection in self._timers:
            return
        timer = connection.loop.call_later(self._seconds, self._close, connection)
        self._timers[connection] = timer
        if len(self._timers) > self._max_count:
            self._close(next(iter(self._timers)))

    def remove(self, connection: "TimedProtocol") -> None:
        """Stop the time of a connection: its headers are complete, or it is gone."""
        timer = self._timers.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def _close(self, connection: "TimedProtocol") -> None:
        self.remove(connection)
        connection.transport.abort()


class TimedProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with a deadline for the headers of every request."""

    def __init__(self, waiting: WaitingConnections, **given: Any) -> None:
        super().__init__(**given)
        self._waiting = waiting
        self._header_bytes = 0  # that came without completing the headers of a request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting.add(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        idle = self.cycle is None or self.cycle.response_complete
        if not idle or self.transport.is_closing():
            return
        self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES:
            self.transport.abort()
        else:
            self._waiting.add(self)

    def on_headers_complete(self) -> None:
        self._header_bytes = 0
        self._waiting.remove(self)
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.remove(self)
        super().connection_lost(exc)
