"""SQL shared by the stores of all databases; only inserting messages differs."""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Any

from sottovoce.errors import MismatchError, StateError
from sottovoce.shuffler.store.base import (
    ENDED,
    SEEN_BYTES,
    BatchState,
    FakeToken,
    HopRound,
    HopStore,
    HopTask,
    IncomingPart,
    MixedBatch,
    NewRound,
    PartReceipt,
    SealedOffer,
    TakeVerdict,
)
from sottovoce.web.store.schema import Connection
from sottovoce.wire.seal import KEY_BYTES

_ADD_TASK = (
    "insert into tasks (fingerprint, document, collector) values (?, ?, ?) on conflict do nothing"
)
_TASKS = "select fingerprint, document, collector, finished from tasks order by key"
_FINISH_TASK = "update tasks set finished = 1 where fingerprint = ? and finished = 0"
_STATES = "select state from rounds where task = ?"
_FORGET_SEEN = "delete from seen where round in (select key from rounds where task = ?)"
_ADD_ROUND = (
    "insert into rounds (task, number, document, state, opened, private_key, public_key, signature)"
    " values (?, ?, ?, 'open', ?, ?, ?, ?) on conflict do nothing"
)
_SUM = "coalesce((select sum({}) from progress where round = rounds.key), 0)"
_ROUNDS = (
    "select task, number, document, state, opened, public_key, signature, key_sent,"
    " key_set, set_signature, set_sent,"
    f" {_SUM.format('messages')}, {_SUM.format('duplicates')},"
    " batch_hash, batch_messages, dropped, trouble from rounds where task = ?"
)
_KEY_AND_STATE = "select key, state from rounds where task = ? and number = ?"
_TAKING = (
    "select key, state from rounds where task = ? and number = ? and set_signature is not null"
)
_OF_ROUND = " where task = ? and number = ?"
_PRIVATE_KEY = "select private_key from rounds" + _OF_ROUND
_KEY_SENT = "update rounds set key_sent = 1" + _OF_ROUND
_KEEP_KEY_SET = (
    "update rounds set key_set = ?, set_signature = ?" + _OF_ROUND + " and set_signature is null"
)
_SAME_KEY_SET = "select key_set = ? from rounds" + _OF_ROUND
_SET_SENT = "update rounds set set_sent = 1" + _OF_ROUND
_TROUBLE = "update rounds set trouble = ?" + _OF_ROUND + " and trouble <> ?"
_TURN = "update rounds set state = ?, trouble = ''" + _OF_ROUND + " and state = ?"
_MIXED = (
    "update rounds set state = 'mixed', batch_hash = ?, batch_messages = ?, dropped = ?,"
    " trouble = ''" + _OF_ROUND + " and state = 'closing'"
)
_ABANDON = (
    "update rounds set state = 'abandoned', private_key = null, trouble = ?"
    + _OF_ROUND
    + " and state in ('open', 'closing', 'mixed')"
)
_ERASE = (
    "update rounds set state = 'erased', private_key = null"
    + _OF_ROUND
    + " and state = 'delivered'"
)
_COUNT = (
    "insert into progress values (?, ?, ?, ?) on conflict (round, shard) do update set"
    " messages = progress.messages + excluded.messages,"
    " duplicates = progress.duplicates + excluded.duplicates"
)
_COUNTED = "select coalesce(sum(messages), 0) from progress where round = ?"
_PAGE = "select hash, sealed from inbox where round = ? and hash > ? order by hash limit ?"
_INCOMING = "select incoming_hash, incoming_parts from rounds where key = ?"
_SET_INCOMING = "update rounds set incoming_hash = ?, incoming_parts = ? where key = ?"
_PART_HASH = "select hash from parts where round = ? and part = ?"
_ADD_PART = "insert into parts values (?, ?, ?, ?)"
_PART = "select messages from parts where round = ? and part = ?"
_PARTS = "select count(*) from parts where round = ?"
_FIRST_PART = "select part, messages from parts where round = ? order by part limit 1"
_DROP_PART = "delete from parts where round = ? and part = ?"
_TOKENS = (
    "select pending, token from tokens join rounds on rounds.key = tokens.round"
    " where task = ? and number = ? order by pending"
)
_KEEP_TOKEN = (
    "insert into tokens values (?, ?, ?) on conflict (round, pending) do update set"
    " token = excluded.token"
)
_KEEP_SEEN = (
    f"insert into seen select round, substr(hash, 1, {SEEN_BYTES}) from inbox where round = ?"
    " order by hash limit ? on conflict do nothing"
)
_ERASE_MESSAGES = (
    "delete from inbox where round = ? and hash in"
    " (select hash from inbox where round = ? order by hash limit ?)"
)
ERASED_AT_ONCE = 10_000  # messages in one transaction: a batch may have millions
_ERASED_TABLES = ("inbox", "parts", "tokens")


