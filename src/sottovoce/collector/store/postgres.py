"""The store of several machines: PostgreSQL, any number of collector nodes, none of which knows the others.

A node takes rows in one order (rounds, report ids, claims, counters; each sorted), so that nodes never wait for each
other in a circle.  PostgreSQL notes with every row the transaction that wrote it: whoever holds its files can tell
which claims came in one call with which reports, so small calls say more than large ones.  Rows erased here are gone
for every query; the server overwrites their bytes, and those in its own journal, in its own time.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sottovoce.answers.export import optional
from sottovoce.collector.store.base import Offer, Verdict
from sottovoce.collector.store.postgres_accept import PostgresBook, lock_number, take
from sottovoce.collector.store.schema import POSTGRES, STEPS, Book, Steps, migrate
from sottovoce.collector.store.sql import SqlStore, count_messages
from sottovoce.collector.store.verdicts import tallies
from sottovoce.errors import ParameterError, UnavailableError

_CONNECT_SECONDS = 5
_IDLE = 8  # connections kept for the next callers
_SETTINGS = (
    "set synchronous_commit = on",  # whatever the server's default: an acknowledged report survives a crash
    "set default_transaction_isolation = 'read committed'",  # each statement sees what other nodes have committed
    "set lock_timeout = '10s'",
    "set idle_in_transaction_session_timeout = '60s'",  # a frozen node does not hold up the others for ever
)


class PostgresStore(SqlStore):
    """A store in one database of a server."""

    def __init__(self, url: str, *, steps: Steps = STEPS) -> None:
        self._driver = optional("psycopg", "postgres")
        self._url = url
        self._idle: deque[Any] = deque()
        self._closed = False
        try:
            with self._writing() as book:
                book.execute("select pg_advisory_xact_lock(?)", (lock_number("schema"),))
                migrate(book, POSTGRES, steps)
        except BaseException:
            self.close()
            raise

    def accept(self, offers: Sequence[Offer], refused: Mapping[tuple[str, str], int], now: int) -> list[list[Verdict]]:
        with self._writing() as book:
            verdicts = take(book, offers, now)
            count_messages(book, *tallies(offers, verdicts, refused), now, book.shard)
        return verdicts

    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        sealed = super().seal(task, number, count, checksum, now)
        if sealed:
            with suppress(UnavailableError), self._lent() as connection:
                connection.autocommit = True
                connection.execute("vacuum segments")  # now rather than some time: the payloads are to go
                connection.autocommit = False
        return sealed

    @contextmanager
    def lease(self, name: str) -> Iterator[bool]:
        with self._told():
            connection = self._connect(autocommit=True)  # of its own: the lock lives as long as the session
            try:
                row = connection.execute("select pg_try_advisory_lock(%s)", (lock_number(f"lease {name}"),)).fetchone()
            except BaseException:
                connection.close()
                raise
        try:
            yield bool(row[0])
        finally:
            connection.close()

    def backup(self, path: Path) -> None:
        raise ParameterError("a PostgreSQL store is backed up with pg_dump, and the sealed files by copying them")

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _reading(self) -> Iterator[PostgresBook]:
        with self._lent() as connection:
            try:
                yield PostgresBook(connection)
            finally:
                connection.rollback()

    @contextmanager
    def _writing(self) -> Iterator[PostgresBook]:
        with self._lent() as connection:
            try:
                yield PostgresBook(connection)
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    def _wait_for_others(self, book: Book, task: str, number: int) -> None:
        book.execute("select pg_advisory_xact_lock(?)", (lock_number(f"round {task} {number}"),))

    @contextmanager
    def _lent(self) -> Iterator[Any]:
        """Lend a connection; one that failed is not lent again, nor are those that idled while the server went away."""
        if self._closed:
            raise UnavailableError("the store is closed")
        with self._told():
            connection = self._idle.pop() if self._idle else self._connect()
            try:
                yield connection
            except self._driver.Error:
                self._drop(connection)
                raise
            except BaseException:
                self._give_back(connection)
                raise
            self._give_back(connection)

    def _connect(self, *, autocommit: bool = False) -> Any:
        connection = self._driver.connect(self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS)
        for setting in _SETTINGS:
            connection.execute(setting)
        connection.autocommit = autocommit
        return connection

    def _give_back(self, connection: Any) -> None:
        if self._closed or connection.closed or len(self._idle) >= _IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _drop(self, connection: Any) -> None:
        gone = connection.closed
        connection.close()
        while gone and self._idle:
            self._idle.pop().close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what a lost server, a deadlock or a full disk means to the caller."""
        driver = self._driver
        try:
            yield
        except (driver.IntegrityError, driver.ProgrammingError, driver.DataError):
            raise
        except driver.Error as error:
            raise UnavailableError(f"the database cannot serve: {type(error).__name__}") from error

    address_form = "postgresql://user@host/database, or key=value pairs of libpq"

    @classmethod
    def accepts(cls, address: str) -> bool:
        scheme, separator, _ = address.partition("://")
        return scheme in ("postgresql", "postgres") if separator else "=" in address

    @classmethod
    def open(cls, address: str, folder: Path) -> "PostgresStore":
        return cls(address)
