"""Running a collector: the store that the settings name, the application over it, and uvicorn around both."""

from collections.abc import Callable, Sequence

import uvicorn
from starlette.routing import BaseRoute

from sottovoce.service import logs
from sottovoce.service.api import Api
from sottovoce.service.app import create
from sottovoce.service.settings import Settings
from sottovoce.store.base import Store

_DRAIN_SECONDS = 20  # that requests under way are waited for


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name; the folder is made if it is not there."""
    settings.data.mkdir(parents=True, exist_ok=True)
    if settings.database:
        from sottovoce.store.postgres import PostgresStore

        return PostgresStore(settings.database)
    from sottovoce.store.sqlite import SqliteStore

    return SqliteStore(settings.data / "collector.db")


def serve(settings: Settings, pages: Callable[[Api], Sequence[BaseRoute]] = lambda api: ()) -> None:
    """Serve until a signal says stop; then finish what is under way, and only then let go of the store."""
    logs.configure()
    store = open_store(settings)
    try:
        uvicorn.run(
            create(store, settings, pages=pages),
            host=settings.host,
            port=settings.port,
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=settings.proxies or None,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
    finally:
        store.close()
