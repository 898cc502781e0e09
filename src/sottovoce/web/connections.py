"""Connections that send no complete request: a deadline for headers, and a bound on their number.

Uvicorn waits for the headers of a request without a deadline.  This protocol limits the size of the
headers, and the time until they are complete.  The time begins when the connection is made or sends
the first byte of a further request.  If too many connections wait at once, the oldest is closed: an
attacker who opens many connections first loses their own.

Plain, short requests of a ``CallbackRoute`` (``direct.py``) are served here, without ASGI.
"""

import asyncio
from typing import Any, cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from sottovoce.web.bodies import BodyLimits
from sottovoce.web.direct import CallbackRoute, DirectRequest, Reply

MAX_HEADER_BYTES = 1 << 16  # of one request


class WaitingConnections:
    """The connections of a process whose headers are not complete yet, the oldest first."""

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
    """Uvicorn's protocol with a deadline for the headers of every request.

    ``direct`` serves requests without ASGI.
    """

    def __init__(
        self, waiting: WaitingConnections, direct: CallbackRoute | None, **given: Any
    ) -> None:
        super().__init__(**given)
        self._waiting = waiting
        self._direct = direct
        self._request: DirectRequest | None = None  # whose body is coming
        self._header_bytes = 0  # that came without completing the headers of a request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting.add(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._request is not None:
            self._request.wait(self.loop)
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
        self._request = self._begun()
        if self._request is None:
            super().on_headers_complete()
        else:
            self.cycle = self._request  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        if self._request is None:
            super().on_body(body)
        else:
            self._request.add(body)

    def on_message_complete(self) -> None:
        if self._request is None:
            super().on_message_complete()
            return
        request = self._request
        self._request = None
        if not request.response_complete:  # its time may have been over before
            request.complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.remove(self)
        if self._request is not None:
            self._request.abandon()
        super().connection_lost(exc)

    def _begun(self) -> DirectRequest | None:
        """Return the request whose headers are complete, if it is served without ASGI."""
        if self._direct is None or not self._is_plain(self._direct.bodies):
            return None
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["path"] = self.root_path + self.url.decode("latin-1")
        scope = cast(Scope, self.scope)
        exchange = self._direct.begin(scope)
        if exchange is None:
            return None
        keep_alive = self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive()
        return DirectRequest(
            exchange, self._direct.bodies, scope, self._reply, keep_alive=keep_alive
        )

    def _is_plain(self, limits: BodyLimits) -> bool:
        """Return whether the request has a short body, and nothing of its connection is unusual.

        Uvicorn itself sees to requests that wait behind others, to connections that nobody reads
        from, and to servers with too many of them.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            return False
        if self.expect_100_continue or self.parser.should_upgrade() or self.flow.write_paused:
            return False
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            return False
        headers = dict(self.headers)
        length = headers.get(b"content-length")
        return b"transfer-encoding" not in headers and limits.allow_short(length)

    def _reply(self, reply: Reply, keep_alive: bool) -> None:
        """Write the answer to a request that is served without ASGI."""
        if self.transport.is_closing():
            return
        lines = [STATUS_LINE[reply.status]]
        for name, value in [*self.server_state.default_headers, *reply.headers]:
            lines += (name, b": ", value, b"\r\n")
        if not keep_alive:
            lines.append(b"connection: close\r\n")
        lines += (b"\r\n", reply.body)
        self.transport.write(b"".join(lines))
        if not keep_alive:
            self.transport.close()
        self.on_response_complete()
