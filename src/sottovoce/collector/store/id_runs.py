"""The report ids of open rounds in the embedded store: rows that are kept, and runs to search.

Whether a report was here before is asked for every report, and nearly always the answer is no.  A
B-tree of random ids writes a page for each.  So the ids of a call are one row of ``new_ids``,
written in the transaction of the reports.  That table alone is the truth.

To search it, the ids of many rows are merged into a sorted file, a run (``sorted_ids.py``), and
runs into larger runs, as in a log-structured merge tree:

    rows up to ``last_key`` = the ids in all runs of a round, without order or gaps
    rows after it           = in the memory of every process, at most about ``RECENT_IDS`` ids

A run is synced before a row of ``id_runs`` names it, and never changes.  It holds nothing that the
rows do not hold: a run that is missing is written again.  When a round is sealed its ids move to
``seen``, in order, so that nothing is left of the order in which they came.

Source: O'Neil et al. 1996.
"""

import glob
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sottovoce.arrays import Bools
from sottovoce.collector.store.sorted_ids import SortedIds, merged, write
from sottovoce.core.durable import sync
from sottovoce.core.rng import SystemRng
from sottovoce.errors import UnavailableError
from sottovoce.wire.envelope import ID_BYTES

RECENT_IDS = 1 << 17  # in memory: more are merged into a run
MAX_BEHIND = 8  # times as many are merged at once, and at most so many are read at a start
GROWTH = 4  # a run takes in those before it that are not so many times larger
AT_ONCE = 1 << 16  # ids of each part in memory while parts are merged
IDLE_SECONDS = 60  # after which a process forgets what it knows of a round
_NAME_BYTES = 8

_RUNS = "select name, last_key, ids from id_runs where round = ? order by ids"
_ROWS = "select key, ids from new_ids where round = ? and key > ? order by key"
_ROW_SIZES = "select key, length(ids) from new_ids where round = ? and key > ? order by key"
_ADD_ROW = "insert into new_ids (round, ids) values (?, ?)"
_HAS_SEEN = "select exists (select 1 from seen where round = ?)"


@dataclass(frozen=True)
class Run:
    """A file of sorted ids: it holds ids of the rows of its round up to a key."""

    name: str
    last_key: int
    count: int


@dataclass
class _RoundIds:
    """What this process knows of the ids of one round."""

    last_key: int = 0  # the last row that is in a run or in memory
    covered: int = 0  # the last row that is in a run
    runs: dict[str, SortedIds] = field(default_factory=dict)
    recent: list[tuple[int, SortedIds]] = field(default_factory=list)  # with the last row of each
    used: int = 0  # when

    @property
    def recent_count(self) -> int:
        return sum(len(ids) for _, ids in self.recent)

    def add(self, key: int, ids: SortedIds) -> None:
        """Add a row; parts of the same size are merged, so that few are to be searched."""
        self.last_key = key
        self.recent.append((key, ids))
        while len(self.recent) > 1 and _is_small(self.recent[-2][1], self.recent[-1][1]):
            last = [self.recent.pop()[1], self.recent.pop()[1]]
            self.recent.append((key, SortedIds.together(last)))

    def parts(self) -> list[SortedIds]:
        """Return everything that is to be searched."""
        return [*self.runs.values(), *(ids for _, ids in self.recent)]


