"""The file under a ledger: SQLite tables that are durable when a call returns.

A device keeps its ledger longer than any release of this software, so the layout of the tables has
a number.

Beside the file stands a marker, ``<ledger>.made``, which is written once the tables are on the
disk.  A marker without tables means that the ledger was removed or cut: what the device has spent
is not known any more, so nothing may be sent.  An older copy of the file that somebody puts back is
not noticed.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from sottovoce.errors import BudgetError

VERSION = 2
BUSY_SECONDS = 30.0  # how long a call waits for another process to write
MARKER = ".made"  # what the name of the marker adds to that of the ledger

_LAYOUT = """
create table if not exists version (number integer not null);
create table if not exists cap (epsilon text not null);
create table if not exists span (
    seconds real, epsilon text, reports integer, primary key (seconds, epsilon, reports)
);
create table if not exists coin (task text primary key, coin blob not null) without rowid;
create table if not exists charge (
    task text primary key, epsilon text not null, time real not null
) without rowid;
create table if not exists conditional (
    task text primary key, epsilon text not null, delta text not null
) without rowid;
create table if not exists blind_token (
    task text primary key, pending blob, token blob
) without rowid;
create table if not exists meaning (
    origin text, name text, meaning text not null, primary key (origin, name)
) without rowid;
create table if not exists message (
    task text, round integer, message blob, primary key (task, round)
);
create table if not exists secret (task text primary key, secret blob not null) without rowid;
create table if not exists memo (
    task text, slot integer, tag blob, response blob not null, used integer not null,
    primary key (task, slot, tag)
);
create table if not exists leaving (task text primary key) without rowid;
create table if not exists queue (
    task text, round integer, name text not null, url text not null, token text,
    origin text not null, fingerprint blob not null,
    posted real not null, due real not null,
    attempts integer not null default 0, state text not null default 'waiting',
    reason text not null default '', settled real,
    primary key (task, round)
);
"""


class LedgerFile:
    """The tables of a ledger, written by one process and one thread at a time.

    The path ``:memory:`` makes tables that live as long as the object.
    """

    def __init__(self, path: str | Path) -> None:
        self._lock = RLock()
        self._path = None if str(path) == ":memory:" else Path(path).expanduser()
        with _budget_errors():
            # The marker is looked for first: another process may be making tables and marker now.
            had_tables = self._path is not None and _marker(self._path).exists()
            if had_tables and not _has_content(self._path):
                raise _gone()
            self._connection = _connected(self._path)
            try:
                self._prepare(had_tables)
            except BaseException:
                self._connection.close()
                raise

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do everything in the block or nothing; a block within another is part of it."""
        with _budget_errors(), self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("begin immediate")  # one writer at a time: processes wait
            try:
                yield
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise

    def write(self, statement: str, *arguments: object) -> None:
        """Execute one statement; durable at the end of the transaction around it."""
        with self.writing():
            self._connection.execute(statement, arguments)

    def rows(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with _budget_errors(), self._lock:
            return self._connection.execute(query, arguments).fetchall()

    def row(self, query: str, *arguments: object) -> tuple[Any, ...] | None:
        """Return the first row of a query, if there is one."""
        return next(iter(self.rows(query, *arguments)), None)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _prepare(self, had_tables: bool) -> None:
        """Make the tables and the marker, or check those that are there."""
        with self.writing():
            query = "select 1 from sqlite_master where type = 'table' and name = 'version'"
            if self.row(query) is None:
                if had_tables:
                    raise _gone()
                self._make_tables()
            elif self.row("select number from version") != (VERSION,):
                raise BudgetError(
                    "this ledger was written by another version of this software:"
                    " nothing was charged"
                )
        if self._path is not None and not had_tables:
            _write_marker(self._path)

    def _make_tables(self) -> None:
        for statement in filter(str.strip, _LAYOUT.split(";")):
            self.write(statement)
        self.write("insert into version values (?)", VERSION)


def _connected(path: Path | None) -> sqlite3.Connection:
    """Return a connection to a file that only its owner may read: it holds secrets."""
    if path is not None and path.parent.is_dir() and not path.exists():
        path.touch(mode=0o600)
    name = ":memory:" if path is None else str(path)
    connection = sqlite3.connect(
        name, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False
    )
    connection.execute("pragma journal_mode = delete")
    # What is written is on the disk when the call returns; what is erased is overwritten.
    connection.execute("pragma synchronous = extra")
    connection.execute("pragma secure_delete = on")
    return connection


def _marker(path: Path) -> Path:
    return path.with_name(path.name + MARKER)


def _has_content(path: Path | None) -> bool:
    return path is not None and path.exists() and path.stat().st_size > 0


def _write_marker(path: Path) -> None:
    """Put the marker beside a ledger, on the disk when the call returns."""
    with _marker(path).open("w") as marker:
        marker.write("This device has a ledger: without it, nothing is sent.\n")
        marker.flush()
        os.fsync(marker.fileno())
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _gone() -> BudgetError:
    return BudgetError(
        "this device has had a ledger that is gone or cut, so what it has spent is not known:"
        " nothing is sent; restore it, or remove the marker to begin anew"
    )


@contextmanager
def _budget_errors() -> Iterator[None]:
    """Raise ``BudgetError`` for a failing disk or a locked file: nothing is sent uncharged."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise BudgetError(
            "the ledger cannot be read or written, so nothing was charged and nothing is sent"
        ) from error
