"""The settings of a collector, from the command line or the environment (``SOTTOVOCE_...``)."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sottovoce.errors import ParameterError

clock = time.time


@dataclass(frozen=True)
class Settings:
    """How one collector process runs; most of these are options of ``sottovoce serve``."""

    data: Path  # the folder of the embedded store and the sealed logs
    host: str = "127.0.0.1"
    port: int = 8000
    database: str = ""  # the address of a database instead of the embedded store
    rate: int = 200  # requests per second from one address; 0 sets no limit
    largest_body: int = 4 << 20  # bytes
    most_waiting: int = 20_000  # messages waiting for the store before requests are turned away
    proxies: str = ""  # addresses of reverse proxies whose forwarded headers are trusted
    tick: float = 0.5  # seconds between checks of what is due
    session: int = 12 * 3600  # seconds that a log-in to the dashboard lasts

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ParameterError("`port` must be from 0 to 65,535")
        for name in ("rate", "session"):
            if getattr(self, name) < 0:
                raise ParameterError(f"`{name}` must not be negative")
        if self.tick <= 0:
            raise ParameterError("`tick` must be positive")
        for name in ("largest_body", "most_waiting"):
            if getattr(self, name) < 1024:
                raise ParameterError(f"`{name}` must be at least 1,024")


def from_environment(given: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings: given values first, then the environment, then the defaults."""
    values = {name: value for name, value in given.items() if value is not None}
    for setting in fields(Settings):
        text = environment.get(f"SOTTOVOCE_{setting.name.upper()}")
        if text is not None and setting.name not in values:
            values[setting.name] = _converted(setting.name, str(setting.type), text)
    if "data" not in values:
        raise ParameterError("`data` is missing: a collector needs a folder")
    return Settings(**values)


def _converted(name: str, kind: str, text: str) -> Any:
    for known, convert in (("int", int), ("float", float), ("Path", Path)):
        if known in kind:
            try:
                return convert(text)
            except ValueError:
                raise ParameterError(f"SOTTOVOCE_{name.upper()} must be a number") from None
    return text
