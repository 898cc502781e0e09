"""Short requests that are served without ASGI, from the callbacks of their connection.

ASGI gives every request a task, an event and a dozen coroutines.  For an upload of one report they
cost more than all other work.  The protocol of a connection (``connections.py``) therefore collects
the body of a plain, short request itself.  It passes the complete body to a ``CallbackRoute``,
which answers by a callback, either at once or when the reports are durable.

The route decides when it has the head of a request.  All other requests go through ASGI, where the
same functions make the same checks.
"""

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from typing import NamedTuple, Protocol

from starlette.responses import Response
from starlette.types import Scope

from sottovoce.errors import SottovoceError
from sottovoce.web.bodies import BodyLimits
from sottovoce.web.limits import address_of


class Reply(NamedTuple):
    """The answer to a request."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @classmethod
    def of(cls, response: Response) -> "Reply":
        """Return the content of a response."""
        return cls(response.status_code, response.raw_headers, bytes(response.body))


Answer = Callable[[Reply], None]


class Exchange(Protocol):
    """One request whose head has been seen; it is answered once, by one of the two."""

    def serve(self, body: bytes, answer: Answer) -> None:
        """Serve the request with its whole body."""

    def refuse(self, error: SottovoceError, answer: Answer) -> None:
        """Answer with a problem: the body is too slow, or one too many."""


class CallbackRoute(Protocol):
    """A route that serves some requests without ASGI."""

    @property
    def bodies(self) -> BodyLimits:
        """Return the limits of bodies, those that go through ASGI included."""

    def begin(self, scope: Scope) -> Exchange | None:
        """Return the exchange for a request with this head; None if it must go through ASGI."""


class _NobodyWaits:
    """An event that uvicorn sets when a connection is lost."""

    def set(self) -> None:
        """Do nothing."""


_NOBODY_WAITS = _NobodyWaits()


class DirectRequest:
    """A request that is answered when its body is complete.

    It takes the place of uvicorn's request-response cycle, and therefore has the same attributes.
    ``send`` writes a reply, and closes the connection unless it is kept alive.
    """

    def __init__(
        self,
        exchange: Exchange,
        limits: BodyLimits,
        scope: Scope,
        send: Callable[[Reply, bool], None],
        *,
        keep_alive: bool,
    ) -> None:
        self._exchange = exchange
        self._limits = limits
        self._address = address_of(scope)
        self._send = send
        self._pieces: list[bytes] = []
        self._size = 0
        self._refusal: SottovoceError | None = None
        self._timer: TimerHandle | None = None
        self.keep_alive = keep_alive
        self.response_complete = False
        self.disconnected = False
        self.message_event = _NOBODY_WAITS

    def add(self, piece: bytes) -> None:
        """Take a piece of the body, or remember why it is refused."""
        if self._refusal is not None or self.response_complete:
            return
        try:
            self._limits.take(self._address, len(piece))
        except SottovoceError as error:
            self._refusal = error
            return
        self._size += len(piece)
        self._pieces.append(piece)

    def complete(self) -> None:
        """Serve the request: its body is here."""
        self._stop_timer()
        if self._refusal is not None:
            self._exchange.refuse(self._refusal, self._answer)
        else:
            self._exchange.serve(b"".join(self._pieces), self._answer)

    def wait(self, loop: AbstractEventLoop) -> None:
        """Start the time in which the rest of the body must come, unless it runs already."""
        if self._timer is None:
            self._timer = loop.call_later(self._limits.seconds, self._expire)

    def abandon(self) -> None:
        """Forget the body: its connection is lost."""
        self._stop_timer()
        self._release()

    def _expire(self) -> None:
        self.keep_alive = False
        self._exchange.refuse(self._limits.too_slow(), self._answer)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _release(self) -> None:
        self._limits.give_back(self._address, self._size)
        self._size = 0
        self._pieces = []

    def _answer(self, reply: Reply) -> None:
        self._release()
        self.response_complete = True
        self._send(reply, self.keep_alive)
