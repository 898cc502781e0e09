"""What an operator can set, on the command line or in the environment (``SOTTOVOCE_...``); the
clock is here too.
"""

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
    """How one collector process runs; the names are also options of ``sottovoce serve``."""

    data: Path  # the folder of the embedded store and the sealed logs
    host: str = "127.0.0.1"
    port: int = 8000
    database: str = ""  # the URL of a database instead of the embedded store, for several nodes
    rate: int = 200  # requests per second and address that are served; 0 serves them all
    largest_body: int = 4 << 20  # bytes
    most_waiting: int = 20_000  # messages waiting for the store before requests are turned away
    proxies: str = ""  # addresses of reverse proxies whose forwarded headers are believed
    tick: float = 0.5  # seconds between looks at what is due
    session: int = 12 * 3600  # seconds that a log-in to the dashboard lasts

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16 or min(self.rate, self.session) < 0 or self.tick <= 0:
            raise ParameterError("a port is below 65,536; rates and durations are not negative")
        if min(self.largest_body, self.most_waiting) < 1024:
            raise ParameterError(
                "a collector takes bodies of 1,024 bytes and lets 1,024 messages wait at the least"
            )


def from_environment(
    given: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> Settings:
    """Return the settings: what was given first, then the environment, then the defaults."""
    made = {name: value for name, value in given.items() if value is not None}
    for one in fields(Settings):
        text = environment.get(f"SOTTOVOCE_{one.name.upper()}")
        if text is not None and one.name not in made:
            made[one.name] = _converted(one.name, str(one.type), text)
    if "data" not in made:
        raise ParameterError("a collector needs a folder for its data")
    return Settings(**made)


def _converted(name: str, kind: str, text: str) -> Any:
    for known, convert in (("int", int), ("float", float), ("Path", Path)):
        if known in kind:
            try:
                return convert(text)
            except ValueError:
                raise ParameterError(f"SOTTOVOCE_{name.upper()} is not a number") from None
    return text
