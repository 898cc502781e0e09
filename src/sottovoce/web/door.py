"""The door: checks of every request before the service, and headers of every answer after it.

- Before the service: the rate limit, the check of the stated origin and the limits of bodies.
- After the service: headers, metrics and one line of log.

Requests come through ASGI, or are already complete and are served without it (``direct.py``).
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.errors import SottovoceError
from sottovoce.web.bodies import Body, BodyLimits
from sottovoce.web.direct import Answer, Exchange, Reply
from sottovoce.web.limits import RateLimit, address_of
from sottovoce.web.metrics import Metrics
from sottovoce.web.origins import Headers, Origins, origin_of
from sottovoce.web.problem_response import respond
from sottovoce.web.problems import RequestError
from sottovoce.web.root_path import PROBES
from sottovoce.web.settings import Settings

_CLOSE = (b"connection", b"close")  # the rest of a body is not read
_NO_STORE = (b"cache-control", b"no-store")  # for what only the holder of a token may see
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")
# Too frequent for a log line each, and anybody can send them; metrics count them.
_COUNTED = ("upload", "healthz", "readyz", "get_metrics", "other")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a server: rates of requests and of health probes, origins, and bodies."""

    requests: RateLimit
    health: RateLimit
    origins: Origins
    bodies: BodyLimits

    @classmethod
    def of(cls, settings: Settings, clock: Callable[[], float]) -> "Limits":
        """Return the limits that an operator has set."""
        return cls(
            RateLimit(settings.rate, clock),
            RateLimit(settings.health_rate, clock),
            Origins.of(settings.origins),
            BodyLimits(settings.largest_body, settings.most_held, settings.body_seconds),
        )


Serve = Callable[[Scope, bytes, Answer], None]


class DirectService(Protocol):
    """A service that serves some requests without ASGI."""

    def begin(self, scope: Scope) -> Serve | None:
        """Return the exchange for a request with this head; None if it must go through ASGI."""


class Door:
    """Lets requests in, one address at a time no faster than allowed, and records them.

    ``direct`` is the part of the application that serves requests without ASGI; ``root_path`` is
    where a proxy serves the application.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        direct: DirectService | None = None,
        root_path: str = "",
    ) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._direct = direct
        self._root_path = root_path

    @property
    def bodies(self) -> BodyLimits:
        """Return the limits of bodies."""
        return self._limits.bodies

    def begin(self, scope: Scope) -> Exchange | None:
        """Return the exchange for a request with this head; None if it must go through ASGI."""
        serve = None if self._direct is None else self._direct.begin(scope)
        return None if serve is None else _DoorExchange(self, scope, serve)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        body = Body(self._limits.bodies, scope, receive)

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self.add_headers(message["headers"], message["status"], scope)
                if not await body.drain():
                    message["headers"].append(_CLOSE)
            await send(message)

        try:
            refusal = self.refusal(scope)
            if refusal is None:
                await self._app(scope, body.receive, sending)
            else:
                await refusal(scope, body.receive, sending)
        finally:
            body.close()
            self.record(scope, status, time.perf_counter() - started)

    def refusal(self, scope: Scope) -> Response | None:
        """Return why a request is turned away, or None; the scope gets its ``origin``."""
        limit = self._limits.health if scope["path"] in PROBES else self._limits.requests
        wait = limit.wait(address_of(scope))
        if wait:
            return self.problem(RequestError("slow-down", retry_after=wait))
        try:
            scope["origin"] = origin_of(scope["headers"])
        except SottovoceError as error:
            return self.problem(error)
        return None

    def problem(self, error: SottovoceError) -> Response:
        """Return the answer to a request that is refused."""
        return respond(error, self._root_path)

    def record(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered, and log it unless there are too many like it."""
        operation = scope.get("operation")
        route = operation.handler if operation else scope.get("page", "other")
        self._metrics.request(route, status, seconds)
        if route not in _COUNTED or status >= 500:
            facts = {"route": route, "status": status, "milliseconds": round(1000 * seconds, 1)}
            _log.info("request", extra={**facts, "method": scope["method"]})

    def add_headers(self, headers: Headers, status: int, scope: Scope) -> None:
        """Add the headers that all answers have, and those that pages need to read an answer."""
        headers.append(_NO_SNIFFING)
        operation = scope.get("operation")
        # Pages of other origins must be able to read how long to wait, before a route is known.
        waits = status == 429
        shared = scope.get("shared") or (operation is not None and operation.shared)
        private = operation is not None and operation.scope
        if private and not any(name == b"cache-control" for name, _ in headers):
            headers.append(_NO_STORE)
        if waits or shared:
            headers.extend(self._limits.origins.headers(scope.get("origin")))


class _DoorExchange:
    """One request that passes the door without ASGI."""

    def __init__(self, door: Door, scope: Scope, serve: Serve) -> None:
        self._door = door
        self._scope = scope
        self._serve = serve
        self._started = time.perf_counter()

    def serve(self, body: bytes, answer: Answer) -> None:
        """Serve the request with its whole body, unless it is turned away."""
        refusal = self._door.refusal(self._scope)
        if refusal is None:
            # Kept nowhere here: a request that knows itself would be left to the garbage collector.
            self._serve(self._scope, body, partial(self._finish, answer))
        else:
            self._finish(answer, Reply.of(refusal))

    def refuse(self, error: SottovoceError, answer: Answer) -> None:
        """Answer with a problem."""
        self._finish(answer, Reply.of(self._door.problem(error)))

    def _finish(self, answer: Answer, reply: Reply) -> None:
        self._door.add_headers(reply.headers, reply.status, self._scope)
        answer(reply)
        seconds = time.perf_counter() - self._started
        self._door.record(self._scope, reply.status, seconds)
