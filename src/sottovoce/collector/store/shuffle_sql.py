"""The SQL of shuffled tasks, the same for every database."""

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from sottovoce.collector.store.shuffle_base import (
    BatchRecord,
    Canary,
    CanaryCounts,
    Grant,
    OpenedPart,
    PartRecord,
    ShuffleStore,
)
from sottovoce.errors import MismatchError, StateError
from sottovoce.web.store.schema import Connection
from sottovoce.wire.round_keys import SignedKey

_ROUND = "select key, state from rounds where task = ? and number = ?"
_KEY_OF_ROUND = "(select key from rounds where task = ? and number = ?)"
_ADD_KEY = "insert into round_keys values (?, ?, ?, ?, ?) on conflict do nothing"
_SAME_KEY = "select 1 from round_keys where round = ? and hop = ? and public_key = ?"
_KEYS = (
    f"select hop, public_key, signature from round_keys where round = {_KEY_OF_ROUND} order by hop"
)
_PRIVATE_KEY = (
    f"select private_key from round_keys where round = {_KEY_OF_ROUND} and private_key is not null"
)
_ADD_SET_SIGNATURE = "insert into set_signatures values (?, ?, ?) on conflict do nothing"
_SET_SIGNATURES = f"select signature from set_signatures where round = {_KEY_OF_ROUND} order by hop"
_ERASE_KEYS = "update round_keys set private_key = null where round = ?"
_ADD_BATCH = "insert into batches (round, parts, hash) values (?, ?, ?) on conflict do nothing"
_BATCH = "select parts, hash, complete from batches where round = ?"
_ADD_PART = "insert into parts (round, part, hash, data) values (?, ?, ?, ?) on conflict do nothing"
_PART_HASH = "select hash from parts where round = ? and part = ?"
_BATCH_FACTS = (
    "select parts, hash, (select count(*) from parts where round = batches.round), complete,"
    " (select count(*) from parts where round = batches.round and data is null),"
    f" messages, unopened, duplicates from batches where round = {_KEY_OF_ROUND}"
)
_NEXT_PART = (
    f"select part, data from parts where round = {_KEY_OF_ROUND} and part > ?"
    " and data is not null order by part limit 1"
)
_COMPLETE = (
    "update batches set complete = 1 where round = ? and complete = 0"
    " and parts = (select count(*) from parts where round = batches.round)"
)
_OPEN_PART = "update parts set data = null where round = ? and part = ? and data is not null"
_COUNT_OPENED = (
    "update batches set messages = messages + ?, unopened = unopened + ?,"
    " duplicates = duplicates + ? where round = ?"
)
_WAITING_PARTS = "select count(*) from parts where round = ? and data is not null"
_CLOSE = (
    "update rounds set state = 'sealing', changed = ?"
    " where key = ? and state in ('open', 'closing')"
)
_ADD_CANARY = "insert into canaries (round, id, sealed) values (?, ?, ?) on conflict do nothing"
_UNSENT = (
    f"select id, sealed from canaries where round = {_KEY_OF_ROUND} and sealed is not null"
    " order by id"
)
_NOTE_SENT = f"update canaries set sealed = null where round = {_KEY_OF_ROUND} and id = ?"
_NOTE_FOUND = "update canaries set found = 1 where round = ? and id = ?"
_CANARY_IDS = f"select id from canaries where round = {_KEY_OF_ROUND}"
_CANARY_COUNTS = (
    "select count(*), coalesce(sum(case when sealed is null then 1 else 0 end), 0),"
    f" coalesce(sum(found), 0) from canaries where round = {_KEY_OF_ROUND}"
)
_ENROLLED = (
    "select 1 from tokens where hash = ? and scope = 'enrolment'"
    " and (expires is null or expires > ?)"
)
_ADD_ISSUED = "insert into issued values (?, ?, ?) on conflict do nothing"
_SAME_ISSUED = "select 1 from issued where task = ? and token = ? and blinded = ?"
_ADD_FAKE = "insert into issued_fakes values (?, ?, ?) on conflict do nothing"
_FAKES = "select blinded from issued_fakes where round = ? and hop = ?"
_COMPLETE_BATCH = (
    "select 1 from batches join rounds on rounds.key = batches.round"
    " where complete = 1 and state in ('open', 'closing') and batches.round = "
)


