"""What a collector is ordered to do wrong in a test: to die at a named point of its own code, or to
be a twin with one mistake that the checks must find.

Loaded by servers (``serving.py``) and by their workers, so that it imports no more than those.
"""

import fcntl
import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.collector import collector, integrity_file, worker
from sottovoce.collector.store import id_runs, postgres, sql, sqlite
from sottovoce.engine import files, parquet
from sottovoce.engine.sealed import tally_all
from sottovoce.web.store import sqlite as sqlite_file
from system import chain  # noqa: F401 - the plan must be known before a task names it

_STORES = (sqlite.SqliteStore, postgres.PostgresStore)
_MODULES = (sqlite, postgres)

# Where a process can die: in what, at which of its functions, before or after the call.
POINTS: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "publish: before it commits": ((sql,), "add_round", "after"),
    "upload: before it commits": (_MODULES, "count_messages", "before"),
    "upload: committed, not acknowledged": (_STORES, "accept", "after"),
    "turn: committed": ((sql.SqlStore,), "turn", "after"),
    "seal: nothing written": ((parquet,), "write", "before"),
    "seal: log has no name yet": ((files,), "sync", "before"),
    "seal: log written": ((parquet,), "write", "after"),
    "seal: before it commits": ((sql,), "forget_batch", "after"),
    "seal: committed, payloads are there": ((sql.SqlStore,), "clear_sealed", "before"),
    "seal: some ids moved": ((sqlite,), "add_seen", "after"),
    "seal: all ids moved, rows are there": ((sqlite,), "clear_some_rows", "before"),
    "seal: all ids moved, runs are there": ((id_runs.IdRuns,), "remove_files", "before"),
    "seal: runs removed, still named": ((id_runs,), "forget_runs", "before"),
    "seal: committed": (_STORES, "seal", "after"),
    "ids: run half written": ((id_runs,), "write", "after"),
    "ids: run written, not noted": ((id_runs.IdRuns,), "merge_rows", "after"),
    "ids: run noted, not committed": ((id_runs.Merge,), "note", "after"),
    "ids: run noted, others are there": ((id_runs.IdRuns,), "remove", "before"),
    "examine: nothing written": ((integrity_file,), "write", "before"),
    "examine: tests written": ((integrity_file,), "write", "after"),
    "step: decided, nothing stored": ((sql.SqlStore,), "open_round", "before"),
    "step: next round stored": ((sql.SqlStore,), "open_round", "after"),
    "finish: nothing stored": ((sql.SqlStore,), "finish", "before"),
    "finish: stored": ((sql.SqlStore,), "finish", "after"),
    "erase: nothing written": ((collector.Collector,), "erase_round", "before"),
    "erase: sums have no name yet": ((np,), "savez_compressed", "after"),
    "erase: sums written": ((parquet,), "condense", "after"),
    "erase: log removed": (_STORES, "erase", "before"),
    "erase: noted, ids are there": ((sql.SqlStore,), "clear_erased", "before"),
    "erase: committed": (_STORES, "erase", "after"),
}
_EMBEDDED = {sqlite, id_runs, id_runs.IdRuns, id_runs.Merge}  # what only the embedded store has
ORDERS = "SYSTEM_TEST_ORDERS"  # the variable that carries the orders to workers


def points_of(store: str) -> list[str]:
    """Return the points that a collector can die at on a store: ``sqlite`` or ``postgres``."""
    if store == "sqlite":
        return list(POINTS)
    return [name for name, (homes, _, _) in POINTS.items() if not _EMBEDDED.issuperset(homes)]


def count_passes(folder: str) -> None:
    """Count in files of a folder how often this collector passes each point, and die nowhere."""
    for point in POINTS:
        arm(point, 0, str(passes_file(Path(folder), point)))


def passes_file(folder: Path, point: str) -> Path:
    """Return the file of a point, which is as long as the point was passed often."""
    return folder / point.replace(": ", "-").replace(" ", "_")