class SqlHopStore(HopStore):
    """A store in a SQL database; a subclass opens transactions and inserts messages."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """Give a connection to read from."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Connection]:
        """Give a connection in a transaction, which is durable at its end or changes nothing."""

    @abstractmethod
    def _insert(self, connection: Any, key: int, messages: Mapping[bytes, bytes]) -> set[bytes]:
        """Put messages, by their hashes, into an inbox; return the hashes of the new ones."""

    @abstractmethod
    def _known(self, connection: Any, key: int, hashes: Collection[bytes]) -> set[bytes]:
        """Return which of the hashes are those of messages that a closed round has taken."""

    def _take_turns(self, connection: Any, offers: Sequence[SealedOffer]) -> None:
        """Let nobody close a round in which this transaction takes messages."""

    def _wait_for_others(self, connection: Any, task: bytes, number: int) -> None:
        """Wait until nobody is taking messages of a round; with one writer nobody is."""

    def _shard(self, connection: Any) -> int:
        """Return which counter this connection adds to."""
        return 0

    def _overwrite(self) -> None:
        """Overwrite erased bytes, if the database can."""

    def add_task(self, task: HopTask) -> bool:
        with self._writing() as connection:
            values = (task.fingerprint, task.document, task.collector)
            return _changed(connection, _ADD_TASK, *values)

    def tasks(self) -> list[HopTask]:
        with self._reading() as connection:
            rows = connection.execute(_TASKS).fetchall()
        return [HopTask(row[0], row[1], row[2], bool(row[3])) for row in rows]

    def finish_task(self, task: bytes) -> bool:
        with self._writing() as connection:
            states = [row[0] for row in connection.execute(_STATES, (task,)).fetchall()]
            if any(state not in ENDED for state in states):
                return False
            finished = _changed(connection, _FINISH_TASK, task)
            connection.execute(_FORGET_SEEN, (task,))
        self._overwrite()
        return finished

    def open_round(self, new: NewRound) -> bool:
        keys = (new.keys.private_key, new.keys.public_key, new.signature)
        with self._writing() as connection:
            values = (new.task, new.number, new.document, new.opened, *keys)
            return _changed(connection, _ADD_ROUND, *values)

    def rounds(self, task: bytes) -> list[HopRound]:
        with self._reading() as connection:
            rows = connection.execute(_ROUNDS + " order by number", (task,)).fetchall()
        return [_round(row) for row in rows]

    def find_round(self, task: bytes, number: int) -> HopRound | None:
        with self._reading() as connection:
            row = connection.execute(_ROUNDS + " and number = ?", (task, number)).fetchone()
        return None if row is None else _round(row)

    def private_key(self, task: bytes, number: int) -> bytes | None:
        with self._reading() as connection:
            row = connection.execute(_PRIVATE_KEY, (task, number)).fetchone()
        return None if row is None else row[0]

    def note_key_sent(self, task: bytes, number: int) -> None:
        with self._writing() as connection:
            connection.execute(_KEY_SENT, (task, number))

    def keep_key_set(
        self, task: bytes, number: int, public_keys: Sequence[bytes], signature: bytes
    ) -> None:
        joined = b"".join(public_keys)
        with self._writing() as connection:
            if _changed(connection, _KEEP_KEY_SET, joined, signature, task, number):
                return
            row = connection.execute(_SAME_KEY_SET, (joined, task, number)).fetchone()
            if row is None or not row[0]:
                raise MismatchError(
                    "this hop has already signed other keys for this round, and cannot change them"
                )

    def note_set_sent(self, task: bytes, number: int) -> None:
        with self._writing() as connection:
            connection.execute(_SET_SENT, (task, number))

    def note_trouble(self, task: bytes, number: int, trouble: str) -> None:
        with self._writing() as connection:
            connection.execute(_TROUBLE, (trouble, task, number, trouble))

    def take(self, offers: Sequence[SealedOffer]) -> list[list[TakeVerdict]]:
        with self._writing() as connection:
            self._take_turns(connection, offers)
            return [self._take_one(connection, offer) for offer in offers]

    def _take_one(self, connection: Connection, offer: SealedOffer) -> list[TakeVerdict]:
        row = connection.execute(_TAKING, (offer.task, offer.round)).fetchone()
        if row is None:
            return [TakeVerdict.TOO_EARLY] * len(offer.messages)
        key, state = row
        hashes = [sha256(message).digest() for message in offer.messages]
        if state != BatchState.OPEN:
            known = self._known(connection, key, set(hashes))
            return [
                TakeVerdict.DUPLICATE if hashed in known else TakeVerdict.TOO_LATE
                for hashed in hashes
            ]
        new = self._insert(connection, key, dict(zip(hashes, offer.messages, strict=True)))
        verdicts = []
        for hashed in hashes:
            verdicts.append(TakeVerdict.ACCEPTED if hashed in new else TakeVerdict.DUPLICATE)
            new.discard(hashed)  # the same message again in one request
        self._count(connection, key, verdicts)
        return verdicts

    def _count(self, connection: Connection, key: int, verdicts: Sequence[TakeVerdict]) -> None:
        accepted = verdicts.count(TakeVerdict.ACCEPTED)
        duplicates = len(verdicts) - accepted
        connection.execute(_COUNT, (key, self._shard(connection), accepted, duplicates))

    def take_part(self, task: bytes, number: int, part: IncomingPart) -> PartReceipt:
        with self._writing() as connection:
            self._wait_for_others(connection, task, number)
            row = connection.execute(_TAKING, (task, number)).fetchone()
            if row is None:
                raise StateError(
                    "this hop has not learned of the round or not signed its keys yet:"
                    " try again later"
                )
            key, state = row
            _check_same_batch(connection, key, part)
            if state != BatchState.OPEN:
                return PartReceipt(part.parts, part.parts, complete=True)
            _keep_part(connection, key, part)
            received = int(connection.execute(_PARTS, (key,)).fetchone()[0])
            if received < part.parts:
                return PartReceipt(received, part.parts, complete=False)
            if _hash_of_parts(connection, key, part.parts) == part.batch_hash:
                values = (BatchState.CLOSING, task, number, BatchState.OPEN)
                _changed(connection, _TURN, *values)
                return PartReceipt(received, part.parts, complete=True)
            _clear(connection, "parts", key)
            connection.execute(_SET_INCOMING, (None, 0, key))
        raise MismatchError("the parts of this batch do not have the hash that they state")

    def absorb_parts(self, task: bytes, number: int, message_bytes: int) -> None:
        while True:
            with self._writing() as connection:
                key, _ = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
                row = connection.execute(_FIRST_PART, (key,)).fetchone()
                if row is None:
                    return
                part, data = row
                pieces = range(0, len(data), message_bytes)
                messages = [data[start : start + message_bytes] for start in pieces]
                by_hash = {sha256(message).digest(): message for message in messages}
                new = self._insert(connection, key, by_hash)
                counts = (len(new), len(messages) - len(new))
                connection.execute(_COUNT, (key, self._shard(connection), *counts))
                connection.execute(_DROP_PART, (key, part))

    def close_inbox(self, task: bytes, number: int, min_messages: int) -> bool:
        with self._writing() as connection:
            self._wait_for_others(connection, task, number)
            row = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
            if row is None or connection.execute(_COUNTED, (row[0],)).fetchone()[0] < min_messages:
                return False
            return _changed(connection, _TURN, BatchState.CLOSING, task, number, BatchState.OPEN)

    def reopen(self, task: bytes, number: int, unreadable: Sequence[bytes]) -> bool:
        with self._writing() as connection:
            key, _ = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
            turn = (BatchState.OPEN, task, number, BatchState.CLOSING)
            if not _changed(connection, _TURN, *turn):
                return False
            rows = [(key, hashed) for hashed in unreadable]
            connection.executemany("delete from inbox where round = ? and hash = ?", rows)
            connection.execute(_COUNT, (key, self._shard(connection), -len(rows), 0))
            return True

    def inbox(self, task: bytes, number: int, at_once: int) -> Iterator[list[bytes]]:
        last = b""
        while True:
            with self._reading() as connection:
                key, _ = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
                rows = connection.execute(_PAGE, (key, last, at_once)).fetchall()
            if not rows:
                return
            yield [row[1] for row in rows]
            last = rows[-1][0]

    def count_inbox(self, task: bytes, number: int) -> int:
        with self._reading() as connection:
            key, _ = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
            query = "select count(*) from inbox where round = ?"
            return int(connection.execute(query, (key,)).fetchone()[0])

    def note_mixed(self, task: bytes, number: int, batch: MixedBatch) -> bool:
        with self._writing() as connection:
            values = (batch.hash, batch.messages, batch.dropped, task, number)
            return _changed(connection, _MIXED, *values)

    def note_delivered(self, task: bytes, number: int) -> bool:
        with self._writing() as connection:
            turn = (BatchState.DELIVERED, task, number, BatchState.MIXED)
            return _changed(connection, _TURN, *turn)

    def erase(self, task: bytes, number: int) -> bool:
        while self.erase_some(task, number):
            pass  # in between, others can write
        with self._writing() as connection:
            erased = _changed(connection, _ERASE, task, number)
            if erased:
                key, _ = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
                for table in _ERASED_TABLES:
                    _clear(connection, table, key)
        self._overwrite()
        return erased

    def erase_some(self, task: bytes, number: int) -> bool:
        """Erase some messages of a delivered batch but for their hashes; False if none is left."""
        with self._writing() as connection:
            row = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
            if row is None or row[1] != BatchState.DELIVERED:
                return False
            connection.execute(_KEEP_SEEN, (row[0], ERASED_AT_ONCE))
            erased = connection.execute(_ERASE_MESSAGES, (row[0], row[0], ERASED_AT_ONCE))
            return bool(erased.rowcount)

    def abandon(self, task: bytes, number: int, trouble: str) -> bool:
        with self._writing() as connection:
            self._wait_for_others(connection, task, number)
            abandoned = _changed(connection, _ABANDON, trouble, task, number)
            if abandoned:
                key, _ = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
                for table in _ERASED_TABLES:
                    _clear(connection, table, key)
        self._overwrite()
        return abandoned

    def fake_tokens(self, task: bytes, number: int) -> list[FakeToken]:
        with self._reading() as connection:
            rows = connection.execute(_TOKENS, (task, number)).fetchall()
        return [FakeToken(pending, token) for pending, token in rows]

    def keep_fake_tokens(self, task: bytes, number: int, tokens: Sequence[FakeToken]) -> None:
        with self._writing() as connection:
            key, _ = connection.execute(_KEY_AND_STATE, (task, number)).fetchone()
            rows = [(key, token.pending, token.token) for token in tokens]
            connection.executemany(_KEEP_TOKEN, rows)

    def check(self) -> None:
        with self._writing() as connection:
            connection.execute("update version set checks = 1 - checks")


