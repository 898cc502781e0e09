"""The store of one machine: a SQLite file, with one writer at a time and readers never in its way.

Nothing needs to be installed or run beside it.  Several machines need ``store/postgres.py``.  An
acknowledged report survives a power cut: every transaction is synced.  Erased payloads are
overwritten, in the file and in its journal.
"""

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.collector.store.base import HASH_BYTES, TAKING, Offer, Verdict
from sottovoce.collector.store.schema import SQLITE, STEPS, Steps, migrate
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.store.sql import SqlStore, count_messages, count_users, note_part
from sottovoce.collector.store.verdicts import (
    Facts,
    accepted_part,
    judge,
    message_counts,
    token_hashes,
)
from sottovoce.engine.files import sync
from sottovoce.errors import ParameterError, UnavailableError

_BUSY_SECONDS = 5.0
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
# One statement for all pieces of a blob: the loop runs inside SQLite while other threads run.
_PIECES = (
    "with recursive numbers (i) as"
    " (select 0 union all select i + 1 from numbers where i + 1 < :count),"
    " pieces (i, piece) as (select i, substr(:blob, i * :width + 1, :width) from numbers)"
)
_ADD_IDS = f"insert or ignore into seen {_PIECES} select :round, piece from pieces"
_ADD_CLAIMS = f"insert or ignore into claims {_PIECES} select :task, :epoch, piece from pieces"
_IDS_HERE = (
    f"{_PIECES} select piece from pieces"
    " where exists (select 1 from seen where round = :round and id = piece)"
)
_CLAIMS_HERE = (
    f"{_PIECES} select piece from pieces where exists"
    " (select 1 from claims where task = :task and epoch = :epoch and hash = piece)"
)
_TOKENS_HERE = (
    f"{_PIECES} select piece from pieces where exists (select 1 from tokens"
    " where hash = piece and scope = 'enrolment' and (expires is null or expires > :now))"
)


class SqliteStore(SqlStore, schemes=("sqlite",)):
    """A store in one file, for the threads of one machine and its command line.

    ``busy_timeout`` is how many seconds a call waits for its turn to write.
    """

    def __init__(
        self, path: Path, busy_timeout: float = _BUSY_SECONDS, *, steps: Steps = STEPS
    ) -> None:
        self._path = Path(path)
        self._busy_timeout = busy_timeout
        self._write_lock = threading.Lock()
        self._readers: deque[sqlite3.Connection] = deque()
        self._closed = False
        with _unavailable_errors():
            self._writer = self._connect()
        try:
            with self._starting(), _unavailable_errors():
                for pragma in PRAGMAS:
                    self._writer.execute(f"pragma {pragma}").fetchall()
            with self._writing() as connection:
                migrate(connection, SQLITE, steps)
        except BaseException:
            self.close()
            raise

    @classmethod
    def from_url(cls, url: str) -> "SqliteStore":
        return cls(_path(url))

    @classmethod
    def exists(cls, url: str) -> bool:
        return _path(url).exists()

    def accept(
        self,
        offers: Sequence[Offer],
        refused: Mapping[tuple[str, str], int],
        now: int,
        opened: OpenedPart | None = None,
    ) -> list[list[Verdict]]:
        with self._writing() as connection:
            verdicts = [
                _accept_one(connection, offer, now) if len(offer) else [] for offer in offers
            ]
            count_messages(connection, *message_counts(offers, verdicts, refused), now)
            note_part(connection, opened, verdicts)
        return verdicts

    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        sealed = super().seal(task, number, count, checksum, now)
        if sealed:
            self._empty_journal()
        return sealed

    def erase(self, task: str, number: int, now: int) -> bool:
        erased = super().erase(task, number, now)
        if erased:
            self._empty_journal()
        return erased

    def _overwrite_erased(self) -> None:
        self._empty_journal()

    def prune(self, now: int, arrivals_before: int) -> None:
        super().prune(now, arrivals_before)
        self._empty_journal()  # a reader may have been in the way when a round was sealed

    @contextmanager
    def lease(self, name: str) -> Iterator[bool]:
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

    def backup(self, path: Path) -> None:
        if path.exists():
            raise ParameterError("`path` of a backup must be that of a new file")
        partial = path.with_name(path.name + ".partial")
        try:
            with (
                self._reading() as connection,
                _unavailable_errors(),
                closing(sqlite3.connect(partial)) as copy,
            ):
                connection.backup(copy)  # in one step: a snapshot, while the writer goes on
            sync(partial)
            partial.rename(path)
            sync(path.parent)
        except OSError as error:
            raise UnavailableError("the backup cannot be written") from error
        finally:
            partial.unlink(missing_ok=True)

    def close(self) -> None:
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
        with _unavailable_errors():
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
            with _unavailable_errors(), _transaction(self._writer):
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

    def _empty_journal(self) -> None:
        # The change is durable already: a reader in the way only delays the overwriting.
        with self._write_lock, suppress(sqlite3.OperationalError):
            self._writer.execute("pragma wal_checkpoint(truncate)").fetchall()


