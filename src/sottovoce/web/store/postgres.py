"""A PostgreSQL database of a service with any number of nodes, which do not know each other."""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from typing import Any

from sottovoce.answers.export import optional
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.web.store.postgres_trouble import words_of
from sottovoce.web.store.schema import POSTGRES, Steps, migrate

_SHARDS = 32
_CONNECT_SECONDS = 5
_MAX_IDLE = 8  # connections kept for the next callers
_SETTINGS = (
    # An acknowledged message survives a crash, whatever the server's default.
    "set synchronous_commit = on",
    # Each statement sees what other nodes have committed.
    "set default_transaction_isolation = 'read committed'",
    "set lock_timeout = '10s'",
    # A frozen node does not hold up the others for ever.
    "set idle_in_transaction_session_timeout = '60s'",
)


class PostgresConnection:
    """A connection that takes question marks in SQL, and many ids or hashes as one value."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.shard = connection.info.backend_pid % _SHARDS

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql.replace("?", "%s"), values)

    def executemany(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s"), values)

    def among(self, pieces: Collection[bytes], sql: str, *values: Any) -> set[bytes]:
        """Return those of the pieces that a statement returns; they are its last value."""
        if not pieces:
            return set()
        with self._connection.cursor(binary=True) as cursor:
            rows = cursor.execute(sql.replace("?", "%s"), (*values, sorted(pieces)))
            return {piece for (piece,) in rows}


class PostgresDatabase:
    """One database of a server."""

    def __init__(self, url: str, steps: Steps) -> None:
        self._driver = optional("psycopg", "postgres")
        self._url = url
        self._idle: deque[Any] = deque()
        self._closed = False
        self._give_back(self._first_connection())
        try:
            with self._writing() as connection:
                lock = (lock_number("schema"),)
                connection.execute("select pg_advisory_xact_lock(?)", lock)
                migrate(connection, POSTGRES, steps)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def lease(self, name: str) -> Iterator[bool]:
        """Hold a lease while the block lasts; False if another session has it."""
        lock = (lock_number(f"lease {name}"),)
        with self._unavailable_errors():
            # A connection of its own: the lock lives as long as the session.
            connection = self._connect(autocommit=True)
            try:
                row = connection.execute("select pg_try_advisory_lock(%s)", lock).fetchone()
            except BaseException:
                connection.close()
                raise
        is_held = bool(row[0])
        try:
            yield is_held
        finally:
            with closing(connection):
                # The server ends a closed session in its own time, and would keep the lock until
                # then.  A session that is broken has lost its lock already.
                if is_held and not connection.broken:
                    with suppress(self._driver.Error):
                        connection.execute("select pg_advisory_unlock(%s)", lock)

    def close(self) -> None:
        """Close all connections."""
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

    def _first_connection(self) -> Any:
        """Return a connection, or tell the operator why there is none.

        Until there is a connection, a message of the driver tells of the server, never of reports.
        Later errors may be answers to strangers, who learn nothing of the server.
        """
        try:
            return self._connect()
        except self._driver.ProgrammingError:
            # The message of the driver quotes the URL, with its password.
            raise ParameterError(
                "`database` (SOTTOVOCE_DATABASE) must be a URL such as "
                "postgresql://user:password@host:5432/name, with special characters "
                "percent-encoded"
            ) from None
        except self._driver.OperationalError as error:
            reason = " ".join(str(error).split())
            raise UnavailableError(f"the database cannot be reached: {reason}") from None

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
            raise UnavailableError(words_of(error.sqlstate)) from error


def lock_number(name: str) -> int:
    """Return the number of an advisory lock, the same on every node."""
    digest = sha256(f"sottovoce {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
