"""Settings of a shuffler, in addition to those of every server process."""

from dataclasses import dataclass
from typing import ClassVar

from sottovoce.core import settings
from sottovoce.web import logs
from sottovoce.web.settings import Settings

_MIN_MIX_BYTES = 1 << 20
_MAX_PROCESSES = 256


@dataclass(frozen=True)
class ShufflerSettings(Settings):
    """How one shuffler process runs; the names are also options of ``sottovoce shuffle serve``."""

    # A time to the second would show when the request of a single device failed.
    log_times: ClassVar[str] = logs.MINUTES

    poll_seconds: float = 10.0  # between two looks at what the collectors ask now
    mix_bytes: int = 1 << 28  # of opened messages that are held at once while a batch is mixed
    mix_processes: int = 0  # that open the messages of a large batch; 0: one per core

    def __post_init__(self) -> None:
        super().__post_init__()
        settings.positive("poll_seconds", self.poll_seconds)
        settings.whole("mix_bytes", self.mix_bytes, _MIN_MIX_BYTES)
        settings.whole("mix_processes", self.mix_processes, 0, _MAX_PROCESSES)
