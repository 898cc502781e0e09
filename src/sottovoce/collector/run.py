"""Run a collector: open its store, and serve the application with uvicorn."""

import signal
import socket
from collections.abc import Callable, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from sottovoce.collector.api import Api
from sottovoce.collector.app import create
from sottovoce.collector.stores import open_store
from sottovoce.errors import UnavailableError
from sottovoce.web import logs
from sottovoce.web.settings import Settings

_DRAIN_SECONDS = 20  # to finish requests that are under way


def serve(
    settings: Settings,
    pages: Callable[[Api], Sequence[BaseRoute]] = lambda api: (),
    announce: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until a signal arrives; then finish the requests under way and close the store."""
    logs.configure()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    store = open_store(settings.data, settings.database)
    try:
        with _door(settings) as door:
            host, port = door.getsockname()[:2]
            announce(f"http://{f'[{host}]' if ':' in host else host}:{port}")
            uvicorn.Server(_configuration(settings, create(store, settings, pages=pages))).run(sockets=[door])
    finally:
        store.close()


def _leave(*_: object) -> None:
    """Exit normally: uvicorn sends itself the signal again once it has finished."""
    raise SystemExit(0)


def _door(settings: Settings) -> socket.socket:
    try:
        return socket.create_server((settings.host, settings.port), family=_family(settings.host), backlog=2048)
    except OSError as error:
        raise UnavailableError(f"cannot listen on {settings.host}, port {settings.port}: is it in use?") from error


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
