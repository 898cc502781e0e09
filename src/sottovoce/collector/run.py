"""Running a collector: the store that the settings name, and the application over it."""

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from sottovoce.collector.api import Api
from sottovoce.collector.app import create
from sottovoce.collector.store import base
from sottovoce.collector.store.base import Store
from sottovoce.collector.worker import Workers
from sottovoce.web import folder, server
from sottovoce.web.settings import Settings
from sottovoce.web.waiting import DATABASE_SECONDS, when_available


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name; the folder is made if it is not there."""
    folder.make(settings.data)
    return base.open_store(base.store_url(settings.data, settings.database))


def serve(
    settings: Settings,
    pages: Callable[[Api], Sequence[BaseRoute]] = lambda api: (),
    told: Callable[[str], None] = lambda url: None,
    warned: Callable[[str], None] = lambda concern: None,
) -> None:
    """Serve until a signal says stop; then finish what is under way, and only then let go of the
    store.  A database server that does not answer at the start is waited for.
    """
    server.prepare(settings, warned)
    patience = DATABASE_SECONDS if settings.database else 0.0
    store = when_available(lambda: open_store(settings), patience, warned)
    workers = Workers(settings.data, settings.database, settings.tick, memory=settings.memory)

    def application() -> Starlette:
        return create(store, settings, pages=pages, work_apart=workers)

    try:
        server.run(settings, lambda: when_available(application, patience, warned), told)
    finally:
        store.close()
