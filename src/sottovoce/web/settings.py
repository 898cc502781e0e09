"""Settings of a server process, from the command line or the environment (``SOTTOVOCE_...``), and
its clock.
"""

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from sottovoce.core import settings
from sottovoce.core.byte_sizes import byte_size
from sottovoce.errors import ParameterError
from sottovoce.web import logs
from sottovoce.web.origins import ANY, Origins

clock = time.time

MAX_PORT = (1 << 16) - 1
MAX_WORKERS = 256
MIN_MEMORY = 128 << 20  # bytes
_ROOT_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")
MIN_CAPACITY = 1024  # bytes of a body that is taken, and messages that may wait


@dataclass(frozen=True)
class Settings:
    """How one server process runs; the names are also options of ``sottovoce serve``."""

    log_times: ClassVar[str] = logs.SECONDS  # how exactly the log says when something happened

    data: Path  # the folder of the embedded store and the sealed logs
    host: str = "127.0.0.1"
    port: int = 8000
    database: str = ""  # the URL of a database instead of the embedded store, for several nodes
    rate: int = 500  # reports per second and address; other requests count as one; 0: no limit
    health_rate: int = 20  # requests per second and address for health and metrics; 0: no limit
    origins: str = ANY  # the origins of web pages that may send reports, separated by commas
    largest_body: int = 4 << 20  # bytes
    most_held: int = 64 << 20  # bytes of all bodies that are held at once
    header_seconds: float = 10.0  # until the headers of a request must be complete
    body_seconds: float = 30.0  # until a body must be complete
    grace_seconds: float = 20.0  # from a signal to stop until the process ends in any case
    # That a query in SQL may wait, and again that it may run, and that a request waits for an
    # answer that a process computes.
    query_seconds: float = 60.0
    most_waiting: int = 20_000  # messages waiting for the store before requests are turned away
    proxies: str = ""  # addresses of reverse proxies whose forwarded headers are believed
    root_path: str = ""  # where a proxy serves this: /sottovoce for https://example.org/sottovoce/
    tick: float = 0.5  # seconds between checks for work that is due
    session: int = 12 * 3600  # seconds that a log-in to the dashboard lasts
    logs: str = ""  # the URL of an object store for sealed logs, instead of the folder
    workers: int = 1  # processes that take reports on one port
    memory: int = 1 << 30  # bytes that each process may use for reports: to seal, step or answer

    def __post_init__(self) -> None:
        settings.whole("port", self.port, 0, MAX_PORT)
        settings.whole("rate", self.rate, 0)
        settings.whole("health_rate", self.health_rate, 0)
        Origins.of(self.origins)
        settings.whole("largest_body", self.largest_body, MIN_CAPACITY)
        settings.whole("most_held", self.most_held, self.largest_body)
        settings.positive("header_seconds", self.header_seconds)
        settings.positive("body_seconds", self.body_seconds)
        settings.positive("query_seconds", self.query_seconds)
        settings.positive("grace_seconds", self.grace_seconds)
        settings.whole("most_waiting", self.most_waiting, MIN_CAPACITY)
        settings.positive("tick", self.tick)
        settings.whole("session", self.session, 0)
        settings.whole("workers", self.workers, 1, MAX_WORKERS)
        settings.whole("memory", self.memory, MIN_MEMORY)
        _check_proxies(self.proxies)
        if not _ROOT_PATH.fullmatch(self.root_path):
            raise ParameterError(
                "`root_path` must be a path such as /sottovoce, without a slash at its end, of "
                "letters, digits and . _ ~ -"
            )

    @property
    def concerns(self) -> list[str]:
        """Return the concerns about these settings."""
        if self.proxies or _is_loopback(self.host):
            return []
        return [
            f"the server listens on {self.host} without encryption: whoever is on the way can read "
            "tokens and see who answers. Put a reverse proxy with TLS in front, and name its "
            "address with --proxies"
        ]


def _check_proxies(text: str) -> None:
    for address in filter(None, text.split(",")):
        try:
            ip_network(address.strip(), strict=False)
        except ValueError:
            if address.strip() != "*":
                raise ParameterError(
                    "`proxies` must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8, "
                    "separated by commas, or * for all"
                ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


SettingsKind = TypeVar("SettingsKind", bound=Settings)


def from_environment(
    given: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> Settings:
    """Return the settings from the given values, then the environment, then the defaults."""
    return read_settings(Settings, given, environment)


def read_settings(
    kind: type[SettingsKind],
    given: Mapping[str, Any],
    environment: Mapping[str, str] = os.environ,
) -> SettingsKind:
    """Return the settings of a service, whose class is ``kind``, in the same way."""
    chosen = {name: value for name, value in given.items() if value is not None}
    for setting in fields(kind):
        text = environment.get(f"SOTTOVOCE_{setting.name.upper()}")
        if text is not None and setting.name not in chosen:
            chosen[setting.name] = _converted(setting.name, str(setting.type), text)
    if "data" not in chosen:
        raise ParameterError("a server needs a folder for its data: name it with --data")
    return kind(**chosen)


def _converted(name: str, kind: str, text: str) -> Any:
    if name == "memory":
        return byte_size(name, text)
    for known, convert in (("int", int), ("float", float), ("Path", Path)):
        if known in kind:
            try:
                return convert(text)
            except ValueError:
                raise ParameterError(f"SOTTOVOCE_{name.upper()} is not a number") from None
    return text
