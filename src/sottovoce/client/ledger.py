"""The ledger on a device's disk: one SQLite file, every entry durable before the next step.

A crash after the charge and before the message loses nothing: no message left the device, so the
same charge pays for making one anew.  A message once kept is the only one that task will ever send.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce import exact
from sottovoce.budget import Ledger, Spend, refuse_beyond
from sottovoce.errors import BudgetError, ParameterError

DEFAULT_CAP = 10.0  # the most that one device reveals in its life unless its owner says otherwise
_COIN_BYTES = 16

_SCHEMA = """
create table if not exists cap (epsilon text not null);
create table if not exists coin (task text primary key, coin blob not null) without rowid;
create table if not exists charge (task text primary key, epsilon text not null, message blob) without rowid;
"""


class DiskLedger(Ledger):
    """Charges, coins and messages of one device; ``:memory:`` keeps them only while it lives."""

    def __init__(self, path: str | Path, *, cap: float | None = None) -> None:
        where = str(path) if str(path) == ":memory:" else str(Path(path).expanduser())
        with _told():
            self._book = sqlite3.connect(where, isolation_level=None, timeout=30, check_same_thread=False)
            self._book.execute("pragma journal_mode = delete")
            self._book.execute("pragma synchronous = extra")  # the entry is on the disk when the call returns
            self._book.executescript(_SCHEMA)
        self.cap = self._settle_cap(cap)

    def charge(self, spend: Spend) -> None:
        with self._writing():
            if self._row("select 1 from charge where task = ?", spend.task):
                raise BudgetError("this device has already answered this task")
            refuse_beyond(self.cap, self.spent, spend.epsilon)
            self._book.execute("insert into charge values (?, ?, null)", (spend.task, repr(spend.epsilon)))

    def keep(self, task: str, message: bytes) -> bytes:
        with self._writing():
            if not self.charged(task):
                raise BudgetError("a message must be charged before it is kept")
            self._book.execute("update charge set message = ? where task = ? and message is null", (message, task))
        kept = self.message(task)
        assert kept is not None
        return kept

    def message(self, task: str) -> bytes | None:
        row = self._row("select message from charge where task = ?", task)
        return row[0] if row and isinstance(row[0], bytes) else None

    def charged(self, task: str) -> bool:
        """Return whether a task has been paid for."""
        return self._row("select 1 from charge where task = ?", task) is not None

    def coin(self, task: str) -> bytes:
        with self._writing():
            self._book.execute("insert or ignore into coin values (?, ?)", (task, os.urandom(_COIN_BYTES)))
        row = self._row("select coin from coin where task = ?", task)
        assert row is not None
        assert isinstance(row[0], bytes)
        return row[0]

    @property
    def spent(self) -> float:
        charges = self._book.execute("select epsilon from charge")
        return float(sum(exact.stated(float(row[0])) for row in charges))  # in decimals: ten tenths are one

    def entries(self) -> list[Spend]:
        """Return what was charged, for showing to the device's owner."""
        return [Spend(task, float(epsilon)) for task, epsilon in self._book.execute("select task, epsilon from charge")]

    def close(self) -> None:
        """Let go of the file."""
        self._book.close()

    def _settle_cap(self, cap: float | None) -> float:
        with self._writing():
            row = self._row("select epsilon from cap")
            if row is None:
                self._book.execute("insert into cap values (?)", (repr(float(cap or DEFAULT_CAP)),))
            elif cap is not None and float(str(row[0])) != cap:
                raise ParameterError("this ledger was opened with another cap; a cap is never raised afterwards")
        row = self._row("select epsilon from cap")
        assert row is not None
        return float(str(row[0]))

    def _row(self, query: str, *arguments: object) -> tuple[object, ...] | None:
        with _told():
            row: tuple[object, ...] | None = self._book.execute(query, arguments).fetchone()
        return row

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with _told():
            self._book.execute("begin immediate")  # one writer at a time, other processes wait
            try:
                yield
                self._book.execute("commit")
            except BaseException:
                self._book.execute("rollback")
                raise


@contextmanager
def _told() -> Iterator[None]:
    """Say what a failing disk or a locked file means: without its ledger a device does not answer."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise BudgetError("the ledger cannot be read or written, so nothing was charged and nothing is sent") from error
