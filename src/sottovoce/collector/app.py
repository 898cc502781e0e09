"""The HTTP application of a collector, made from the table of operations."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from sottovoce.collector import access, javascript
from sottovoce.collector.api import Api
from sottovoce.collector.collector import Collector
from sottovoce.collector.intake import Intake
from sottovoce.collector.integrity_metrics import IntegrityMetrics
from sottovoce.collector.operations import OPERATIONS
from sottovoce.collector.resources import Resources
from sottovoce.collector.round_metrics import RoundMetrics
from sottovoce.collector.scheduler import Scheduler
from sottovoce.collector.shuffle_metrics import ShuffleMetrics
from sottovoce.collector.store.base import Store
from sottovoce.collector.upload import Uploading
from sottovoce.web import settings as configuration
from sottovoce.web.background import Background
from sottovoce.web.door import Door, Limits
from sottovoce.web.metrics import Metrics
from sottovoce.web.routes import Admit, Application, routes
from sottovoce.web.settings import Settings


def create(
    store: Store,
    settings: Settings,
    *,
    clock: Callable[[], float] = configuration.clock,
    pages: Callable[[Api], Sequence[BaseRoute]] = lambda api: (),
    resources: Resources | None = None,
) -> Application:
    """Return the application; ``pages`` adds routes for people to those for programs.

    ``resources`` are those of this process, by default what the settings give to the only one.
    """
    resources = resources or Resources.of(settings)
    collector = Collector(store, settings.data, clock, resources)
    shuffles = ShuffleMetrics(collector.tasks, store)
    integrity = IntegrityMetrics(collector.tasks, collector.integrity)
    metrics = Metrics(lambda: intake.waiting, RoundMetrics(collector.tasks), shuffles, integrity)
    scheduler = Scheduler(
        collector,
        settings.tick,
        lambda name: metrics.failures.labels(name).inc(),
        leads=resources.worker == 0,
    )
    if settings.workers > 1:
        metrics.folder, metrics.worker = settings.data / "metrics", resources.worker
    sharing = Background("metrics", metrics.share, settings.tick, lambda name: None)
    intake = Intake(store, clock, metrics.count, most_waiting=settings.most_waiting)
    api = Api(collector, intake, settings, metrics)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        intake.start()
        scheduler.start()
        sharing.start()
        yield
        api.answering.stop()
        api.query_workers.stop()
        intake.stop()  # stores and answers everything that was accepted
        scheduler.stop()
        sharing.stop()

    limits = Limits.of(settings, clock)

    def door(rest: ASGIApp) -> Door:
        uploading = Uploading(rest, api, limits)
        return Door(uploading, limits, metrics, uploading, settings.root_path)

    app = Application(
        door,
        root_path=settings.root_path,
        routes=[
            *routes(api, OPERATIONS, _admission(api)),
            *javascript.routes(settings.root_path),
            *pages(api),
        ],
        lifespan=lifespan,
    )
    app.state.api = api
    return app


def _admission(api: Api) -> Admit:
    """Return what checks the token of a request."""

    async def admit(request: Request, scope: str) -> None:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip() if kind.lower() == "bearer" else None
        store, now = api.collector.store, api.collector.now
        record = await run_in_threadpool(access.admit, store, given, scope, now)
        request.scope["token"] = record.hash.hex()

    return admit
