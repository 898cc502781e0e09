"""A process that works at a shuffled task and kills itself, by signal 9, at a named point.

python -m system.shuffled_child FOLDER POINT COUNT
"""

import os
import signal
import sys
from pathlib import Path

from collector.people import Clock
from sottovoce.collector.collector import Collector
from sottovoce.collector.store import sql, sqlite
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.engine import files, parquet

# Where the process can die: in what, at which of its functions, before or after the call.
POINTS = {
    "part: before it commits": (sqlite, "note_part", "after"),
    "seal: log has no name yet": (files, "sync", "before"),
    "seal: log written": (parquet, "write", "after"),
    "seal: before it commits": (sql, "forget_batch", "after"),
}


def arm(point, count):
    """Make this process die when it gets to the point for the n-th time."""
    home, name, when = POINTS[point]
    plain = getattr(home, name)
    reached = 0

    def dying(*arguments, **options):
        nonlocal reached
        reached += 1
        if reached == count and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = plain(*arguments, **options)
        if reached == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(home, name, dying)


def main(folder, point, count):
    store = SqliteStore(Path(folder) / "collector.db")
    arm(point, int(count))
    Collector(store, Path(folder), Clock()).advance()


if __name__ == "__main__":
    main(*sys.argv[1:])