class ShuffleSqlStore(ShuffleStore):
    """The part of a SQL store that serves shuffled tasks."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """Give a connection to read from."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Connection]:
        """Give a connection in a transaction, which is durable at its end or changes nothing."""

    @abstractmethod
    def _wait_for_others(self, connection: Connection, task: str, number: int) -> None:
        """Wait until nobody else changes or fills a round."""

    def _overwrite_erased(self) -> None:
        """Overwrite what was erased, as far as the database lets us do it now."""

    def add_round_key(
        self, task: str, number: int, key: SignedKey, private_key: bytes | None = None
    ) -> bool:
        with self._writing() as connection:
            round_key, _ = round_of(connection, task, number)
            values = (round_key, key.hop, key.public_key, key.signature, private_key)
            if connection.execute(_ADD_KEY, values).rowcount:
                return True
            same = (round_key, key.hop, key.public_key)
            if connection.execute(_SAME_KEY, same).fetchone() is None:
                raise MismatchError("this hop has another key for this round, which stays")
            return False

    def round_keys(self, task: str, number: int) -> list[SignedKey]:
        with self._reading() as connection:
            rows = connection.execute(_KEYS, (task, number)).fetchall()
            return [
                SignedKey(int(hop), bytes(public_key), bytes(signature))
                for hop, public_key, signature in rows
            ]

    def add_set_signature(self, task: str, number: int, hop: int, signature: bytes) -> bool:
        with self._writing() as connection:
            round_key, _ = round_of(connection, task, number)
            values = (round_key, hop, signature)
            return bool(connection.execute(_ADD_SET_SIGNATURE, values).rowcount)

    def set_signatures(self, task: str, number: int) -> list[bytes]:
        with self._reading() as connection:
            rows = connection.execute(_SET_SIGNATURES, (task, number)).fetchall()
            return [bytes(signature) for (signature,) in rows]

    def private_round_key(self, task: str, number: int) -> bytes | None:
        with self._reading() as connection:
            row = connection.execute(_PRIVATE_KEY, (task, number)).fetchone()
            return None if row is None else bytes(row[0])

    def add_part(self, task: str, number: int, part: PartRecord) -> bool:
        part_hash = hashlib.sha256(part.messages).digest()
        with self._writing() as connection:
            round_key, state = round_of(connection, task, number)
            row = connection.execute(_PART_HASH, (round_key, part.part)).fetchone()
            if row is None and state != "open":
                raise MismatchError("this round takes no batch any more")
            if row is None:
                _begin_batch(connection, round_key, part)
                values = (round_key, part.part, part_hash, part.messages)
                if connection.execute(_ADD_PART, values).rowcount:
                    return True
                # Another node has stored it since we looked.
                row = connection.execute(_PART_HASH, (round_key, part.part)).fetchone()
            if bytes(row[0]) != part_hash:
                raise MismatchError("another part of this number has come before, and it stays")
            _check_same_batch(connection, round_key, part)
            return False

    def batch(self, task: str, number: int) -> BatchRecord | None:
        with self._reading() as connection:
            row = connection.execute(_BATCH_FACTS, (task, number)).fetchone()
        if row is None:
            return None
        parts, batch_hash, received, complete, opened, *counts = row
        return BatchRecord(
            int(parts),
            bytes(batch_hash),
            int(received),
            bool(complete),
            int(opened),
            *map(int, counts),
        )

    def parts(self, task: str, number: int) -> Iterator[tuple[int, bytes]]:
        last = -1
        while True:
            with self._reading() as connection:
                row = connection.execute(_NEXT_PART, (task, number, last)).fetchone()
            if row is None:
                return
            last = int(row[0])
            yield last, bytes(row[1])

    def complete_batch(self, task: str, number: int) -> bool:
        with self._writing() as connection:
            self._wait_for_others(connection, task, number)
            round_key, state = round_of(connection, task, number)
            if state == "open":
                connection.execute(_COMPLETE, (round_key,))
            row = connection.execute(_BATCH, (round_key,)).fetchone()
            return row is not None and bool(row[2])

    def drop_batch(self, task: str, number: int) -> bool:
        with self._writing() as connection:
            round_key, _ = round_of(connection, task, number)
            row = connection.execute(_BATCH, (round_key,)).fetchone()
            if row is None or row[2]:
                return False
            connection.execute("delete from parts where round = ?", (round_key,))
            connection.execute("delete from batches where round = ?", (round_key,))
            return True

    def close_batch(self, task: str, number: int, now: int) -> bool:
        with self._writing() as connection:
            self._wait_for_others(connection, task, number)
            round_key, _ = round_of(connection, task, number)
            row = connection.execute(_BATCH, (round_key,)).fetchone()
            (waiting,) = connection.execute(_WAITING_PARTS, (round_key,)).fetchone()
            if row is None or not row[2] or waiting:
                return False
            connection.execute(_ERASE_KEYS, (round_key,))
            closed = bool(connection.execute(_CLOSE, (now, round_key)).rowcount)
        self._overwrite_erased()
        return closed

    def add_canaries(self, task: str, number: int, canaries: Sequence[Canary]) -> None:
        with self._writing() as connection:
            round_key, _ = round_of(connection, task, number)
            rows = [(round_key, canary.report_id, canary.sealed) for canary in canaries]
            connection.executemany(_ADD_CANARY, rows)

    def unsent_canaries(self, task: str, number: int) -> list[Canary]:
        with self._reading() as connection:
            rows = connection.execute(_UNSENT, (task, number)).fetchall()
            return [Canary(bytes(report_id), bytes(sealed)) for report_id, sealed in rows]

    def note_sent(self, task: str, number: int, report_ids: Sequence[bytes]) -> None:
        rows = [(task, number, report_id) for report_id in report_ids]
        with self._writing() as connection:
            connection.executemany(_NOTE_SENT, rows)

    def canary_ids(self, task: str, number: int) -> set[bytes]:
        with self._reading() as connection:
            rows = connection.execute(_CANARY_IDS, (task, number)).fetchall()
            return {bytes(report_id) for (report_id,) in rows}

    def canary_counts(self, task: str, number: int) -> CanaryCounts:
        with self._reading() as connection:
            row = connection.execute(_CANARY_COUNTS, (task, number)).fetchone()
            return CanaryCounts(*map(int, row))

    def claim_signature(self, task: str, token: bytes, blinded: bytes, now: int) -> Grant:
        with self._writing() as connection:
            if connection.execute(_ENROLLED, (token, now)).fetchone() is None:
                return Grant.TOKEN_UNKNOWN
            if connection.execute(_ADD_ISSUED, (task, token, blinded)).rowcount:
                return Grant.GRANTED
            same = connection.execute(_SAME_ISSUED, (task, token, blinded)).fetchone()
            return Grant.TOKEN_SPENT if same is None else Grant.GRANTED

    def claim_fakes(
        self, task: str, number: int, hop: int, blinded: Sequence[bytes], most: int
    ) -> bool:
        with self._writing() as connection:
            self._wait_for_others(connection, task, number)
            round_key, _ = round_of(connection, task, number)
            rows = connection.execute(_FAKES, (round_key, hop)).fetchall()
            known = {bytes(blinded_hash) for (blinded_hash,) in rows}
            new = set(blinded) - known
            if len(known) + len(new) > most:
                return False
            values = [(round_key, hop, blinded_hash) for blinded_hash in sorted(new)]
            connection.executemany(_ADD_FAKE, values)
            return True