def _path(url: str) -> Path:
    """Return the file that a URL names."""
    parts = urlsplit(url)
    if parts.netloc or not parts.path.startswith("/"):
        raise ParameterError(
            "`database` must name a SQLite file by its whole path,"
            " such as sqlite:///srv/sottovoce/collector.db"
        )
    return Path(unquote(parts.path))


def _accept_one(connection: sqlite3.Connection, offer: Offer, now: int) -> list[Verdict]:
    query = "select key, state from rounds where task = ? and number = ?"
    row = connection.execute(query, (offer.task, offer.round)).fetchone()
    if row is None:
        return [Verdict.TOO_EARLY] * len(offer)
    key, state = row
    is_taking = state in TAKING
    if is_taking and _accept_all(connection, key, offer, now):
        return [Verdict.ACCEPTED] * len(offer)
    facts = _facts(connection, key, offer, now, is_taking=is_taking)
    return _accept_some(connection, key, offer, facts)


def _accept_all(connection: sqlite3.Connection, key: int, offer: Offer, now: int) -> bool:
    """Store an offer whose every report and token is new, or change nothing."""
    connection.execute("savepoint offer")
    stored = _tokens_valid(connection, offer, now) and _store(connection, key, offer)
    if not stored:
        connection.execute("rollback to offer")
    connection.execute("release offer")
    return stored


def _accept_some(
    connection: sqlite3.Connection, key: int, offer: Offer, facts: Facts
) -> list[Verdict]:
    verdicts = judge(offer, facts)
    accepted = accepted_part(offer, verdicts)
    if len(accepted):
        _store(connection, key, accepted)
    return verdicts


def _store(connection: sqlite3.Connection, key: int, offer: Offer) -> bool:
    """Insert ids, claims and payloads; False, and perhaps half done, if some were there."""
    ids = _pieces(_sorted(offer.ids, offer.id_bytes), offer.id_bytes)
    if connection.execute(_ADD_IDS, ids | {"round": key}).rowcount < ids["count"]:
        return False
    if offer.claims is not None:
        claims = _pieces(_sorted(offer.claims, HASH_BYTES), HASH_BYTES)
        values = claims | {"task": offer.task, "epoch": offer.epoch}
        if connection.execute(_ADD_CLAIMS, values).rowcount < len(offer):
            return False
    segment = (key, offer.data.tobytes())
    connection.execute("insert into segments (round, data) values (?, ?)", segment)
    count_users(connection, key, len(offer))
    return True


def _tokens_valid(connection: sqlite3.Connection, offer: Offer, now: int) -> bool:
    """Return whether every token may claim; True where the task asks for none."""
    if offer.claims is None or offer.verified:
        return True
    values = _pieces(offer.claims.tobytes(), HASH_BYTES) | {"now": now}
    return len(connection.execute(_TOKENS_HERE, values).fetchall()) == len(offer)


def _facts(
    connection: sqlite3.Connection, key: int, offer: Offer, now: int, *, is_taking: bool
) -> Facts:
    """Return what the store knows about the reports and tokens of an offer."""
    ids = _pieces(offer.ids.tobytes(), offer.id_bytes)
    known_ids = _selected(connection, _IDS_HERE, ids | {"round": key})
    if offer.claims is None:
        return Facts(is_taking, known_ids)
    claims = _pieces(offer.claims.tobytes(), HASH_BYTES)
    spending = {"task": offer.task, "epoch": offer.epoch}
    return Facts(
        is_taking,
        known_ids,
        valid_tokens=_valid_tokens(connection, offer, now),
        spent_tokens=_selected(connection, _CLAIMS_HERE, claims | spending),
    )


def _valid_tokens(connection: sqlite3.Connection, offer: Offer, now: int) -> set[bytes]:
    """Return the hashes of the tokens that may claim."""
    if offer.verified:
        return {hashed for hashed in token_hashes(offer) if hashed}
    assert offer.claims is not None
    values = _pieces(offer.claims.tobytes(), HASH_BYTES) | {"now": now}
    return _selected(connection, _TOKENS_HERE, values)


def _selected(
    connection: sqlite3.Connection, query: str, values: Mapping[str, object]
) -> set[bytes]:
    return {piece for (piece,) in connection.execute(query, values)}


def _pieces(blob: bytes, width: int) -> dict[str, Any]:
    """Return the values of a statement that cuts a blob into pieces of one width."""
    return {"blob": blob, "width": width, "count": len(blob) // width}


def _sorted(rows: Bytes, width: int) -> bytes:
    """Return the rows in order: neighbours share a page, and claims lose their order of arrival."""
    return np.sort(np.ascontiguousarray(rows).reshape(-1).view(f"S{width}")).tobytes()


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
def _unavailable_errors() -> Iterator[None]:
    """Raise ``UnavailableError`` for a full disk, a lock or a damaged file."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.DatabaseError as error:
        raise UnavailableError(f"the database cannot serve: {error}") from error
