"""What the stores of both databases do with the same SQL: everything but accepting reports."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sottovoce.collector.store.base import RoundRecord, State, Store, TaskRecord, TokenRecord
from sottovoce.collector.store.schema import Book
from sottovoce.errors import MismatchError, ParameterError, StateError

_FIRST = 0
_MINUTE = 60
_STEPS = {(State.OPEN, State.CLOSING), (State.CLOSING, State.SEALING)}
_PAGE = 64  # segments read at a time
_UNLISTED = ("enrolment", "session")  # scopes with a token for every user or sign-in
_TOKEN = "select hash, scope, label, created, expires from tokens"
_ROUND = (
    "select task, number, document, state, opened, changed,"
    " coalesce((select sum(users) from progress where round = rounds.key), 0), count, checksum, erased from rounds"
)


class SqlStore(Store):
    """A store that can open transactions; a subclass says how, and accepts reports."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Book]:
        """Give a connection to read from."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Book]:
        """Give a transaction that is durable at its end, or has not been."""

    def _wait_for_others(self, book: Book, task: str, number: int) -> None:
        """Wait until nobody is accepting for a round; with one writer at a time nobody is."""

    def publish(self, task: TaskRecord, opening: str) -> bool:
        with self._writing() as book:
            values = (task.digest, task.name, task.document, task.created)
            added = book.execute(
                "insert into tasks (digest, name, document, created) values (?, ?, ?, ?) on conflict do nothing", values
            )
            if added.rowcount:
                _open(book, task.digest, _FIRST, opening, task.created)
                return True
            if book.execute("select 1 from tasks where digest = ? and name = ?", values[:2]).fetchone() is None:
                raise MismatchError("another task has this name: tasks do not change, so choose another name")
            return False

    def tasks(self) -> list[TaskRecord]:
        with self._reading() as book:
            rows = book.execute(
                "select name, digest, document, created, finished, failure from tasks order by created, key"
            )
            return [TaskRecord(*row) for row in rows.fetchall()]

    def rounds(self, task: str) -> list[RoundRecord]:
        with self._reading() as book:
            rows = book.execute(f"{_ROUND} where task = ? order by number", (task,)).fetchall()
            return [_round(row) for row in rows]

    def open_round(self, task: str, number: int, document: str, now: int) -> bool:
        with self._writing() as book:
            if book.execute("select 1 from tasks where digest = ?", (task,)).fetchone() is None:
                raise MismatchError("there is no such task to open a round of")
            if _open(book, task, number, document, now):
                before = book.execute("select count(*) from rounds where task = ? and number < ?", (task, number))
                if before.fetchone()[0] != number - _FIRST:
                    raise StateError("rounds are opened in order, and the one before is not")
                return True
            row = book.execute("select document from rounds where task = ? and number = ?", (task, number)).fetchone()
            if row[0] != document:
                raise MismatchError("this round has been opened with other questions")
            return False

    def turn(self, task: str, number: int, old: State, new: State, now: int) -> bool:
        if (old, new) not in _STEPS:
            raise ParameterError("a round goes from open to closing to sealing; seal() alone makes it sealed")
        with self._writing() as book:
            self._wait_for_others(book, task, number)
            values = (new.value, now, task, number, old.value)
            return _hit(
                book, "update rounds set state = ?, changed = ? where task = ? and number = ? and state = ?", *values
            )

    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        with self._writing() as book:
            sealed = _hit(
                book,
                "update rounds set state = 'sealed', count = ?, checksum = ?, changed = ?"
                " where task = ? and number = ? and state = 'sealing'",
                *(count, checksum, now, task, number),
            )
            if sealed:
                _clear(book, "segments", task, number)
            return sealed

    def erase(self, task: str, number: int, now: int) -> bool:
        with self._writing() as book:
            erased = _hit(
                book,
                "update rounds set erased = ? where task = ? and number = ? and state = 'sealed' and erased is null",
                *(now, task, number),
            )
            if erased:
                _clear(book, "seen", task, number)
            return erased

    def finish(self, task: str, now: int, failure: str = "") -> bool:
        with self._writing() as book:
            change = "update tasks set finished = ?, failure = ? where digest = ? and finished is null"
            return _hit(book, change, now, failure, task)

    def segments(self, task: str, number: int) -> Iterator[bytes]:
        last = 0
        while True:
            rows = self._page(task, number, last)
            if not rows:
                return
            last = rows[-1][0]
            yield b"".join(bytes(data) for _, data in rows)

    def _page(self, task: str, number: int, last: int) -> list[tuple[int, bytes]]:
        with self._reading() as book:
            rows: list[tuple[int, bytes]] = book.execute(
                "select segments.key, data from segments join rounds on rounds.key = segments.round"
                " where task = ? and number = ? and segments.key > ? order by segments.key limit ?",
                (task, number, last, _PAGE),
            ).fetchall()
            if not rows:
                # Asked at the end too: a reader who was overtaken by the sealing must not take its part for the whole.
                state = book.execute("select state from rounds where task = ? and number = ?", (task, number))
                if state.fetchone() in (None, (State.SEALED.value,)):
                    raise StateError("this round is not there or sealed: its reports are in the log")
            return rows

    def refusals(self, task: str) -> dict[str, int]:
        with self._reading() as book:
            rows = book.execute("select code, sum(messages) from refusals where task = ? group by code", (task,))
            return {code: int(messages) for code, messages in rows.fetchall()}

    def arrivals(self, task: str, since: int) -> list[tuple[int, int]]:
        with self._reading() as book:
            sums = "select minute, sum(messages) from arrivals where task = ? and minute >= ? group by minute"
            rows = book.execute(f"{sums} order by minute", (task, since)).fetchall()
            return [(int(minute), int(messages)) for minute, messages in rows]

    def add_tokens(self, tokens: Sequence[TokenRecord]) -> None:
        with self._writing() as book:
            book.executemany(
                "insert into tokens values (?, ?, ?, ?, ?) on conflict do nothing",
                [(token.hash, token.scope, token.label, token.created, token.expires) for token in tokens],
            )

    def token(self, hashed: bytes, now: int) -> TokenRecord | None:
        with self._reading() as book:
            question = f"{_TOKEN} where hash = ? and (expires is null or expires > ?)"
            row = book.execute(question, (hashed, now)).fetchone()
            return row and TokenRecord(*row)

    def tokens(self) -> list[TokenRecord]:
        with self._reading() as book:
            question = f"{_TOKEN} where scope not in (?, ?) order by created, label, hash"
            return [TokenRecord(*row) for row in book.execute(question, _UNLISTED).fetchall()]

    def revoke(self, hashed: bytes) -> bool:
        with self._writing() as book:
            return _hit(book, "delete from tokens where hash = ?", hashed)

    def prune(self, now: int, arrivals_before: int) -> None:
        with self._writing() as book:
            book.execute("delete from tokens where expires <= ?", (now,))
            book.execute("delete from arrivals where minute < ?", (arrivals_before,))

    def check(self) -> None:
        with self._writing() as book:
            book.execute("update version set checks = checks + 1")  # a real write: only that shows a full disk


def count_messages(
    book: Book, arrived: Mapping[str, int], refused: Mapping[tuple[str, str], int], now: int, shard: int = 0
) -> None:
    """Add what came in, by task, and what was turned away, by task and code, to the counters."""
    # Sorted: two nodes that count at once take the rows in one order, and neither waits for the other for ever.
    book.executemany(
        "insert into refusals values (?, ?, ?, ?)"
        " on conflict (task, code, shard) do update set messages = refusals.messages + excluded.messages",
        [(*key, shard, messages) for key, messages in sorted(refused.items())],
    )
    minute = now - now % _MINUTE
    book.executemany(
        "insert into arrivals values (?, ?, ?, ?)"
        " on conflict (task, minute, shard) do update set messages = arrivals.messages + excluded.messages",
        [(task, minute, shard, messages) for task, messages in sorted(arrived.items())],
    )


def count_users(book: Book, key: int, users: int, shard: int = 0) -> None:
    """Add to the users of a round."""
    book.execute(
        "insert into progress values (?, ?, ?)"
        " on conflict (round, shard) do update set users = progress.users + excluded.users",
        (key, shard, users),
    )


def _open(book: Book, task: str, number: int, document: str, now: int) -> bool:
    return _hit(
        book,
        "insert into rounds (task, number, document, state, opened, changed) values (?, ?, ?, 'open', ?, ?)"
        " on conflict do nothing",
        *(task, number, document, now, now),
    )


def _clear(book: Book, table: str, task: str, number: int) -> None:
    key = "select key from rounds where task = ? and number = ?"
    book.execute(f"delete from {table} where round = ({key})", (task, number))


def _hit(book: Book, sql: str, *values: object) -> bool:
    return bool(book.execute(sql, values).rowcount)


def _round(row: Sequence[Any]) -> RoundRecord:
    task, number, document, state, opened, changed, users, *sealing = row
    return RoundRecord(task, number, document, State(state), opened, changed, int(users), *sealing)
