"""The store of one machine: a SQLite file, with one writer at a time and readers never in its way.

Nothing needs to be installed or run beside it.  Several machines need ``store/postgres.py``.  An
acknowledged report survives a power cut: every transaction is synced.  Erased payloads are
overwritten, in the file and in its journal.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.collector.store.base import HASH_BYTES, TAKING, Offer, Verdict
from sottovoce.collector.store.schema import STEPS
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.store.sql import SqlStore, count_messages, count_users, note_part
from sottovoce.collector.store.verdicts import (
    Facts,
    accepted_part,
    judge,
    message_counts,
    token_hashes,
)
from sottovoce.core.durable import sync
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.web.store.schema import Steps
from sottovoce.web.store.sqlite import BUSY_SECONDS, SqliteFile, path_of, unavailable_errors

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


class SqliteStore(SqliteFile, SqlStore, schemes=("sqlite",)):
    """A store in one file, for the threads of one machine and its command line.

    ``busy_timeout`` is how many seconds a call waits for its turn to write.
    """

    def __init__(
        self, path: Path, busy_timeout: float = BUSY_SECONDS, *, steps: Steps = STEPS
    ) -> None:
        super().__init__(path, steps, busy_timeout)

    @classmethod
    def from_url(cls, url: str) -> Self:
        return cls(path_of(url))

    @classmethod
    def exists(cls, url: str) -> bool:
        return path_of(url).exists()

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
            self.empty_journal()
        return sealed

    def erase(self, task: str, number: int, now: int) -> bool:
        erased = super().erase(task, number, now)
        if erased:
            self.empty_journal()
        return erased

    def _overwrite_erased(self) -> None:
        self.empty_journal()

    def prune(self, now: int, arrivals_before: int) -> None:
        super().prune(now, arrivals_before)
        self.empty_journal()  # a reader may have been in the way when a round was sealed

    def backup(self, path: Path) -> None:
        if path.exists():
            raise ParameterError("`path` of a backup must be that of a new file")
        partial = path.with_name(path.name + ".partial")
        try:
            with (
                self._reading() as connection,
                unavailable_errors(),
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
