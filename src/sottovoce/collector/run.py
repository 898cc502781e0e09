"""Running a collector: the store that the settings name, and the application over it."""

import shutil
import socket
from collections.abc import Callable, Sequence
from functools import partial

from starlette.routing import BaseRoute

from sottovoce.collector.api import Api
from sottovoce.collector.app import create
from sottovoce.collector.resources import Resources
from sottovoce.collector.store import base
from sottovoce.collector.store.base import Store
from sottovoce.collector.worker import Workers
from sottovoce.web import folder, server
from sottovoce.web.routes import Application
from sottovoce.web.settings import Settings
from sottovoce.web.supervisor import supervise
from sottovoce.web.waiting import DATABASE_SECONDS, when_available


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name; the folder is made if it is not there."""
    folder.make(settings.data)
    return base.open_store(base.store_url(settings.data, settings.database))


Pages = Callable[[Api], Sequence[BaseRoute]]


def no_pages(api: Api) -> Sequence[BaseRoute]:
    """Return no pages: a collector for programs alone."""
    return ()


def serve(
    settings: Settings,
    pages: Pages = no_pages,
    announce: Callable[[str], None] = lambda url: None,
    warned: Callable[[str], None] = lambda concern: None,
) -> None:
    """Serve until a signal says stop; then finish what is under way, and only then let go of the
    store.  A database server that does not answer at the start is waited for.

    ``pages`` must be importable by a new interpreter if there are several workers.
    """
    server.prepare(settings, warned)
    patience = DATABASE_SECONDS if settings.database else 0.0
    store = when_available(lambda: open_store(settings), patience, warned)
    if settings.workers > 1:
        shutil.rmtree(settings.data / "metrics", ignore_errors=True)  # of workers of before
        store.close()  # it is made and up to date; every worker opens it by itself
        with server.listening(settings, announce) as door:
            work = partial(serve_worker, settings, pages)
            supervise(work, door, settings.workers, settings.grace_seconds)
        return

    def application() -> Application:
        return create(store, settings, pages=pages, resources=_resources(settings))

    try:
        server.run(settings, lambda: when_available(application, patience, warned), announce)
    finally:
        store.close()


def serve_worker(settings: Settings, pages: Pages, door: socket.socket, number: int) -> None:
    """Serve a listening socket in a process of its own; the first of them leads."""
    server.prepare(settings, lambda concern: None)
    store = open_store(settings)
    try:
        application = create(store, settings, pages=pages, resources=_resources(settings, number))
        server.serve_door(settings, application, door)
    finally:
        store.close()


def _resources(settings: Settings, worker: int = 0) -> Resources:
    """Return the resources of a server process, which starts another one for each piece of work."""
    each = Resources.of(settings)
    workers = Workers(settings.data, settings.database, settings.tick, resources=each)
    return Resources.of(settings, workers, worker)
