"""The HTTP application of a collector, made from the table of operations."""

import logging
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sottovoce.collector import access, javascript
from sottovoce.collector.api import Api
from sottovoce.collector.collector import Collector, WorkApart
from sottovoce.collector.intake import Intake
from sottovoce.collector.operations import OPERATIONS
from sottovoce.collector.round_metrics import RoundMetrics
from sottovoce.collector.scheduler import Keeper
from sottovoce.collector.store.base import Store
from sottovoce.collector.upload import Uploading
from sottovoce.errors import SottovoceError
from sottovoce.web import settings as configuration
from sottovoce.web.door import Door, Limits
from sottovoce.web.metrics import Metrics
from sottovoce.web.operation import Operation
from sottovoce.web.problem_response import respond
from sottovoce.web.problems import RequestError
from sottovoce.web.settings import Settings

_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type, if-none-match",
    "access-control-max-age": "86400",
}
_SWITCH_SECONDS = 0.0001  # between event loop and commit thread; the default of 5 ms is too slow
_log = logging.getLogger(__name__)


def create(
    store: Store,
    settings: Settings,
    *,
    clock: Callable[[], float] = configuration.clock,
    pages: Callable[[Api], Sequence[BaseRoute]] = lambda api: (),
    work_apart: WorkApart | None = None,
) -> Starlette:
    """Return the application; ``pages`` adds routes for people to those for programs."""
    collector = Collector(store, settings.data, clock, work_apart)
    metrics = Metrics(lambda: intake.waiting, RoundMetrics(collector.tasks))
    keeper = Keeper(collector, settings.tick, lambda name: metrics.failures.labels(name).inc())
    intake = Intake(store, clock, metrics.count, most_waiting=settings.most_waiting)
    api = Api(collector, intake, settings, metrics)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        intake.start()
        keeper.start()
        yield
        api.query_workers.stop()
        intake.stop()  # stores and answers everything that was accepted
        keeper.stop()
        sys.setswitchinterval(usual)

    limits = Limits.of(settings, clock)
    app = _Application(
        lambda rest: Door(Uploading(rest, api, limits), limits, metrics),
        routes=[*_routes(api), *javascript.routes(), *pages(api)],
        lifespan=lifespan,
        exception_handlers={SottovoceError: _refused, HTTPException: _not_here, Exception: _broken},
    )
    app.state.api = api
    return app


class _Application(Starlette):
    """Starlette with middleware outside of its own layers, so that uploads can pass these by."""

    def __init__(self, doors: Callable[[ASGIApp], ASGIApp], **options: Any) -> None:
        super().__init__(**options)
        self._doors = doors

    def build_middleware_stack(self) -> ASGIApp:
        return self._doors(super().build_middleware_stack())


def _routes(api: Api) -> list[Route]:
    """Return one route per path; operations with another home are served before the router."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    routes = []
    for path, operations in by_path.items():
        here = [method for method, operation in operations.items() if not operation.home]
        routes.append(Route(path, _endpoint(api, operations), methods=[*here, "OPTIONS"]))
    return routes


def _endpoint(api: Api, operations: dict[str, Operation]) -> Any:
    """Return the handler of one path, which checks the token that an operation needs."""
    methods = {**operations, **({"HEAD": operations["GET"]} if "GET" in operations else {})}

    async def endpoint(request: Request) -> Response:
        if request.method == "OPTIONS":
            shared = any(operation.shared for operation in operations.values())
            request.scope["shared"] = shared
            return Response(
                status_code=204, headers=_PREFLIGHT if shared else {"allow": ", ".join(operations)}
            )
        operation = methods[request.method]
        request.scope["operation"] = operation
        if operation.scope:
            await _admit(api, request, operation.scope)
        response: Response = await getattr(api, operation.handler)(request)
        return response

    return endpoint


async def _admit(api: Api, request: Request, scope: str) -> None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    given = token.strip() if kind.lower() == "bearer" else None
    store, now = api.collector.store, api.collector.now
    record = await run_in_threadpool(access.admit, store, given, scope, now)
    request.scope["token"] = record.hash.hex()


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, SottovoceError)
    return respond(error)


async def _not_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "malformed-request")
    response = respond(RequestError(code))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


async def _broken(request: Request, error: Exception) -> Response:
    _log.error("request", exc_info=error)
    return respond(SottovoceError())
