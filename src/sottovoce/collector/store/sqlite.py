"""The store of one machine: a SQLite file, with one writer at a time and readers never in its way.

Nothing needs to be installed or run beside it.  Several machines need ``store/postgres.py``.  An
acknowledged report survives a power cut: every transaction is synced.  Erased payloads are
overwritten, in the file and in its journal.  How the ids of reports are kept and searched is in
``store/id_runs.py``.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.collector.store import id_runs
from sottovoce.collector.store.base import HASH_BYTES, TAKING, Offer, Verdict
from sottovoce.collector.store.id_runs import IdRuns, add_row, which_are_known
from sottovoce.collector.store.schema import STEPS
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.store.sorted_ids import SortedIds
from sottovoce.collector.store.sql import (
    SqlStore,
    clear_some_rows,
    count_messages,
    count_users,
    note_part,
)
from sottovoce.collector.store.verdicts import (
    Facts,
    accepted_part,
    judge,
    message_counts,
    pieces,
    token_hashes,
)
from sottovoce.core.durable import sync
from sottovoce.errors import ParameterError, SottovoceError, UnavailableError
from sottovoce.web.store.schema import Steps
from sottovoce.web.store.sqlite import BUSY_SECONDS, SqliteFile, path_of, unavailable_errors
from sottovoce.wire.envelope import ID_BYTES

IDS_MOVED = 16_000  # in one transaction
_TURN_SECONDS = 0.005  # between transactions that erase or move much: others get their turn
_LEASES = 16  # a round has one of them: each leaves a small file
_log = logging.getLogger(__name__)

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


_ROUND = "select key, state, erased from rounds where task = ? and number = ?"
_HAS_NEW_IDS = (
    "(exists (select 1 from new_ids where round = rounds.key)"
    " or exists (select 1 from id_runs where round = rounds.key)) limit 1"
)
_SEALED_WITH_NEW_IDS = (
    f"select key from rounds where state = 'sealed' and erased is null and {_HAS_NEW_IDS}"
)
_ERASED_WITH_NEW_IDS = f"select key from rounds where erased is not null and {_HAS_NEW_IDS}"


class SqliteStore(SqliteFile, SqlStore, schemes=("sqlite",)):
    """A store in one file, for the threads of one machine and its command line.

    ``busy_timeout`` is how many seconds a call waits for its turn to write.
    """

    def __init__(
        self, path: Path, busy_timeout: float = BUSY_SECONDS, *, steps: Steps = STEPS
    ) -> None:
        self._id_runs = IdRuns(Path(path))
        self._caught_up: set[tuple[str, int]] = set()  # rounds whose ids fit into memory
        self._merging: threading.Thread | None = None
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
        self._catch_up(offers)
        try:
            with self._writing() as connection:
                self._id_runs.forget_idle(now)
                call = _Call(connection, self._id_runs, now)
                verdicts = [call.accept(offer) if len(offer) else [] for offer in offers]
                count_messages(connection, *message_counts(offers, verdicts, refused), now)
                note_part(connection, opened, verdicts)
        except UnavailableError:
            self._caught_up.clear()  # a run may be missing: the next call looks
            raise
        self._merge_if_many(list(call.reports))
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

    def close(self) -> None:
        if self._merging not in (None, threading.current_thread()):
            self._merging.join()
        super().close()

    def _overwrite_erased(self) -> None:
        self.empty_journal()

    def prune(self, now: int, arrivals_before: int) -> None:
        super().prune(now, arrivals_before)
        for round_key in self._id_runs.rounds_with_files():
            with self._lease_of(round_key), self._reading() as connection:
                self._id_runs.remove_leftovers(connection, round_key)
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
                # Runs are files beside the database; whoever opens the copy writes them again.
                copy.execute("delete from id_runs")
                copy.commit()
            sync(partial)
            partial.rename(path)
            sync(path.parent)
        except OSError as error:
            raise UnavailableError("the backup cannot be written") from error
        finally:
            partial.unlink(missing_ok=True)

    # Report ids: merging those of open rounds, moving those of sealed ones

    def _catch_up(self, offers: Sequence[Offer]) -> None:
        """Merge the ids of rounds that this process has not read, if they are too many for memory.

        They are many where runs are missing, as after a backup was restored.
        """
        for place in {(offer.task, offer.round) for offer in offers} - self._caught_up:
            with self._reading() as connection:
                row = connection.execute(_ROUND, place).fetchone()
            if row is None:
                continue
            (round_key, _, _) = row
            with self._writing() as connection:
                self._id_runs.drop_missing(connection, round_key)
            if self._is_far_behind(round_key):
                with self._lease_of(round_key):
                    self._merge_far_behind(round_key)
            self._caught_up.add(place)

    def _merge_far_behind(self, round_key: int) -> None:
        """Merge the rows of a round until what is left fits into memory, with the lease."""
        while self._is_far_behind(round_key):
            self._merge_alone(round_key)

    def _is_far_behind(self, round_key: int) -> bool:
        with self._reading() as connection:
            most = id_runs.MAX_BEHIND * id_runs.RECENT_IDS
            return id_runs.behind(connection, round_key) > most

    def _merge_if_many(self, round_keys: Sequence[int]) -> None:
        """Merge ids in a thread if many are in memory, and no such thread runs."""
        is_merging = self._merging is not None and self._merging.is_alive()
        many = [
            round_key
            for round_key in round_keys
            if self._id_runs.recent_count(round_key) >= id_runs.RECENT_IDS
        ]
        if many and not is_merging:
            self._merging = threading.Thread(target=self._merge_each, args=(many,), name="ids")
            self._merging.start()

    def _merge_each(self, round_keys: Sequence[int]) -> None:
        try:
            for round_key in round_keys:
                with self.lease(_lease_name(round_key)) as is_ours:
                    if is_ours:  # or another process does it, and we read what it has written
                        self._merge_alone(round_key)
        except (SottovoceError, OSError, MemoryError) as error:
            if isinstance(error, UnavailableError):
                self._caught_up.clear()  # a run may be missing: the next call looks
            _log.warning("report ids were not merged, which is tried again: %s", error)

    def _merge_alone(self, round_key: int) -> None:
        """Merge the rows that are in no run, with the lease."""
        with self._reading() as connection:
            self._id_runs.remove_leftovers(connection, round_key)
            merge = self._id_runs.merge_rows(connection, round_key)
        if merge is not None:
            with self._writing() as connection:
                merge.note(connection)
            self._id_runs.remove(merge.replaced)

    @contextmanager
    def _lease_of(self, round_key: int) -> Iterator[None]:
        """Wait until nobody else writes or removes the runs of a round."""
        while True:
            with self.lease(_lease_name(round_key)) as is_ours:
                if is_ours:
                    yield
                    return
            time.sleep(_TURN_SECONDS)

    def clear_sealed(self) -> None:
        super().clear_sealed()
        while (round_key := self._first(_SEALED_WITH_NEW_IDS)) is not None:
            with self._lease_of(round_key):
                self._move_ids(round_key)
                self._drop_new_ids(round_key)

    def clear_erased(self) -> None:
        while (round_key := self._first(_ERASED_WITH_NEW_IDS)) is not None:
            with self._lease_of(round_key):
                self._drop_new_ids(round_key)
        super().clear_erased()

    def _first(self, query: str) -> int | None:
        with self._reading() as connection:
            row = connection.execute(query).fetchone()
        return None if row is None else int(row[0])

    def _move_ids(self, round_key: int) -> None:
        """Add the ids of a round to those of sealed rounds, in order.

        What a crash has cut off is done again: ids that are there already stay.
        """
        with self._writing() as connection:
            self._id_runs.drop_missing(connection, round_key)
        self._merge_far_behind(round_key)
        with self._reading() as connection:
            parts = self._id_runs.all_ids(connection, round_key)
        for part in parts:
            blob = part.to_bytes()
            step = IDS_MOVED * ID_BYTES
            for start in range(0, len(blob), step):
                with self._writing() as connection:
                    add_seen(connection, round_key, blob[start : start + step])
                time.sleep(_TURN_SECONDS)

    def _drop_new_ids(self, round_key: int) -> None:
        """Erase the rows of ids of a round, then all its files, and last the names of its runs.

        A crash in between leaves a name, so that this is done again.  Files without a name are
        those of a merge that a crash cut off.
        """
        while self._drop_some(round_key):
            time.sleep(_TURN_SECONDS)
        self._id_runs.remove_files(round_key)
        with self._writing() as connection:
            id_runs.forget_runs(connection, round_key)

    def _drop_some(self, round_key: int) -> bool:
        with self._writing() as connection:
            return clear_some_rows(connection, "new_ids", "ids", round_key)


@dataclass
class _Reports:
    """The report ids of a round in a call: all that are here, in parts to search."""

    key: int
    is_taking: bool
    parts: list[SortedIds]
    has_seen: bool  # whether there are others in ``seen``

    def known(self, connection: sqlite3.Connection, ids: SortedIds) -> set[bytes]:
        """Return those of some ids that are here."""
        known = ids.chosen(which_are_known(ids, self.parts)).to_bytes()
        here = set(pieces(known, ID_BYTES))
        if self.has_seen:
            values = _pieces(ids.to_bytes(), ID_BYTES) | {"round": self.key}
            here |= _selected(connection, _IDS_HERE, values)
        return here


class _Call:
    """The transaction of one call that accepts reports."""

    def __init__(self, connection: sqlite3.Connection, runs: IdRuns, now: int) -> None:
        self._connection = connection
        self._id_runs = runs
        self._now = now
        self.reports: dict[int, _Reports] = {}  # by the key of a round

    def accept(self, offer: Offer) -> list[Verdict]:
        """Store the new messages of an offer, and return a verdict for every message."""
        row = self._connection.execute(_ROUND, (offer.task, offer.round)).fetchone()
        if row is None:
            return [Verdict.TOO_EARLY] * len(offer)
        key, state, erased = row
        if key not in self.reports:
            is_erased = erased is not None
            self.reports[key] = self._read(key, is_taking=state in TAKING, is_erased=is_erased)
        return self._accept(offer, self.reports[key])

    def _read(self, key: int, *, is_taking: bool, is_erased: bool) -> _Reports:
        if is_erased:
            return _Reports(key, is_taking, [], has_seen=False)
        if not is_taking:  # its files may be gone, although they are still named
            self._id_runs.drop_missing(self._connection, key)
        parts = self._id_runs.parts(self._connection, key, self._now)
        if not is_taking:  # replays are rare, and the files of the round go when it is sealed
            self._id_runs.forget(key)
        return _Reports(key, is_taking, parts, id_runs.has_seen(self._connection, key))

    def _accept(self, offer: Offer, reports: _Reports) -> list[Verdict]:
        ids = SortedIds.of(offer.ids)
        known_ids = reports.known(self._connection, ids)
        all_new = reports.is_taking and not known_ids and not ids.has_copies()
        if all_new and self._accept_all(offer, ids, reports):
            return [Verdict.ACCEPTED] * len(offer)
        verdicts = judge(offer, self._facts(offer, known_ids, is_taking=reports.is_taking))
        accepted = accepted_part(offer, verdicts)
        if len(accepted):
            stored = self._claim(accepted)
            assert stored, "messages that share a token were judged together"
            self._store(accepted, SortedIds.of(accepted.ids), reports)
        return verdicts

    def _accept_all(self, offer: Offer, ids: SortedIds, reports: _Reports) -> bool:
        """Store an offer of new reports if all its tokens may claim, or change nothing."""
        if not _tokens_valid(self._connection, offer, self._now):
            return False
        self._connection.execute("savepoint offer")
        claimed = self._claim(offer)
        if not claimed:
            self._connection.execute("rollback to offer")
        self._connection.execute("release offer")
        if claimed:
            self._store(offer, ids, reports)
        return claimed

    def _claim(self, offer: Offer) -> bool:
        """Note the claims of an offer; False, and perhaps half done, if some were there."""
        if offer.claims is None:
            return True
        claims = _pieces(_sorted(offer.claims, HASH_BYTES), HASH_BYTES)
        values = claims | {"task": offer.task, "epoch": offer.epoch}
        return self._connection.execute(_ADD_CLAIMS, values).rowcount == len(offer)

    def _store(self, offer: Offer, ids: SortedIds, reports: _Reports) -> None:
        """Store ids and payloads.  The ids are sorted: they have not the order of the payloads."""
        add_row(self._connection, reports.key, ids)
        reports.parts.append(ids)  # for the offers behind this one
        segment = (reports.key, offer.data.tobytes())
        self._connection.execute("insert into segments (round, data) values (?, ?)", segment)
        count_users(self._connection, reports.key, len(offer))

    def _facts(self, offer: Offer, known_ids: set[bytes], *, is_taking: bool) -> Facts:
        """Return what the store knows about the reports and tokens of an offer."""
        if offer.claims is None:
            return Facts(is_taking, known_ids)
        claims = _pieces(offer.claims.tobytes(), HASH_BYTES)
        spending = {"task": offer.task, "epoch": offer.epoch}
        return Facts(
            is_taking,
            known_ids,
            valid_tokens=_valid_tokens(self._connection, offer, self._now),
            spent_tokens=_selected(self._connection, _CLAIMS_HERE, claims | spending),
        )


def add_seen(connection: sqlite3.Connection, round_key: int, ids: bytes) -> None:
    """Add ids of a sealed round to those that are searched in place."""
    connection.execute(_ADD_IDS, _pieces(ids, ID_BYTES) | {"round": round_key})


def _lease_name(round_key: int) -> str:
    return f"ids-{round_key % _LEASES}"


def _tokens_valid(connection: sqlite3.Connection, offer: Offer, now: int) -> bool:
    """Return whether every token may claim; True where the task asks for none."""
    if offer.claims is None or offer.verified:
        return True
    values = _pieces(offer.claims.tobytes(), HASH_BYTES) | {"now": now}
    return len(connection.execute(_TOKENS_HERE, values).fetchall()) == len(offer)


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
    """Return the rows in order: neighbours share a page, and nothing has the order of arrival."""
    return np.sort(np.ascontiguousarray(rows).reshape(-1).view(f"S{width}")).tobytes()
