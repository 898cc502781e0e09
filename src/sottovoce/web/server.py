"""Run an HTTP service with uvicorn: one socket, bounded connections, a bounded shutdown time."""

import asyncio
import gc
import logging
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import cast

import uvicorn

from sottovoce.errors import UnavailableError
from sottovoce.web import folder, logs
from sottovoce.web.behind_proxies import BehindProxies
from sottovoce.web.connections import TimedProtocol, WaitingConnections
from sottovoce.web.door import Door
from sottovoce.web.routes import Application
from sottovoce.web.settings import Settings

_DRAIN_PART = 0.5  # share of the grace period in which requests under way may finish
_MAX_DESCRIPTORS = 1 << 16
# With Python's defaults, garbage collection took a quarter of the processor time of small uploads:
# it visited every class and function of every library again and again.  Objects that exist at the
# start are never freed, so they are left out.  Requests make no reference cycles, so collections
# may be rare.
_GARBAGE_THRESHOLDS = (20_000, 20, 20)
_SWITCH_SECONDS = 0.0001  # between event loop and commit thread; the default of 5 ms is too slow
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_log = logging.getLogger(__name__)


def prepare(settings: Settings, warned: Callable[[str], None]) -> None:
    """Send logs to the standard error, keep files private, and exit cleanly on a signal."""
    logs.configure(time_format=settings.log_times)
    folder.keep_private()
    for concern in concerns(settings):
        _log.warning("the server starts although something speaks against its settings")
        warned(concern)
    for number in _STOP_SIGNALS:
        signal.signal(number, _leave)


def concerns(settings: Settings) -> list[str]:
    """Return concerns about the settings of a server: an open folder, or no encryption."""
    return [*folder.concerns(settings.data), *settings.concerns]


def run(
    settings: Settings, create: Callable[[], Application], announce: Callable[[str], None]
) -> None:
    """Serve an application until a signal says stop, and finish the requests under way.

    ``announce`` is called with the address before the application is created.
    """
    with listening(settings, announce) as door:
        serve_door(settings, create(), door)


@contextmanager
def listening(settings: Settings, announce: Callable[[str], None]) -> Iterator[socket.socket]:
    """Yield a listening socket, and call ``announce`` with its address.

    Without a database the folder is locked: only nodes that share a database may share a folder.
    """
    alone = nullcontext() if settings.database else folder.served(settings.data)
    with alone, _door(settings) as door:
        host, port = door.getsockname()[:2]
        site = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        announce(site + settings.root_path)
        yield door


def serve_door(settings: Settings, application: Application, door: socket.socket) -> None:
    """Serve an application on a listening socket until a signal says stop."""
    _prepare_interpreter()
    server = _Server(_configuration(settings, application), settings.grace_seconds)
    for number in _STOP_SIGNALS:  # an exception must not interrupt the event loop
        signal.signal(number, server.handle_exit)
    server.run(sockets=[door])


def _prepare_interpreter() -> None:
    """Tune garbage collection and thread switching for a server process."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)


class _Server(uvicorn.Server):
    """A server that ends the process when its grace period is over, even if requests still run.

    Nothing is lost: acknowledged reports are durable, and every step of a task is repeated after a
    crash.
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
    """Exit cleanly before anything is served."""
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


def _configuration(settings: Settings, app: Application) -> uvicorn.Config:
    descriptors = _descriptors()
    return uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies or None,
        timeout_graceful_shutdown=max(1, int(settings.grace_seconds * _DRAIN_PART)),
        http=_protocol(settings, descriptors // 4, app.door),
        limit_concurrency=descriptors * 3 // 4,
    )


def _protocol(settings: Settings, max_waiting: int, door: Door) -> type[asyncio.Protocol]:
    """Return the protocol factory that uvicorn calls for every connection."""
    waiting = WaitingConnections(settings.header_seconds, max_waiting)
    direct = BehindProxies(door, settings.proxies) if settings.proxies else door
    return cast(type[asyncio.Protocol], partial(TimedProtocol, waiting, direct))


def _descriptors() -> int:
    """Raise the limit of open files as far as allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, _MAX_DESCRIPTORS) if hard != resource.RLIM_INFINITY else _MAX_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