def _round(row: Sequence[Any]) -> HopRound:
    return HopRound(
        task=row[0],
        number=row[1],
        document=row[2],
        state=BatchState(row[3]),
        opened=row[4],
        public_key=row[5],
        signature=row[6],
        key_sent=bool(row[7]),
        key_set=None if row[8] is None else _split_keys(row[8]),
        set_signature=row[9],
        set_sent=bool(row[10]),
        messages=int(row[11]),
        duplicates=int(row[12]),
        batch_hash=row[13],
        batch_messages=row[14],
        dropped=row[15],
        trouble=row[16],
    )


def _split_keys(joined: bytes) -> tuple[bytes, ...]:
    starts = range(0, len(joined), KEY_BYTES)
    return tuple(bytes(joined[start : start + KEY_BYTES]) for start in starts)


def _check_same_batch(connection: Connection, key: int, part: IncomingPart) -> None:
    """Refuse a part of another batch than the one whose part came first."""
    batch_hash, parts = connection.execute(_INCOMING, (key,)).fetchone()
    if batch_hash is None:
        connection.execute(_SET_INCOMING, (part.batch_hash, part.parts, key))
    elif (batch_hash, parts) != (part.batch_hash, part.parts):
        raise MismatchError("this part belongs to another batch than the parts before it")


def _keep_part(connection: Connection, key: int, part: IncomingPart) -> None:
    """Store a part that is new; refuse other messages for the same part."""
    hashed = sha256(part.messages).digest()
    row = connection.execute(_PART_HASH, (key, part.part)).fetchone()
    if row is None:
        connection.execute(_ADD_PART, (key, part.part, hashed, part.messages))
    elif row[0] != hashed:
        raise MismatchError("a different part with the same number has been received already")


def _hash_of_parts(connection: Connection, key: int, parts: int) -> bytes:
    """Return the SHA-256 of the messages of all parts, one after another."""
    hasher = sha256()
    for part in range(parts):
        hasher.update(connection.execute(_PART, (key, part)).fetchone()[0])
    return hasher.digest()


def _clear(connection: Connection, table: str, key: int) -> None:
    connection.execute(f"delete from {table} where round = ?", (key,))


def _changed(connection: Connection, sql: str, *values: Any) -> bool:
    """Run a statement about one row, and return whether it changed it."""
    return bool(connection.execute(sql, values).rowcount == 1)
