"""Requests that reverse proxies forward and that are served without ASGI.

Uvicorn's middleware takes the address of the client from the headers of proxies that are believed.
Requests that do not go through ASGI do not pass it, so it looks at their heads here.
"""

from typing import Any

from starlette.types import Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from sottovoce.web.bodies import BodyLimits
from sottovoce.web.direct import CallbackRoute, Exchange


class BehindProxies:
    """A direct route behind proxies whose addresses are believed."""

    def __init__(self, route: CallbackRoute, proxies: str) -> None:
        self._route = route
        self._middleware = ProxyHeadersMiddleware(_nothing, trusted_hosts=proxies)

    @property
    def bodies(self) -> BodyLimits:
        """Return the limits of bodies."""
        return self._route.bodies

    def begin(self, scope: Scope) -> Exchange | None:
        """Return the exchange that serves a request of the client that a proxy names."""
        looking = self._middleware(scope, None, None)  # type: ignore[arg-type]
        try:
            looking.send(None)  # it waits for nothing, so one step takes it to its end
        except StopIteration:
            return self._route.begin(scope)
        looking.close()
        return None


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    """Serve nothing: the middleware has changed the scope."""
