"""``sottovoce serve`` with the plan of the tests, that can die at a named point of its own code.

Started as ``python -m system.serving '{"point": [name, n], "twin": name}' serve --data ...``, or
forked from a process that has loaded everything already.  At a point the process sends itself
SIGKILL, when it gets there for the n-th time. A twin is a collector with one mistake that the
checks must find.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from typing import Any

from sottovoce.cli.main import main
from sottovoce.collector import collector, intake
from sottovoce.collector.store import postgres, sql, sqlite
from sottovoce.collector.wire import UploadReceipt
from sottovoce.engine import files, parquet
from system import chain  # noqa: F401 - the plan must be known before a task names it

_STORES = (sqlite.SqliteStore, postgres.PostgresStore)
_MODULES = (sqlite, postgres)

# Where a process can die: in what, at which of its functions, before or after the call.
POINTS: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "publish: before it commits": ((sql,), "_add_round", "after"),
    "upload: before it commits": (_MODULES, "count_messages", "before"),
    "upload: committed, not acknowledged": (_STORES, "accept", "after"),
    "turn: committed": ((sql.SqlStore,), "turn", "after"),
    "seal: nothing written": ((parquet,), "write", "before"),
    "seal: log has no name yet": ((files,), "sync", "before"),
    "seal: log written": ((parquet,), "write", "after"),
    "seal: before it commits": ((sql,), "_clear", "after"),
    "seal: committed": (_STORES, "seal", "after"),
    "step: decided, nothing stored": ((sql.SqlStore,), "open_round", "before"),
    "step: next round stored": ((sql.SqlStore,), "open_round", "after"),
    "finish: nothing stored": ((sql.SqlStore,), "finish", "before"),
    "finish: stored": ((sql.SqlStore,), "finish", "after"),
}


def arm(point: str, times: int) -> None:
    """Make this process die when it gets to the point for the n-th time."""
    homes, name, when = POINTS[point]
    left = [times]

    def pass_by(moment: str) -> None:
        left[0] -= moment == when
        if moment == when and left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for home in homes:
        _wrap(home, name, pass_by)


def _wrap(home: Any, name: str, pass_by: Any) -> None:
    plain = getattr(home, name)

    def wrapped(*given: Any, **named: Any) -> Any:
        pass_by("before")
        result = plain(*given, **named)
        pass_by("after")
        return result

    setattr(home, name, wrapped)


def acknowledge_first() -> None:
    """Say that reports are durable, and store them half a second later."""
    waiting: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
    plain = intake.Intake._commit

    def commit_later(self: Any, group: Any) -> list[UploadReceipt]:
        waiting.put((self, group))
        return [UploadReceipt(len(one.messages), 0, []) for one in group]

    def run() -> None:
        while True:
            owner, group = waiting.get()
            time.sleep(0.5)
            plain(owner, group)

    intake.Intake._commit = commit_later  # type: ignore[method-assign]
    threading.Thread(target=run, daemon=True).start()


def forget_ids() -> None:
    """Give every report a new id where the store looks for ids that it has seen."""
    import numpy as np

    plain = sqlite.SqliteStore.accept

    def accept(self: Any, offers: Any, refused: Any, now: int) -> Any:
        for offer in offers:
            fresh = np.frombuffer(os.urandom(offer.ids.size), np.uint8).reshape(offer.ids.shape)
            object.__setattr__(offer, "ids", fresh)
        return plain(self, offers, refused, now)

    sqlite.SqliteStore.accept = accept  # type: ignore[method-assign]


def seal_first() -> None:
    """Erase the reports from the store before their log is written."""

    def seal(self: Any, published: Any, last: Any) -> None:
        messages = list(self.store.segments(last.task, last.number))
        self.store.seal(last.task, last.number, sum(map(len, messages)), "later", self.now)
        parquet.write(self.log(last), messages, published.asked[last.number])

    collector.Collector._seal = seal  # type: ignore[method-assign]


TWINS = {
    "acknowledges first": acknowledge_first,
    "forgets ids": forget_ids,
    "seals first": seal_first,
}


def run(orders: dict[str, Any], arguments: list[str]) -> None:
    """Serve as the orders say; ``arguments`` are those of the command line."""
    if orders.get("twin"):
        TWINS[orders["twin"]]()
    if orders.get("point"):
        arm(*orders["point"])
    sys.argv = ["sottovoce", *arguments]
    main()


def run_forked(
    orders: dict[str, Any], arguments: list[str], environment: dict[str, str], log: str, said: Any
) -> None:
    """Do the same in a process that was forked: with an environment, a log and a standard output of
    its own.
    """
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    os.dup2(said.fileno(), 1)
    said.close()
    run(orders, arguments)


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), sys.argv[2:])
