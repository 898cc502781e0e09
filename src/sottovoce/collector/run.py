"""Running a collector: the store that the settings name, the application over it, and uvicorn
around both.
"""

import asyncio
import logging
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import cast

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from sottovoce.collector import folder
from sottovoce.collector.api import Api
from sottovoce.collector.app import create
from sottovoce.collector.store import base
from sottovoce.collector.store.base import Store
from sottovoce.collector.worker import Workers
from sottovoce.errors import UnavailableError
from sottovoce.web import logs
from sottovoce.web.connections import TimedProtocol, WaitingConnections
from sottovoce.web.settings import Settings

_DRAIN_PART = 0.5  # of the grace period, in which requests under way may finish
_MAX_DESCRIPTORS = 1 << 16
_log = logging.getLogger(__name__)


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
    store.
    """
    logs.configure()
    folder.keep_private()
    for concern in folder.concerns(settings.data):
        _log.warning("the folder of the data is open to others")
        warned(concern)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    store = open_store(settings)
    workers = Workers(settings.data, settings.database, settings.tick)
    try:
        with _door(settings) as door:
            host, port = door.getsockname()[:2]
            told(f"http://{f'[{host}]' if ':' in host else host}:{port}")
            app = create(store, settings, pages=pages, work_apart=workers)
            _Server(_configuration(settings, app), settings.grace_seconds).run(sockets=[door])
    finally:
        store.close()


class _Server(uvicorn.Server):
    """A server that ends the process when its grace period is over, whatever still runs.

    Nothing is lost by that: what was acknowledged is durable, and every step of a task is repeated
    after a crash.
    """

    def __init__(self, config: uvicorn.Config, grace_seconds: float) -> None:
        super().__init__(config)
        self._grace_seconds = grace_seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            watch = threading.Timer(self._grace_seconds, _end)
            watch.daemon = True
            watch.start()
        super().handle_exit(sig, frame)


def _end() -> None:
    _log.warning("ended before everything had finished")
    os._exit(0)


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
    descriptors = _descriptors()
    return uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies or None,
        timeout_graceful_shutdown=max(1, int(settings.grace_seconds * _DRAIN_PART)),
        http=_protocol(settings, descriptors // 4),
        limit_concurrency=descriptors * 3 // 4,
    )


def _protocol(settings: Settings, max_waiting: int) -> type[asyncio.Protocol]:
    """Return what uvicorn makes for every connection."""
    waiting = WaitingConnections(settings.header_seconds, max_waiting)
    return cast(type[asyncio.Protocol], partial(TimedProtocol, waiting))


def _descriptors() -> int:
    """Return how many files and connections this process may open, as many as the system lets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, _MAX_DESCRIPTORS) if hard != resource.RLIM_INFINITY else _MAX_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
