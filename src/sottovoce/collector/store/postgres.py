"""The store of several machines: PostgreSQL, and any number of nodes that do not know each other.

A node takes rows in one order (rounds, report ids, claims, counters; each sorted), so that nodes
never wait for each other in a circle.  PostgreSQL notes with every row the transaction that wrote
it: whoever holds its files can tell which claims came in one call with which reports, so small
calls say more than large ones.  Erased rows are gone for every query; the server overwrites their
bytes, and those in its own journal, in its own time.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sottovoce.answers.export import optional
from sottovoce.collector.store.base import Offer, Verdict
from sottovoce.collector.store.postgres_accept import PostgresConnection, accept, lock_number
from sottovoce.collector.store.schema import POSTGRES, STEPS, Connection, Steps, migrate
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.store.sql import SqlStore, count_messages, note_part
from sottovoce.collector.store.verdicts import message_counts
from sottovoce.errors import ParameterError, UnavailableError

_CONNECT_SECONDS = 5
_MAX_IDLE = 8  # connections kept for the next callers
_SETTINGS = (
    # An acknowledged report survives a crash, whatever the server's default.
    "set synchronous_commit = on",
    # Each statement sees what other nodes have committed.
    "set default_transaction_isolation = 'read committed'",
    "set lock_timeout = '10s'",
    # A frozen node does not hold up the others for ever.
    "set idle_in_transaction_session_timeout = '60s'",
)


class PostgresStore(SqlStore, schemes=("postgresql", "postgres")):
    """A store in one database of a server."""

    def __init__(self, url: str, *, steps: Steps = STEPS) -> None:
        self._driver = optional("psycopg", "postgres")
        self._url = url
        self._idle: deque[Any] = deque()
        self._closed = False
        try:
            with self._writing() as connection:
                lock = (lock_number("schema"),)
                connection.execute("select pg_advisory_xact_lock(?)", lock)
                migrate(connection, POSTGRES, steps)
        except BaseException:
            self.close()
            raise

    @classmethod
    def from_url(cls, url: str) -> "PostgresStore":
        return cls(url)

    def accept(
        self,
        offers: Sequence[Offer],
        refused: Mapping[tuple[str, str], int],
        now: int,
        opened: OpenedPart | None = None,
    ) -> list[list[Verdict]]:
        with self._writing() as connection:
            verdicts = accept(connection, offers, now)
            counts = message_counts(offers, verdicts, refused)
            count_messages(connection, *counts, now, connection.shard)
            note_part(connection, opened, verdicts)
        return verdicts

    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        sealed = super().seal(task, number, count, checksum, now)
        if sealed:
            self._vacuum("segments")  # now, because the payloads are to go
        return sealed

    def _overwrite_erased(self) -> None:
        self._vacuum("parts, round_keys")

    def _vacuum(self, tables: str) -> None:
        with suppress(UnavailableError), self._lent() as connection:
            connection.autocommit = True
            connection.execute(f"vacuum {tables}")
            connection.autocommit = False

    @contextmanager
    def lease(self, name: str) -> Iterator[bool]:
        lock = (lock_number(f"lease {name}"),)
        with self._unavailable_errors():
            # A connection of its own: the lock lives as long as the session.
            connection = self._connect(autocommit=True)
            try:
                row = connection.execute("select pg_try_advisory_lock(%s)", lock).fetchone()
            except BaseException:
                connection.close()
                raise
        try:
            yield bool(row[0])
        finally:
            connection.close()

    def backup(self, path: Path) -> None:
        raise ParameterError(
            "back up a PostgreSQL store with pg_dump, and the sealed files by copying"
        )

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _reading(self) -> Iterator[PostgresConnection]:
        with self._lent() as connection:
            try:
                yield PostgresConnection(connection)
            finally:
                connection.rollback()

    @contextmanager
    def _writing(self) -> Iterator[PostgresConnection]:
        with self._lent() as connection:
            try:
                yield PostgresConnection(connection)
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    def _wait_for_others(self, connection: Connection, task: str, number: int) -> None:
        lock = (lock_number(f"round {task} {number}"),)
        connection.execute("select pg_advisory_xact_lock(?)", lock)

    @contextmanager
    def _lent(self) -> Iterator[Any]:
        """Lend a connection.

        One that failed is not lent again, nor are those that idled while the server went away.
        """
        if self._closed:
            raise UnavailableError("the store is closed")
        with self._unavailable_errors():
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
        connection = self._driver.connect(
            self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS
        )
        for setting in _SETTINGS:
            connection.execute(setting)
        connection.autocommit = autocommit
        return connection

    def _give_back(self, connection: Any) -> None:
        if self._closed or connection.closed or len(self._idle) >= _MAX_IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _drop(self, connection: Any) -> None:
        gone = connection.closed
        connection.close()
        while gone and self._idle:
            self._idle.pop().close()

    @contextmanager
    def _unavailable_errors(self) -> Iterator[None]:
        """Raise ``UnavailableError`` for a lost server, a deadlock or a full disk."""
        driver = self._driver
        try:
            yield
        except (driver.IntegrityError, driver.ProgrammingError, driver.DataError):
            raise
        except driver.Error as error:
            raise UnavailableError(f"the database cannot serve: {type(error).__name__}") from error
