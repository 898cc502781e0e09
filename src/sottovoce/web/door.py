"""The door: what every request passes before and after the service looks at it.

On the way in: the rate limit, the check of the stated origin and the limits of bodies.  On the way
out: headers, metrics and one line of log.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.errors import SottovoceError
from sottovoce.web.bodies import Body, BodyLimits
from sottovoce.web.limits import RateLimit, address_of
from sottovoce.web.metrics import Metrics
from sottovoce.web.origins import Origins, origin_of
from sottovoce.web.problem_response import respond
from sottovoce.web.problems import RequestError
from sottovoce.web.root_path import PROBES
from sottovoce.web.settings import Settings

_CLOSE = (b"connection", b"close")  # what is left of a body is not read
_NO_STORE = (b"cache-control", b"no-store")  # for what only the holder of a token may see
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")
# Too frequent for a log line each, and anybody can send them; metrics count them.
_COUNTED = ("upload", "healthz", "readyz", "get_metrics", "other")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Limits:
    """What the door allows: requests, probes of health apart from them, origins and bodies."""

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


class Door:
    """Lets requests in, one address at a time no faster than allowed, and records them."""

    def __init__(self, app: ASGIApp, limits: Limits, metrics: Metrics) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics

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
                self._add_headers(message, scope)
                if not await body.drain():
                    message["headers"].append(_CLOSE)
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, body.receive, sending)
            else:
                await refusal(scope, body.receive, sending)
        finally:
            body.close()
            self._record(scope, status, time.perf_counter() - started)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return why a request is turned away, or None; the scope gets its ``origin``."""
        limit = self._limits.health if scope["path"] in PROBES else self._limits.requests
        wait = limit.wait(address_of(scope))
        if wait:
            return respond(RequestError("slow-down", retry_after=wait))
        try:
            scope["origin"] = origin_of(scope["headers"])
        except SottovoceError as error:
            return respond(error)
        return None

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        operation = scope.get("operation")
        route = operation.handler if operation else scope.get("page", "other")
        self._metrics.request(route, status, seconds)
        if route not in _COUNTED or status >= 500:
            facts = {"route": route, "status": status, "milliseconds": round(1000 * seconds, 1)}
            _log.info("request", extra={**facts, "method": scope["method"]})

    def _add_headers(self, message: Message, scope: Scope) -> None:
        headers: list[tuple[bytes, bytes]] = message["headers"]
        headers.append(_NO_SNIFFING)
        operation = scope.get("operation")
        # Pages of other origins must be able to read how long to wait, before a route is known.
        waits = message["status"] == 429
        shared = scope.get("shared") or (operation is not None and operation.shared)
        private = operation is not None and operation.scope
        if private and not any(name == b"cache-control" for name, _ in headers):
            headers.append(_NO_STORE)
        if waits or shared:
            headers.extend(self._limits.origins.headers(scope.get("origin")))