class IdRuns:
    """The runs beside a database file, and what a process has in memory.

    Whoever writes or removes runs of a round holds a lease, so that there is one at a time.
    Everything in memory was read from committed rows, in a transaction that excludes writers.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._rounds: dict[int, _RoundIds] = {}

    # What accepting reports needs, inside its transaction

    def parts(self, connection: sqlite3.Connection, round_key: int, now: int) -> list[SortedIds]:
        """Return all ids of a round that are in rows, in parts to search."""
        runs = _runs(connection, round_key)
        known = self._rounds.pop(round_key, None) or _RoundIds()
        if _last_key(runs) < known.covered:  # a file is missing, so that runs are written again
            known = _RoundIds()
        known.used = now
        if known.runs.keys() != {run.name for run in runs}:
            self._use(runs, known)
        rows = connection.execute(_ROWS, (round_key, known.last_key)).fetchall()
        if rows:  # of quiet days a row has one id: they are sorted together, not one by one
            blob = b"".join(ids for _, ids in rows)
            known.add(rows[-1][0], SortedIds.of(np.frombuffer(blob, np.uint8)))
        self._rounds[round_key] = known  # not if memory was missing and something is half done
        return known.parts()

    def _use(self, runs: Sequence[Run], known: _RoundIds) -> None:
        """Search these runs, and forget what was in memory and is in them now."""
        known.runs = {run.name: known.runs.get(run.name) or self._mapped(run.name) for run in runs}
        known.covered = _last_key(runs)
        known.recent = [(key, ids) for key, ids in known.recent if key > known.covered]
        known.last_key = max(known.last_key, known.covered)

    def recent_count(self, round_key: int) -> int:
        """Return how many ids of a round are in memory."""
        known = self._rounds.get(round_key)
        return known.recent_count if known else 0

    def forget_idle(self, now: int) -> None:
        """Forget the rounds that nobody asked for lately: their files may be gone."""
        for round_key, known in list(self._rounds.items()):
            if abs(now - known.used) > IDLE_SECONDS:
                del self._rounds[round_key]

    def forget(self, round_key: int) -> None:
        """Forget a round, so that the next who asks reads it again."""
        self._rounds.pop(round_key, None)

    # Runs: with the lease

    def merge_rows(self, connection: sqlite3.Connection, round_key: int) -> "Merge | None":
        """Write rows that are in no run, and runs that are not much larger, as one durable run.

        None if there are no such rows.  Nothing counts until the merge is noted.
        """
        runs = _runs(connection, round_key)
        last_key = _last_key(runs)
        parts = []
        count = 0
        for key, blob in connection.execute(_ROWS, (round_key, last_key)):
            parts.append(SortedIds.from_bytes(blob))
            count += len(parts[-1])
            last_key = key
            if count >= MAX_BEHIND * RECENT_IDS:
                break
        if not parts:
            return None
        replaced = []
        for run in runs:  # the smallest first
            if run.count > GROWTH * count:
                break
            replaced.append(run)
            count += run.count
        rows = SortedIds.together(parts)
        whole = [self._mapped(run.name) for run in replaced]
        name = f"{round_key}-{SystemRng().bytes(_NAME_BYTES).hex()}"  # a name is never used again
        path = self._path(name)
        try:
            write(path, count, merged([rows, *whole], AT_ONCE))
            sync(path)
            sync(path.parent)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return Merge(round_key, Run(name, last_key, count), replaced)

    def all_ids(self, connection: sqlite3.Connection, round_key: int) -> Iterator[SortedIds]:
        """Yield all ids of a round that are in rows, in order."""
        runs = _runs(connection, round_key)
        rows = connection.execute(_ROWS, (round_key, _last_key(runs))).fetchall()
        parts = [self._mapped(run.name) for run in runs]
        if rows:
            parts.append(SortedIds.together([SortedIds.from_bytes(blob) for _, blob in rows]))
        return merged(parts, AT_ONCE)

    def remove(self, runs: Sequence[Run]) -> None:
        """Remove files that no row names any more; who reads them may read on."""
        for run in runs:
            self._path(run.name).unlink(missing_ok=True)

    def remove_leftovers(self, connection: sqlite3.Connection, round_key: int) -> None:
        """Remove the files of a round that a crash has left and no row names."""
        named = {self._path(run.name) for run in _runs(connection, round_key)}
        for path in set(self._files(f"{round_key}-*")) - named:
            path.unlink(missing_ok=True)

    def remove_files(self, round_key: int) -> None:
        """Remove all files of a round, named or not."""
        for path in self._files(f"{round_key}-*"):
            path.unlink(missing_ok=True)

    def rounds_with_files(self) -> set[int]:
        """Return the rounds of which there are files."""
        return {int(path.name.split(".")[-2].split("-")[0]) for path in self._files("*-*")}

    def drop_missing(self, connection: sqlite3.Connection, round_key: int) -> None:
        """Let no run of a round count if a file is missing: they are written again."""
        runs = _runs(connection, round_key)
        if any(self._size(run.name) != run.count * ID_BYTES for run in runs):
            forget_runs(connection, round_key)

    def _mapped(self, name: str) -> SortedIds:
        try:
            return SortedIds.mapped(self._path(name))
        except (OSError, ValueError) as error:
            raise UnavailableError("a file of report ids cannot be read") from error

    def _size(self, name: str) -> int:
        path = self._path(name)
        return path.stat().st_size if path.exists() else -1

    def _files(self, names: str) -> Iterator[Path]:
        pattern = f"{glob.escape(self._database.name)}.{names}.ids"
        return self._database.parent.glob(pattern)

    def _path(self, name: str) -> Path:
        return self._database.with_name(f"{self._database.name}.{name}.ids")


@dataclass(frozen=True)
class Merge:
    """A run that was written, and the runs that it replaces."""

    round: int
    run: Run
    replaced: Sequence[Run]

    def note(self, connection: sqlite3.Connection) -> None:
        """Let the run count, and those that it replaces no more."""
        for run in self.replaced:
            connection.execute("delete from id_runs where name = ?", (run.name,))
        values = (self.run.name, self.round, self.run.last_key, self.run.count)
        connection.execute("insert into id_runs values (?, ?, ?, ?)", values)


def add_row(connection: sqlite3.Connection, round_key: int, ids: SortedIds) -> None:
    """Store the ids of reports that are accepted."""
    connection.execute(_ADD_ROW, (round_key, ids.to_bytes()))


def forget_runs(connection: sqlite3.Connection, round_key: int) -> None:
    """Let no run of a round count any more."""
    connection.execute("delete from id_runs where round = ?", (round_key,))


def behind(connection: sqlite3.Connection, round_key: int) -> int:
    """Return how many ids of a round are in no run."""
    last_key = _last_key(_runs(connection, round_key))
    sizes = connection.execute(_ROW_SIZES, (round_key, last_key))
    return sum(int(size) for _, size in sizes) // ID_BYTES


def has_seen(connection: sqlite3.Connection, round_key: int) -> bool:
    """Return whether ids of a round are in ``seen``: those of sealed rounds, or of version 0.1."""
    return bool(connection.execute(_HAS_SEEN, (round_key,)).fetchone()[0])


def which_are_known(ids: SortedIds, parts: Sequence[SortedIds]) -> Bools:
    """Return which ids are in one of the parts."""
    known = np.zeros(len(ids), bool)
    for part in parts:
        known |= ids.among(part)
    return known


def _runs(connection: sqlite3.Connection, round_key: int) -> list[Run]:
    return [Run(*row) for row in connection.execute(_RUNS, (round_key,)).fetchall()]


def _last_key(runs: Sequence[Run]) -> int:
    return max((run.last_key for run in runs), default=0)


def _is_small(before: SortedIds, last: SortedIds) -> bool:
    return len(before) <= 2 * len(last)