def note_opened(
    connection: Connection, round_key: int, opened: OpenedPart, duplicates: int
) -> None:
    """Erase the bytes of a part and count what was in it; refuse a part that was opened before."""
    if not connection.execute(_OPEN_PART, (round_key, opened.part)).rowcount:
        raise StateError("this part of a batch is not there, or it has been opened before")
    counts = (opened.messages, opened.unopened, duplicates, round_key)
    connection.execute(_COUNT_OPENED, counts)
    rows = [(round_key, report_id) for report_id in opened.canaries]
    connection.executemany(_NOTE_FOUND, rows)


def has_waiting_batch(connection: Connection, task: str, number: int) -> bool:
    """Return whether a round has a complete batch, which must be opened before it closes."""
    row = connection.execute(f"{_COMPLETE_BATCH}{_KEY_OF_ROUND}", (task, number)).fetchone()
    return row is not None


def forget_batch(connection: Connection, task: str, number: int) -> None:
    """Erase what is left of the batch of a sealed round: unopened parts and the private key."""
    place = (task, number)
    connection.execute(f"update parts set data = null where round = {_KEY_OF_ROUND}", place)
    connection.execute(
        f"update round_keys set private_key = null where round = {_KEY_OF_ROUND}", place
    )


def round_of(connection: Connection, task: str, number: int) -> tuple[int, str]:
    """Return the key and the state of a round, or refuse one that is not there."""
    row = connection.execute(_ROUND, (task, number)).fetchone()
    if row is None:
        raise MismatchError("there is no such round")
    key, state = row
    return int(key), str(state)


def _begin_batch(connection: Connection, round_key: int, part: PartRecord) -> None:
    """Note which batch a part belongs to; refuse a part of another batch than the first one's."""
    connection.execute(_ADD_BATCH, (round_key, part.parts, part.batch_hash))
    _check_same_batch(connection, round_key, part)


def _check_same_batch(connection: Connection, round_key: int, part: PartRecord) -> None:
    parts, batch_hash, _ = connection.execute(_BATCH, (round_key,)).fetchone()
    if (int(parts), bytes(batch_hash)) != (part.parts, part.batch_hash):
        raise MismatchError("parts of another batch have come before, and they stay")
