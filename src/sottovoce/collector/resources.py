"""Resources of one collector process, beside its store, its folder and its clock."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sottovoce.engine.parquet import DEFAULT_MEMORY
from sottovoce.engine.stored_path import AnyPath, log_folder
from sottovoce.web.settings import Settings

WorkApart = Callable[[str, int, Callable[[], None]], bool]  # (digest, now, progress) -> moved


@dataclass(frozen=True)
class Resources:
    """Memory for reports, the location of the sealed logs, and who does the work of tasks.

    ``memory`` is the number of bytes that reports may take in this process.  If a task has more
    reports, they stay in the sealed logs and are read part by part.  ``logs`` is the URL of an
    object store for the sealed logs; without it they are in the folder of the collector.

    ``work_apart(digest, now, progress)`` does the work of a task in another process, with ``now``
    in whole seconds, and returns whether the task moved.  While it waits, it calls ``progress`` at
    intervals, so that the other tasks go on.  Without it the work is done in this process.

    ``worker`` is the number of this process among those that serve one port.  Worker 0 also closes
    rounds and starts work.
    """

    memory: int = DEFAULT_MEMORY
    logs: str = ""
    work_apart: WorkApart | None = None
    worker: int = 0

    @classmethod
    def of(
        cls, settings: Settings, work_apart: WorkApart | None = None, worker: int = 0
    ) -> "Resources":
        """Return the resources of a process according to the operator's settings."""
        return cls(settings.memory, settings.logs, work_apart, worker)

    def log_folder(self, folder: Path) -> AnyPath:
        """Return the folder of the sealed logs, for a collector with this folder."""
        return log_folder(self.logs) if self.logs else folder / "sealed"


LOCAL = Resources()  # the default memory, logs in the folder, work in this process
