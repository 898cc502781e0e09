"""What the stores of all databases do with the same SQL: everything but accepting reports."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from sottovoce.collector.store.base import (
    RoundRecord,
    State,
    Store,
    TaskRecord,
    TokenRecord,
    Verdict,
)
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.store.shuffle_sql import (
    ShuffleSqlStore,
    forget_batch,
    has_waiting_batch,
    note_opened,
    round_of,
)
from sottovoce.errors import MismatchError, ParameterError, StateError
from sottovoce.web.store.schema import Connection

_FIRST_ROUND = 0
_MINUTE = 60  # seconds
_SEGMENTS_AT_ONCE = 64
_SEGMENT_BYTES_AT_ONCE = 16 << 20  # a single segment may have more
ROWS_CLEARED = 20_000  # in one transaction
BYTES_CLEARED = 64 << 20
IDS_CLEARED = 50_000  # in one transaction
_UNLISTED_SCOPES = ("enrolment", "session")  # with a token for every user or sign-in
_TURNS = {(State.OPEN, State.CLOSING), (State.CLOSING, State.SEALING)}

_ADD_TASK = (
    "insert into tasks (digest, name, document, created) values (?, ?, ?, ?) on conflict do nothing"
)
_SAME_TASK = "select 1 from tasks where digest = ? and name = ?"
_TASKS = (
    "select name, digest, document, created, finished, failure, trouble from tasks"
    " order by created, key"
)
_FINISH = "update tasks set finished = ?, failure = ? where digest = ? and finished is null"
_NOTE_TROUBLE = "update tasks set trouble = ? where digest = ?"
_ADD_ROUND = (
    "insert into rounds (task, number, document, state, opened, changed)"
    " values (?, ?, ?, 'open', ?, ?) on conflict do nothing"
)
_ROUNDS = (
    "select task, number, document, state, opened, changed,"
    " coalesce((select sum(users) from progress where round = rounds.key), 0),"
    " count, checksum, erased from rounds where task = ? order by number"
)
_ROUNDS_BEFORE = "select count(*) from rounds where task = ? and number < ?"
_ROUND_DOCUMENT = "select document from rounds where task = ? and number = ?"
_ROUND_STATE = "select state from rounds where task = ? and number = ?"
_TURN = "update rounds set state = ?, changed = ? where task = ? and number = ? and state = ?"
_SEAL = (
    "update rounds set state = 'sealed', count = ?, checksum = ?, changed = ?"
    " where task = ? and number = ? and state = 'sealing'"
)
_ERASE = (
    "update rounds set erased = ?"
    " where task = ? and number = ? and state = 'sealed' and erased is null"
)
_OF_ROUND = (
    " from segments join rounds on rounds.key = segments.round"
    " where task = ? and number = ? and segments.key > ? order by segments.key limit ?"
)
_SEGMENTS = f"select segments.key, data{_OF_ROUND}"
_SEGMENT_SIZES = f"select length(data){_OF_ROUND}"
_SEALED_WITH_SEGMENTS = (
    "select key from rounds where state = 'sealed'"
    " and exists (select 1 from segments where round = rounds.key) limit 1"
)
_ERASED_WITH_IDS = (
    "select key from rounds where erased is not null"
    " and exists (select 1 from seen where round = rounds.key) limit 1"
)
_LAST_CLEARED_ID = "select id from seen where round = ? order by id limit 1 offset ?"
_CLEAR_IDS = "delete from seen where round = ? and id <= ?"
_CLEAR_LAST_IDS = "delete from seen where round = ?"
_REFUSALS = "select code, sum(messages) from refusals where task = ? group by code"
_ARRIVALS = (
    "select minute, sum(messages) from arrivals where task = ? and minute >= ?"
    " group by minute order by minute"
)
_ADD_TOKEN = "insert into tokens values (?, ?, ?, ?, ?) on conflict do nothing"
_TOKEN = "select hash, scope, label, created, expires from tokens"
_COUNT_REFUSED = (
    "insert into refusals values (?, ?, ?, ?) on conflict (task, code, shard)"
    " do update set messages = refusals.messages + excluded.messages"
)
_COUNT_ARRIVED = (
    "insert into arrivals values (?, ?, ?, ?) on conflict (task, minute, shard)"
    " do update set messages = arrivals.messages + excluded.messages"
)
_COUNT_USERS = (
    "insert into progress values (?, ?, ?) on conflict (round, shard)"
    " do update set users = progress.users + excluded.users"
)


class SqlStore(ShuffleSqlStore, Store):
    """A store in a SQL database; a subclass opens transactions and accepts reports."""

    def _wait_for_others(self, connection: Connection, task: str, number: int) -> None:
        """Wait until nobody is accepting for a round; with one writer at a time nobody is."""

    def publish(self, task: TaskRecord, opening: str) -> bool:
        with self._writing() as connection:
            values = (task.digest, task.name, task.document, task.created)
            if _changed(connection, _ADD_TASK, *values):
                add_round(connection, task.digest, _FIRST_ROUND, opening, task.created)
                return True
            if connection.execute(_SAME_TASK, (task.digest, task.name)).fetchone() is None:
                raise MismatchError(
                    "another task has this name: tasks do not change, so choose another name"
                )
            return False

    def tasks(self) -> list[TaskRecord]:
        with self._reading() as connection:
            return [TaskRecord(*row) for row in connection.execute(_TASKS).fetchall()]

    def rounds(self, task: str) -> list[RoundRecord]:
        with self._reading() as connection:
            return [_round(row) for row in connection.execute(_ROUNDS, (task,)).fetchall()]

    def open_round(self, task: str, number: int, document: str, now: int) -> bool:
        with self._writing() as connection:
            if (
                connection.execute("select 1 from tasks where digest = ?", (task,)).fetchone()
                is None
            ):
                raise MismatchError("there is no such task to open a round of")
            if add_round(connection, task, number, document, now):
                (before,) = connection.execute(_ROUNDS_BEFORE, (task, number)).fetchone()
                if before != number - _FIRST_ROUND:
                    raise StateError("rounds are opened in order, and the one before this is not")
                return True
            (opened_with,) = connection.execute(_ROUND_DOCUMENT, (task, number)).fetchone()
            if opened_with != document:
                raise MismatchError("this round has been opened with other questions")
            return False

    def turn(self, task: str, number: int, old: State, new: State, now: int) -> bool:
        if (old, new) not in _TURNS:
            raise ParameterError("`old` and `new` must be open and closing, or closing and sealing")
        with self._writing() as connection:
            self._wait_for_others(connection, task, number)
            if has_waiting_batch(connection, task, number):
                return False
            return _changed(connection, _TURN, new.value, now, task, number, old.value)

    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        with self._writing() as connection:
            sealed = _changed(connection, _SEAL, count, checksum, now, task, number)
            if sealed:
                forget_batch(connection, task, number)
        if sealed:
            self.clear_sealed()
        return sealed

    def clear_sealed(self) -> None:
        """Erase the payloads of sealed rounds, a part in every transaction.

        In one transaction the journal would grow with the round, and with it the time that every
        further page takes.  What a crash leaves is erased by ``prune``.
        """
        while self._clear_some():
            pass

    def _clear_some(self) -> bool:
        """Erase some payloads of a sealed round; return whether there were any."""
        with self._writing() as connection:
            row = connection.execute(_SEALED_WITH_SEGMENTS).fetchone()
            if row is None:
                return False
            (key,) = row
            return clear_some_rows(connection, "segments", "data", key)

    def erase(self, task: str, number: int, now: int) -> bool:
        with self._writing() as connection:
            erased = _changed(connection, _ERASE, now, task, number)
        if erased:
            self.clear_erased()
        return erased

    def clear_erased(self) -> None:
        """Forget the report ids of erased rounds, a part in every transaction.

        In one transaction nobody else could write until all of them are overwritten.  What a crash
        leaves is forgotten by ``prune``.
        """
        while self._clear_some_ids():
            pass

    def _clear_some_ids(self) -> bool:
        """Forget some ids of an erased round; return whether there were any."""
        with self._writing() as connection:
            row = connection.execute(_ERASED_WITH_IDS).fetchone()
            if row is None:
                return False
            (key,) = row
            last = connection.execute(_LAST_CLEARED_ID, (key, IDS_CLEARED)).fetchone()
            if last is None:
                connection.execute(_CLEAR_LAST_IDS, (key,))
            else:
                connection.execute(_CLEAR_IDS, (key, bytes(last[0])))
            return True

    def finish(self, task: str, now: int, failure: str = "") -> bool:
        with self._writing() as connection:
            return _changed(connection, _FINISH, now, failure, task)

    def note_trouble(self, task: str, trouble: str) -> bool:
        with self._writing() as connection:
            return _changed(connection, _NOTE_TROUBLE, trouble, task)

    def segments(self, task: str, number: int) -> Iterator[bytes]:
        last = 0
        while True:
            rows = self._segments_after(task, number, last)
            if not rows:
                return
            last = rows[-1][0]
            yield b"".join(bytes(data) for _, data in rows)

    def _segments_after(self, task: str, number: int, last: int) -> list[tuple[int, bytes]]:
        """Return the next segments of an unsealed round, each with its key."""
        with self._reading() as connection:
            place = (task, number, last)
            sizes = connection.execute(_SEGMENT_SIZES, (*place, _SEGMENTS_AT_ONCE)).fetchall()
            totals = accumulate(int(size) for (size,) in sizes)
            fitting = sum(total <= _SEGMENT_BYTES_AT_ONCE for total in totals)
            values = (*place, max(1, fitting))
            rows: list[tuple[int, bytes]] = connection.execute(_SEGMENTS, values).fetchall()
            if not rows:
                # Checked at the end too: a reader that was overtaken by the sealing must not take
                # a part of the round for the whole.
                state = connection.execute(_ROUND_STATE, (task, number)).fetchone()
                if state in (None, (State.SEALED.value,)):
                    raise StateError(
                        "this round is not there or sealed: its reports are in the log"
                    )
            return rows

    def refusals(self, task: str) -> dict[str, int]:
        with self._reading() as connection:
            rows = connection.execute(_REFUSALS, (task,)).fetchall()
            return {code: int(messages) for code, messages in rows}

    def arrivals(self, task: str, since: int) -> list[tuple[int, int]]:
        with self._reading() as connection:
            rows = connection.execute(_ARRIVALS, (task, since)).fetchall()
            return [(int(minute), int(messages)) for minute, messages in rows]

    def add_tokens(self, tokens: Sequence[TokenRecord]) -> None:
        rows = [
            (token.hash, token.scope, token.label, token.created, token.expires) for token in tokens
        ]
        with self._writing() as connection:
            connection.executemany(_ADD_TOKEN, rows)

    def token(self, hashed: bytes, now: int) -> TokenRecord | None:
        with self._reading() as connection:
            query = f"{_TOKEN} where hash = ? and (expires is null or expires > ?)"
            row = connection.execute(query, (hashed, now)).fetchone()
            return None if row is None else TokenRecord(*row)

    def tokens(self) -> list[TokenRecord]:
        with self._reading() as connection:
            query = f"{_TOKEN} where scope not in (?, ?) order by created, label, hash"
            rows = connection.execute(query, _UNLISTED_SCOPES).fetchall()
            return [TokenRecord(*row) for row in rows]

    def revoke(self, hashed: bytes) -> bool:
        with self._writing() as connection:
            return _changed(connection, "delete from tokens where hash = ?", hashed)

    def prune(self, now: int, arrivals_before: int) -> None:
        with self._writing() as connection:
            connection.execute("delete from tokens where expires <= ?", (now,))
            connection.execute("delete from arrivals where minute < ?", (arrivals_before,))
        self.clear_sealed()
        self.clear_erased()

    def check(self) -> None:
        with self._writing() as connection:
            # A real write: only that shows a full disk.
            connection.execute("update version set checks = checks + 1")


def note_part(
    connection: Connection, opened: OpenedPart | None, verdicts: Sequence[Sequence[Verdict]]
) -> None:
    """Erase the bytes of a part whose messages have these verdicts."""
    if opened is not None:
        key, _ = round_of(connection, opened.task, opened.round)
        duplicates = sum(given.count(Verdict.DUPLICATE) for given in verdicts)
        note_opened(connection, key, opened, duplicates)


def count_messages(
    connection: Connection,
    arrived: Mapping[str, int],
    refused: Mapping[tuple[str, str], int],
    now: int,
    shard: int = 0,
) -> None:
    """Count messages that arrived, by task, and that were refused, by task and code."""
    # Sorted: two nodes that count at once take the rows in one order, so neither waits for ever.
    refused_rows = [(*key, shard, messages) for key, messages in sorted(refused.items())]
    connection.executemany(_COUNT_REFUSED, refused_rows)
    minute = now - now % _MINUTE
    arrived_rows = [(task, minute, shard, messages) for task, messages in sorted(arrived.items())]
    connection.executemany(_COUNT_ARRIVED, arrived_rows)


def count_users(connection: Connection, key: int, users: int, shard: int = 0) -> None:
    """Add to the users of a round."""
    connection.execute(_COUNT_USERS, (key, shard, users))


def add_round(connection: Connection, task: str, number: int, document: str, now: int) -> bool:
    """Add an open round; False if it is there already."""
    return _changed(connection, _ADD_ROUND, task, number, document, now, now)


def clear_some_rows(connection: Connection, table: str, column: str, key: int) -> bool:
    """Delete the first rows of a round from a table of blobs; return whether there were any."""
    query = f"select key, length({column}) from {table} where round = ? order by key limit ?"
    sizes = connection.execute(query, (key, ROWS_CLEARED)).fetchall()
    if not sizes:
        return False
    last = _last_fitting(sizes, BYTES_CLEARED)
    connection.execute(f"delete from {table} where round = ? and key <= ?", (key, last))
    return True


def _last_fitting(sizes: Sequence[tuple[int, int]], max_bytes: int) -> int:
    """Return the last key of segments that have so many bytes together, at least the first."""
    total = 0
    last = sizes[0][0]
    for key, size in sizes:
        total += size
        if total > max_bytes:
            break
        last = key
    return last


def _changed(connection: Connection, sql: str, *values: object) -> bool:
    """Execute a statement and return whether it changed a row."""
    return bool(connection.execute(sql, values).rowcount)


def _round(row: Sequence[Any]) -> RoundRecord:
    task, number, document, state, opened, changed, users, *sealing = row
    return RoundRecord(task, number, document, State(state), opened, changed, int(users), *sealing)
