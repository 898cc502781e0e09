"""Running a collector: the store that the settings name, the application over it, and uvicorn
around both.
"""

import signal
import socket
from collections.abc import Callable, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from sottovoce.collector.api import Api
from sottovoce.collector.app import create
from sottovoce.collector.store import base
from sottovoce.collector.store.base import Store
from sottovoce.errors import UnavailableError
from sottovoce.web import logs
from sottovoce.web.settings import Settings

_DRAIN_SECONDS = 20  # that requests under way are waited for


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name; the folder is made if it is not there."""
    settings.data.mkdir(parents=True, exist_ok=True)
    return base.open_store(base.store_url(settings.data, settings.database))


def serve(
    settings: Settings,
    pages: Callable[[Api], Sequence[BaseRoute]] = lambda api: (),
    told: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until a signal says stop; then finish what is under way, and only then let go of the
    store.
    """
    logs.configure()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, _leave)
    store = open_store(settings)
    try:
        with _door(settings) as door:
            host, port = door.getsockname()[:2]
            told(f"http://{f'[{host}]' if ':' in host else host}:{port}")
            uvicorn.Server(_configuration(settings, create(store, settings, pages=pages))).run(
                sockets=[door]
            )
    finally:
        store.close()


def _leave(*_: object) -> None:
    """Leave in good order: uvicorn sends itself the signal again once it has finished."""
    raise SystemExit(0)


def _door(settings: Settings) -> socket.socket:
    try:
        return socket.create_server(
            (settings.host, settings.port), family=_family(settings.host), backlog=2048
        )
    except OSError as error:
        raise UnavailableError(
            f"nothing can listen on {settings.host}, port {settings.port}"
        ) from error


def _configuration(settings: Settings, app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies or None,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
