"""Health routes of every server: liveness, readiness, metrics and reports of errors."""

import asyncio
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from sottovoce.web import metrics, problems


class HealthHandlers:
    """The handlers of health and metrics.

    ``check`` raises unless the store can write; ``text`` writes the metrics.
    """

    def __init__(self, check: Callable[[], None], text: Callable[[], bytes]) -> None:
        self._check = check
        self._text = text
        self._checking: asyncio.Future[None] | None = None

    async def healthz(self, request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def readyz(self, request: Request) -> Response:
        """Check the store; requests that come meanwhile share the check."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(run_in_threadpool(self._check))
        await asyncio.shield(self._checking)
        return PlainTextResponse("ready\n")

    async def get_errors(self, request: Request) -> Response:
        return Response(problems.html_page(), media_type="text/html")

    async def get_metrics(self, request: Request) -> Response:
        text = await run_in_threadpool(self._text)
        return Response(text, media_type=metrics.CONTENT_TYPE)
