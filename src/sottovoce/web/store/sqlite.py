"""A SQLite file of a server process: one writer at a time, and readers never in its way.

What is committed survives a power cut: every transaction is synced.  Erased rows are overwritten,
in the file and in its journal.
"""

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.web.store.schema import SQLITE, Steps, migrate

BUSY_SECONDS = 5.0
# Random ids fall on a page each, so small pages and rare checkpoints write less.  Writing half as
# much was measured to be twice as fast.
_PAGE_BYTES = 2048
_JOURNAL_BYTES = 64 << 20
_CACHE_KIB = 16 << 10  # more was not faster, and fills up as reports come in
PRAGMAS = (
    f"page_size = {_PAGE_BYTES}",
    "journal_mode = wal",
    "synchronous = full",
    "secure_delete = on",
    "foreign_keys = on",
    "temp_store = memory",  # what a savepoint may have to undo
    f"cache_size = -{_CACHE_KIB}",
    f"wal_autocheckpoint = {_JOURNAL_BYTES // _PAGE_BYTES}",
    f"journal_size_limit = {_JOURNAL_BYTES}",
)


class SqliteFile:
    """A database in one file, for the threads of one machine and its command line.

    ``busy_timeout`` is how many seconds a call waits for its turn to write.
    """

    def __init__(self, path: Path, steps: Steps, busy_timeout: float = BUSY_SECONDS) -> None:
        self._path = Path(path)
        self._busy_timeout = busy_timeout
        self._write_lock = threading.Lock()
        self._readers: deque[sqlite3.Connection] = deque()
        self._closed = False
        with unavailable_errors():
            self._writer = self._connect()
        try:
            with self._starting(), unavailable_errors():
                for pragma in PRAGMAS:
                    self._writer.execute(f"pragma {pragma}").fetchall()
            with self._writing() as connection:
                migrate(connection, SQLITE, steps)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def lease(self, name: str) -> Iterator[bool]:
        """Hold a lease while the block lasts; False if another thread or process has it."""
        if not name or "/" in name:
            raise ParameterError("`name` of a lease must be text without a slash")
        with self._lock_file(name) as handle:
            try:
                # The lock belongs to this opening of the file, so threads exclude each other too.
                flock(handle, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                yield False
                return
            try:
                yield True
            finally:
                flock(handle, LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        with self._write_lock:
            self._writer.close()
        while self._readers:
            self._readers.pop().close()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path, self._busy_timeout, isolation_level=None, check_same_thread=False
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self._refuse_if_closed()
        with unavailable_errors():
            connection = self._readers.pop() if self._readers else self._connect()
            try:
                yield connection
            finally:
                self._readers.append(connection)
                if self._closed:
                    self.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        if not self._write_lock.acquire(timeout=self._busy_timeout):
            raise UnavailableError("the database is busy")
        try:
            self._refuse_if_closed()
            with unavailable_errors(), _transaction(self._writer):
                yield self._writer
        finally:
            self._write_lock.release()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise UnavailableError("the store is closed")

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Let one process at a time make the file: SQLite does not wait for a change of journal."""
        with self._lock_file("start") as handle:
            flock(handle, LOCK_EX)
            yield

    @contextmanager
    def _lock_file(self, name: str) -> Iterator[int]:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            handle = os.open(f"{self._path}.{name}.lock", flags, 0o600)
        except OSError as error:
            raise UnavailableError("the folder of the database cannot be written") from error
        try:
            yield handle
        finally:
            os.close(handle)

    def empty_journal(self) -> None:
        """Overwrite what the journal still shows of rows that are gone."""
        # The change is durable already: a reader in the way only delays the overwriting.
        with self._write_lock, suppress(sqlite3.OperationalError):
            self._writer.execute("pragma wal_checkpoint(truncate)").fetchall()


def path_of(url: str) -> Path:
    """Return the file that a URL names."""
    parts = urlsplit(url)
    if parts.netloc or not parts.path.startswith("/"):
        raise ParameterError(
            "`database` must name a SQLite file by its whole path,"
            " such as sqlite:///srv/sottovoce/collector.db"
        )
    return Path(unquote(parts.path))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    # The lock at once: a transaction that has read never has to give up.
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:  # a full disk makes SQLite roll back by itself
            connection.execute("rollback")
        raise


@contextmanager
def unavailable_errors() -> Iterator[None]:
    """Raise ``UnavailableError`` for a full disk, a lock or a damaged file."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.DatabaseError as error:
        raise UnavailableError(f"the database cannot serve: {error}") from error
