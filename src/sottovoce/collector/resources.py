"""What one process of a collector works with, beside its store, its folder and its clock."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sottovoce.engine.parquet import DEFAULT_MEMORY
from sottovoce.engine.stored_path import AnyPath, log_folder
from sottovoce.web.settings import Settings

WorkApart = Callable[[str, int, Callable[[], None]], bool]


@dataclass(frozen=True)
class Resources:
    """Memory, the place of sealed logs, and what does the work of tasks.

    ``memory`` is how many bytes reports may take in this process.  Those of a task that need more
    stay in the sealed logs, and are read part by part.  ``logs`` is the URL of an object store for
    these logs; without it they are in the folder of the collector.

    ``work_apart`` does the work of the task with a digest somewhere else, at a time in whole
    seconds, and returns whether anything moved.  While it waits it calls now and then what it is
    given last, so that the other tasks go on.  Without it the work is done in this process.

    ``worker`` is the number of this process among several at one door.  The first, 0, closes
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
        """Return the resources that an operator's settings give to a process."""
        return cls(settings.memory, settings.logs, work_apart, worker)

    def log_folder(self, folder: Path) -> AnyPath:
        """Return where the sealed logs of a collector with this folder are."""
        return log_folder(self.logs) if self.logs else folder / "sealed"


LOCAL = Resources()  # the default memory, logs in the folder, work in this process
