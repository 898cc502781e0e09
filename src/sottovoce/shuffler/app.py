"""The HTTP application of a shuffler, made from the table of operations."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request

from sottovoce.shuffler import page
from sottovoce.shuffler.api import HopApi
from sottovoce.shuffler.arrivals import Arrivals
from sottovoce.shuffler.hop_metrics import HopMetrics
from sottovoce.shuffler.intake import HopIntake
from sottovoce.shuffler.operations import OPERATIONS
from sottovoce.shuffler.shuffler import Shuffler
from sottovoce.shuffler.status import hop_status
from sottovoce.web.background import Background
from sottovoce.web.door import Door, Limits
from sottovoce.web.metrics import Metrics
from sottovoce.web.routes import Application, routes


def create_hop(shuffler: Shuffler) -> Application:
    """Return the application of a shuffler."""
    settings, clock = shuffler.settings, shuffler.clock
    arrivals = Arrivals(clock, lambda task, outcomes: metrics.count(task, outcomes))
    intake = HopIntake(shuffler, arrivals.add, settings.most_waiting)
    source = HopMetrics(lambda: hop_status(shuffler), arrivals.flush)
    metrics = Metrics(lambda: intake.waiting, source)
    keeper = Background(
        "hop", shuffler.advance, settings.tick, lambda name: metrics.failures.labels(name).inc()
    )
    limits = Limits.of(settings, clock)
    api = HopApi(shuffler, intake, metrics, limits)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        intake.start()
        keeper.start()
        yield
        intake.stop()  # stores and answers everything that was accepted
        keeper.stop()

    return Application(
        lambda rest: Door(rest, limits, metrics, root_path=settings.root_path),
        root_path=settings.root_path,
        routes=[*routes(api, OPERATIONS, _admit), *page.routes(api)],
        lifespan=lifespan,
    )


async def _admit(request: Request, scope: str) -> None:
    """Admit everybody: no operation of a shuffler needs a token, and operators use commands."""
