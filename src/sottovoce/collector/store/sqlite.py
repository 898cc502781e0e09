"""The store of one machine: a SQLite file, one writer at a time, readers never in its way.

Nothing needs to be installed or run beside it.  Several machines need ``store/postgres.py``.  An acknowledged report
survives a power cut: every transaction is synced.  Erased payloads are overwritten, in the file and in its journal.
"""

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.collector.store.base import HASH_BYTES, TAKING, Offer, Verdict
from sottovoce.collector.store.schema import SQLITE, STEPS, Steps, migrate
from sottovoce.collector.store.sql import SqlStore, count_messages, count_users
from sottovoce.collector.store.verdicts import ID_BYTES, Facts, chosen, judge, tallies
from sottovoce.errors import ParameterError, UnavailableError

_BUSY_SECONDS = 5.0
# Random ids fall on a page each: small pages and rare checkpoints write less, and half as much is twice as fast.
_PAGE_BYTES = 2048
_JOURNAL_BYTES = 64 << 20
_CACHE_KIB = 16 << 10  # more was not faster, and fills up as reports come in
_PRAGMAS = (
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
# One statement for all pieces of a blob: the loop runs inside SQLite, and other threads run meanwhile.
_PIECES = (
    "with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i + 1 < :count),"
    " pieces (i, piece) as (select i, substr(:blob, i * :width + 1, :width) from numbers)"
)
_ADD_IDS = f"insert or ignore into seen {_PIECES} select :round, piece from pieces"
_ADD_CLAIMS = f"insert or ignore into claims {_PIECES} select :task, :epoch, piece from pieces"
_IDS_HERE = f"{_PIECES} select piece from pieces where exists (select 1 from seen where round = :round and id = piece)"
_CLAIMS_HERE = (
    f"{_PIECES} select piece from pieces"
    " where exists (select 1 from claims where task = :task and epoch = :epoch and hash = piece)"
)
_TOKENS_HERE = (
    f"{_PIECES} select piece from pieces where exists (select 1 from tokens"
    " where hash = piece and scope = 'enrolment' and (expires is null or expires > :now))"
)

FILE_NAME = "collector.db"


class SqliteStore(SqlStore):
    """A store in one file, for the threads of one machine and its command line."""

    def __init__(self, path: Path, busy_timeout: float = _BUSY_SECONDS, *, steps: Steps = STEPS) -> None:
        self._path = Path(path)
        self._patience = busy_timeout
        self._turn = threading.Lock()
        self._readers: deque[sqlite3.Connection] = deque()
        self._closed = False
        with _told():
            self._book = self._connect()
        try:
            with self._starting(), _told():
                for pragma in _PRAGMAS:
                    self._book.execute(f"pragma {pragma}").fetchall()
            with self._writing() as book:
                migrate(book, SQLITE, steps)
        except BaseException:
            self.close()
            raise

    def accept(self, offers: Sequence[Offer], refused: Mapping[tuple[str, str], int], now: int) -> list[list[Verdict]]:
        with self._writing() as book:
            verdicts = [_accept_one(book, offer, now) if len(offer) else [] for offer in offers]
            count_messages(book, *tallies(offers, verdicts, refused), now)
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

    def prune(self, now: int, arrivals_before: int) -> None:
        super().prune(now, arrivals_before)
        self._empty_journal()  # should a reader have been in the way when a round was sealed

    @contextmanager
    def lease(self, name: str) -> Iterator[bool]:
        if not name or "/" in name:
            raise ParameterError("the name of a lease is part of a file's name, without a slash")
        with self._lock_file(name) as handle:
            try:
                flock(
                    handle, LOCK_EX | LOCK_NB
                )  # belongs to this opening of the file, so threads exclude each other too
            except BlockingIOError:
                yield False
                return
            try:
                yield True
            finally:
                flock(handle, LOCK_UN)

    def backup(self, path: Path) -> None:
        if path.exists():
            raise ParameterError("a backup is a new file, and this one exists")
        partial = path.with_name(path.name + ".partial")
        try:
            with self._reading() as book, _told(), closing(sqlite3.connect(partial)) as copy:
                book.backup(copy)  # in one step: a snapshot, while the writer goes on
            _sync(partial)
            partial.rename(path)
            _sync(path.parent)
        except OSError as error:
            raise UnavailableError("the backup cannot be written") from error
        finally:
            partial.unlink(missing_ok=True)

    def close(self) -> None:
        self._closed = True
        with self._turn:
            self._book.close()
        while self._readers:
            self._readers.pop().close()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, self._patience, isolation_level=None, check_same_thread=False)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self._refuse_if_closed()
        with _told():
            book = self._readers.pop() if self._readers else self._connect()
            try:
                yield book
            finally:
                self._readers.append(book)
                if self._closed:
                    self.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        if not self._turn.acquire(timeout=self._patience):
            raise UnavailableError("the database is busy")
        try:
            self._refuse_if_closed()
            with _told(), _transaction(self._book):
                yield self._book
        finally:
            self._turn.release()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise UnavailableError("the store is closed")

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Let one process at a time make the file: SQLite does not wait when two change its journal."""
        with self._lock_file("start") as handle:
            flock(handle, LOCK_EX)
            yield

    @contextmanager
    def _lock_file(self, name: str) -> Iterator[int]:
        try:
            handle = os.open(f"{self._path}.{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UnavailableError("the folder of the database cannot be written") from error
        try:
            yield handle
        finally:
            os.close(handle)

    def _empty_journal(self) -> None:
        # The round is sealed already: a reader in the way only delays the overwriting.
        with self._turn, suppress(sqlite3.OperationalError):
            self._book.execute("pragma wal_checkpoint(truncate)").fetchall()

    address_form = "none: a file in the collector's folder"

    @classmethod
    def accepts(cls, address: str) -> bool:
        return not address

    @classmethod
    def exists(cls, address: str, folder: Path) -> bool:
        return (folder / FILE_NAME).exists()

    @classmethod
    def open(cls, address: str, folder: Path) -> "SqliteStore":
        return cls(folder / FILE_NAME)


def _accept_one(book: sqlite3.Connection, offer: Offer, now: int) -> list[Verdict]:
    row = book.execute("select key, state from rounds where task = ? and number = ?", (offer.task, offer.round))
    key, state = row.fetchone() or (None, None)
    if key is None:
        return [Verdict.TOO_EARLY] * len(offer)
    if state in TAKING and _all_new(book, key, offer, now):
        return [Verdict.ACCEPTED] * len(offer)
    return _some_new(book, key, offer, _facts(book, key, offer, now, taking=state in TAKING))


def _all_new(book: sqlite3.Connection, key: int, offer: Offer, now: int) -> bool:
    """Store an offer whose every report and token is new, or change nothing."""
    book.execute("savepoint offer")
    stored = _tokens_valid(book, offer, now) and _store(book, key, offer)
    if not stored:
        book.execute("rollback to offer")
    book.execute("release offer")
    return stored


def _some_new(book: sqlite3.Connection, key: int, offer: Offer, facts: Facts) -> list[Verdict]:
    verdicts = judge(offer, facts)
    accepted = chosen(offer, verdicts)
    if len(accepted):
        _store(book, key, accepted)
    return verdicts


def _store(book: sqlite3.Connection, key: int, offer: Offer) -> bool:
    """Insert ids, claims and payloads; False, and perhaps half done, if an id or a claim was there."""
    ids = _sorted(offer.ids, ID_BYTES)
    if book.execute(_ADD_IDS, _cut(ids, ID_BYTES) | {"round": key}).rowcount * ID_BYTES < len(ids):
        return False
    if offer.claims is not None:
        claims = _sorted(offer.claims, HASH_BYTES)
        values = _cut(claims, HASH_BYTES) | {"task": offer.task, "epoch": offer.epoch}
        if book.execute(_ADD_CLAIMS, values).rowcount < len(offer):
            return False
    book.execute("insert into segments (round, data) values (?, ?)", (key, offer.data.tobytes()))
    count_users(book, key, len(offer))
    return True


def _tokens_valid(book: sqlite3.Connection, offer: Offer, now: int) -> bool:
    if offer.claims is None:
        return True
    values = _cut(offer.claims.tobytes(), HASH_BYTES) | {"now": now}
    return len(book.execute(_TOKENS_HERE, values).fetchall()) == len(offer)


def _facts(book: sqlite3.Connection, key: int, offer: Offer, now: int, *, taking: bool) -> Facts:
    here = _found(book, _IDS_HERE, _cut(offer.ids.tobytes(), ID_BYTES) | {"round": key})
    if offer.claims is None:
        return Facts(taking, here)
    claims = _cut(offer.claims.tobytes(), HASH_BYTES)
    valid = _found(book, _TOKENS_HERE, claims | {"now": now})
    spent = _found(book, _CLAIMS_HERE, claims | {"task": offer.task, "epoch": offer.epoch})
    return Facts(taking, here, valid, spent)


def _found(book: sqlite3.Connection, sql: str, values: Mapping[str, object]) -> set[bytes]:
    return {piece for (piece,) in book.execute(sql, values)}


def _cut(blob: bytes, width: int) -> dict[str, object]:
    return {"blob": blob, "width": width, "count": len(blob) // width}


def _sorted(rows: Bytes, width: int) -> bytes:
    """Return the rows in order: neighbours share a page, and claims lose their order of arrival."""
    return np.sort(np.ascontiguousarray(rows).reshape(-1).view(f"S{width}")).tobytes()


@contextmanager
def _transaction(book: sqlite3.Connection) -> Iterator[None]:
    book.execute("begin immediate")  # the lock at once: a transaction that has read never has to give up
    try:
        yield
        book.execute("commit")
    except BaseException:
        if book.in_transaction:  # a full disk makes SQLite roll back by itself
            book.execute("rollback")
        raise


@contextmanager
def _told() -> Iterator[None]:
    """Say what a full disk, a lock or a damaged file means to the caller."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.DatabaseError as error:
        raise UnavailableError(f"the database cannot serve: {error}") from error


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
