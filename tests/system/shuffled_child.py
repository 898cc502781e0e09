"""A process that works at a shuffled task and kills itself, by signal 9, at a stated point.

    python -m system.shuffled_child FOLDER POINT COUNT

A point is the name of a method of the store and where in it: before it, within its transaction
(everything is written and nothing committed), or after it.
"""

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

from collector.people import Clock
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore

POINTS = [
    f"{method} {where}"
    for method in ("accept", "close_batch", "seal", "finish")
    for where in ("before", "within", "after")
]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def dying_store(point, count):
    """A class of stores that kill their process at a point, when it is reached so often."""
    method, _, where = point.partition(" ")
    reached = 0

    class DyingStore(SqliteStore):
        dies_within = False

        @contextmanager
        def _writing(self):
            with super()._writing() as connection:
                yield connection
                if self.dies_within:
                    die()

    def dying(self, *arguments, **options):
        nonlocal reached
        reached += 1
        is_now = reached == count
        if is_now and where == "before":
            die()
        self.dies_within = is_now and where == "within"
        result = getattr(super(DyingStore, self), method)(*arguments, **options)
        if is_now:
            die()
        return result

    setattr(DyingStore, method, dying)
    return DyingStore


def main(folder, point, count):
    path = Path(folder)
    store = dying_store(point, int(count))(path / "collector.db")
    Collector(store, path, Clock()).advance()


if __name__ == "__main__":
    main(*sys.argv[1:])
