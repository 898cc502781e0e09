"""Waiting for what another process does in its own time, but not for ever."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sottovoce.errors import UnavailableError

_PAUSE = 0.1  # seconds between two looks

Found = TypeVar("Found")


@dataclass(frozen=True)
class Patience:
    """How long to wait: a busy machine compiles kernels slowly."""

    seconds: float = 600.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def until(self, look: Callable[[], Found | None], trouble: str) -> Found:
        """Return what ``look`` finds; an error says ``trouble`` if it finds nothing in time."""
        end = self.clock() + self.seconds
        while True:
            found = look()
            if found is not None:
                return found
            if self.clock() >= end:
                raise UnavailableError(trouble)
            self.sleep(_PAUSE)
