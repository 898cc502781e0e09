"""A service under a path of a site that it shares with others, such as /sottovoce.

A reverse proxy passes requests on with that path or without it: it is removed where it is there.
Probes are for the inside.  They are served at /healthz, /readyz and /metrics alone, so that a proxy
which passes on everything under the path does not show them to strangers.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

PROBES = ("/healthz", "/readyz", "/metrics")


class RootPath:
    """Passes requests on without the path at which a proxy serves them."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._root_path and scope["type"] == "http":
            scope = {**scope, "path": inside(scope["path"], self._root_path)}
        await self._app(scope, receive, send)


def inside(path: str, root_path: str) -> str:
    """Return a path as the service knows it.

    >>> inside("/sottovoce/v1/tasks", "/sottovoce"), inside("/sottovoce", "/sottovoce")
    ('/v1/tasks', '/')
    >>> inside("/v1/tasks", "/sottovoce"), inside("/sottovoce/metrics", "/sottovoce")
    ('/v1/tasks', '/sottovoce/metrics')
    """
    rest = path.removeprefix(root_path)
    is_under = path.startswith(root_path) and (rest == "" or rest.startswith("/"))
    return rest or "/" if is_under and rest not in PROBES else path
