"""The file under a ledger: one SQLite book, durable when a call returns, and its layout over the years.

A device keeps its book longer than any release of this software.  The layout has a number; a book without one
is of the first layout, which had the message in the row of its charge.
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
create table if not exists span (seconds real, epsilon text, reports integer, primary key (seconds, epsilon, reports));
create table if not exists coin (task text primary key, coin blob not null) without rowid;
create table if not exists charge (task text primary key, epsilon text not null, time real not null) without rowid;
create table if not exists message (task text, round integer, message blob not null, primary key (task, round));
create table if not exists secret (task text primary key, secret blob not null) without rowid;
create table if not exists memo (
    task text, slot integer, tag blob, response blob not null, used integer not null, primary key (task, slot, tag)
);
create table if not exists leaving (task text primary key) without rowid;
create table if not exists queue (
    task text, round integer, name text not null, url text not null, token text,
    posted real not null, due real not null,
    attempts integer not null default 0, state text not null default 'waiting', code text not null default '',
    primary key (task, round)
);
"""


class Book:
    """Tables in one file, written by one process and one thread at a time; ``:memory:`` lives as long as the object."""

    def __init__(self, path: str | Path, now: float) -> None:
        self._turn = RLock()
        with _told():
            self._file = sqlite3.connect(_private(path), isolation_level=None, timeout=30, check_same_thread=False)
            self._file.execute("pragma journal_mode = delete")
            self._file.execute("pragma synchronous = extra")  # the entry is on the disk when the call returns
            self._file.execute("pragma secure_delete = on")  # what is erased is overwritten
        with self.writing():
            self._settle_layout(now)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do everything inside or nothing; one within another is part of it."""
        with _told(), self._turn:
            if self._file.in_transaction:
                yield
                return
            self._file.execute("begin immediate")  # one writer at a time, other processes wait
            try:
                yield
                self._file.execute("commit")
            except BaseException:
                if self._file.in_transaction:
                    self._file.execute("rollback")
                raise

    def write(self, statement: str, *arguments: object) -> None:
        """Execute one statement; durable at the end of the transaction around it."""
        with self.writing():
            self._file.execute(statement, arguments)

    def rows(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with _told(), self._turn:
            return self._file.execute(query, arguments).fetchall()

    def row(self, query: str, *arguments: object) -> tuple[Any, ...] | None:
        """Return the first row of a query, or nothing."""
        return next(iter(self.rows(query, *arguments)), None)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _settle_layout(self, now: float) -> None:
        known = {name for (name,) in self.rows("select name from sqlite_master where type = 'table'")}
        if "version" in known:
            if self.row("select number from version") != (VERSION,):
                raise BudgetError("this ledger was written by a newer version of this software: nothing was charged")
            return
        if "charge" in known:
            self.write("alter table charge rename to numberless")
        for statement in filter(str.strip, _LAYOUT.split(";")):
            self.write(statement)
        if "charge" in known:
            self._take_over(now)
        self.write("insert into version values (?)", VERSION)

    def _take_over(self, now: float) -> None:
        """Enter the charges of the first layout, which had no times, as if made now: windows refill late, not early."""
        for task, epsilon, message in self.rows("select task, epsilon, message from numberless"):
            self.write("insert into charge values (?, ?, ?)", task, epsilon, now)
            if message is not None:
                number = envelope.header(message).round
                self.write("insert into message values (?, ?, ?)", task, number, message)
        self.write("drop table numberless")


def _private(path: str | Path) -> str:
    """Return where the file is, made for its owner alone: it holds secrets."""
    if str(path) == ":memory:":
        return ":memory:"
    where = Path(path).expanduser()
    if where.parent.is_dir() and not where.exists():
        where.touch(mode=0o600)
    return str(where)


@contextmanager
def _told() -> Iterator[None]:
    """Say what a failing disk or a locked file means: without its ledger a device does not answer."""
    try:
        yield
    except (sqlite3.DatabaseError, PermissionError) as error:
        raise BudgetError("the ledger cannot be read or written, so nothing was charged and nothing is sent") from error