def arm(point: str, times: int, counter: str, points: Any = POINTS) -> None:
    """Make this collector die when it gets to the point for the n-th time."""
    homes, name, when = points[point]

    def pass_by(moment: str) -> None:
        if moment == when and _count(counter) == times:
            server = multiprocessing.parent_process() if _is_worker() else None
            if server is not None and server.pid is not None:
                os.kill(server.pid, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    for home in homes:
        _wrap(home, name, pass_by)


def _count(counter: str) -> int:
    """Return how often this was called, by any process, with the same file."""
    with Path(counter).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(b".")
        file.flush()
        return file.tell()


def _is_worker() -> bool:
    return multiprocessing.current_process().name == "worker"


def _wrap(home: Any, name: str, pass_by: Any) -> None:
    plain = getattr(home, name)

    def wrapped(*given: Any, **named: Any) -> Any:
        pass_by("before")
        result = plain(*given, **named)
        pass_by("after")
        return result

    setattr(home, name, wrapped)


def seal_first() -> None:
    """Erase the reports from the store before their log is written."""

    def seal(self: Any, published: Any, last: Any) -> None:
        messages = list(self.store.segments(last.task, last.number))
        self.store.seal(last.task, last.number, sum(map(len, messages)), "later", self.now)
        parquet.write(self.log(last), messages, published.asked[last.number])

    collector.Collector.seal_round = seal  # type: ignore[method-assign]


def seal_one_page() -> None:
    """Seal what the store gives at once, and forget that there may be more."""
    plain = sql.SqlStore.segments

    def segments(self: Any, task: str, number: int) -> Any:
        return iter([next(plain(self, task, number))])

    sql.SqlStore.segments = segments  # type: ignore[method-assign]


def remove_log_first() -> None:
    """Erase the log of a round before its sums and the answer are written."""

    def erase(self: Any, published: Any, record: Any) -> None:
        asked, answer = published.asked[record.number], self._answered(published)
        sums = tally_all(parquet.open_log(self.log(record), asked, record.checksum))
        parquet.erase(self.log(record))
        parquet.condense(self._sums(record), sums)
        collector.archive.write(self._archive(published), answer)
        self.store.erase(record.task, record.number, self.now)

    collector.Collector.erase_round = erase  # type: ignore[method-assign]


def examine_last() -> None:
    """Test the reports of a round only when the plan has gone on."""
    ask, examine_round = collector.Collector.ask_plan, collector.Collector.examine_round

    def ask_plan(self: Any, published: Any) -> None:
        put_off: list[Any] = []
        self.examine_round = lambda *given: put_off.append(given)
        ask(self, published)
        for given in put_off:
            examine_round(self, *given)

    collector.Collector.ask_plan = ask_plan  # type: ignore[method-assign]


def cover_too_much() -> None:
    """Take ids that came while others were merged, for a while, for merged ones."""
    plain = id_runs.Merge.note
    merge_rows = id_runs.IdRuns.merge_rows

    def merge_slowly(self: Any, connection: Any, round_key: int) -> Any:
        merge = merge_rows(self, connection, round_key)
        time.sleep(0.05)
        return merge

    def note(self: Any, connection: Any) -> None:
        query = "select max(key) from new_ids where round = ?"
        (last_key,) = connection.execute(query, (self.round,)).fetchone()
        plain(replace(self, run=replace(self.run, last_key=last_key)), connection)

    id_runs.Merge.note = note  # type: ignore[method-assign]
    id_runs.IdRuns.merge_rows = merge_slowly  # type: ignore[method-assign]


def never_sync() -> None:
    """Leave it to the kernel when anything reaches the disk."""
    os.fsync = lambda handle: None
    sqlite_file.PRAGMAS = (*sqlite_file.PRAGMAS, "synchronous = off")


def few_at_once() -> None:
    """Merge, move and erase ids after every few, where a collector does it after many."""
    id_runs.RECENT_IDS = 8
    sqlite.IDS_MOVED = 7
    sql.IDS_CLEARED = 7


def never_sync_files() -> None:
    """Leave it to the kernel when anything but the database reaches the disk."""
    files.sync = lambda path: None


TWINS = {
    "seals first": seal_first,
    "seals one page": seal_one_page,
    "removes the log first": remove_log_first,
    "tests last": examine_last,
    "covers too much": cover_too_much,
    "never syncs": never_sync,
    "does not sync files": never_sync_files,
}


def obey(orders: dict[str, Any]) -> None:
    """Make the collector in this process what the orders say."""
    if orders.get("few"):
        few_at_once()
    TWINS.get(orders.get("twin", ""), lambda: None)()
    if orders.get("point"):
        arm(*orders["point"])
    if orders.get("passes"):
        count_passes(orders["passes"])


def work_as_ordered(order: worker.Order, answer: Any) -> None:
    """Do the work of an order in a worker of a server with orders."""
    obey(json.loads(os.environ[ORDERS]))
    _run(order, answer)


_run = worker.run
