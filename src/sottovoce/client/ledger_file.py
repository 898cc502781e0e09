"""The file under a ledger: SQLite tables that are durable when a call returns.

A device keeps its ledger longer than any release of this software, so the layout of the tables has
a number.  A file without a number has the first layout, in which the message stood in the row of
its charge; it is converted when it is opened.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from sottovoce.errors import BudgetError
from sottovoce.wire import envelope

VERSION = 1

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
create table if not exists message (
    task text, round integer, message blob not null, primary key (task, round)
);
create table if not exists secret (task text primary key, secret blob not null) without rowid;
create table if not exists memo (
    task text, slot integer, tag blob, response blob not null, used integer not null,
    primary key (task, slot, tag)
);
create table if not exists leaving (task text primary key) without rowid;
create table if not exists queue (
    task text, round integer, name text not null, url text not null, token text,
    posted real not null, due real not null,
    attempts integer not null default 0, state text not null default 'waiting',
    code text not null default '',
    primary key (task, round)
);
"""


class LedgerFile:
    """The tables of a ledger, written by one process and one thread at a time.

    The path ``:memory:`` makes tables that live as long as the object.  ``now`` is the time that
    charges get which the first layout kept without one.
    """

    def __init__(self, path: str | Path, now: float) -> None:
        self._lock = RLock()
        with _budget_errors():
            self._connection = sqlite3.connect(
                _private(path), isolation_level=None, timeout=30, check_same_thread=False
            )
            self._connection.execute("pragma journal_mode = delete")
            # What is written is on the disk when the call returns; what is erased is overwritten.
            self._connection.execute("pragma synchronous = extra")
            self._connection.execute("pragma secure_delete = on")
        with self.writing():
            self._prepare(now)

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

    def _prepare(self, now: float) -> None:
        """Make the tables, or convert those of the first layout."""
        query = "select name from sqlite_master where type = 'table'"
        tables = {name for (name,) in self.rows(query)}
        if "version" in tables:
            if self.row("select number from version") != (VERSION,):
                raise BudgetError(
                    "this ledger was written by a newer version of this software:"
                    " nothing was charged"
                )
            return
        has_first_layout = "charge" in tables
        if has_first_layout:
            self.write("alter table charge rename to numberless")
        for statement in filter(str.strip, _LAYOUT.split(";")):
            self.write(statement)
        if has_first_layout:
            self._convert_first_layout(now)
        self.write("insert into version values (?)", VERSION)

    def _convert_first_layout(self, now: float) -> None:
        """Copy the charges of the first layout, as if they were made now.

        The first layout kept no times.  With the present time windows refill late, never early.
        """
        for task, epsilon, message in self.rows("select task, epsilon, message from numberless"):
            self.write("insert into charge values (?, ?, ?)", task, epsilon, now)
            if message is not None:
                number = envelope.header(message).round
                self.write("insert into message values (?, ?, ?)", task, number, message)
        self.write("drop table numberless")


def _private(path: str | Path) -> str:
    """Return the path of a file that only its owner may read: it holds secrets."""
    if str(path) == ":memory:":
        return ":memory:"
    expanded = Path(path).expanduser()
    if expanded.parent.is_dir() and not expanded.exists():
        expanded.touch(mode=0o600)
    return str(expanded)


@contextmanager
def _budget_errors() -> Iterator[None]:
    """Raise ``BudgetError`` for a failing disk or a locked file: nothing is sent uncharged."""
    try:
        yield
    except (sqlite3.DatabaseError, PermissionError) as error:
        raise BudgetError(
            "the ledger cannot be read or written, so nothing was charged and nothing is sent"
        ) from error
