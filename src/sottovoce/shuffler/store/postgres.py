"""The store of a shuffler with several nodes: PostgreSQL (``web/store/postgres.py``).

PostgreSQL notes with every row the transaction that wrote it, and keeps rows in the order in which
they came: until a batch is erased, whoever holds the server's files can tell the order in which
sealed messages arrived, though not what is in them.  A hop on one machine keeps neither.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Self

from sottovoce.errors import UnavailableError
from sottovoce.shuffler.store.base import SEEN_BYTES, SealedOffer
from sottovoce.shuffler.store.schema import STEPS
from sottovoce.shuffler.store.sql import SqlHopStore
from sottovoce.web.store.postgres import PostgresConnection, PostgresDatabase, lock_number

_ADD = (
    "insert into inbox select ?, hash, sealed from unnest(%s::bytea[], %s::bytea[])"
    " as new (hash, sealed) order by hash on conflict do nothing returning hash"
)
_HERE = "select hash from inbox where round = ? and hash = any (%b::bytea[])"
_SEEN = "select hash from seen where round = ? and hash = any (%b::bytea[])"
_TABLES = ("inbox", "parts", "tokens", "rounds")  # with bytes that are to go


class PostgresHopStore(PostgresDatabase, SqlHopStore, schemes=("postgresql", "postgres")):
    """A store in one database of a server."""

    def __init__(self, url: str) -> None:
        super().__init__(url, STEPS)

    @classmethod
    def from_url(cls, url: str) -> Self:
        return cls(url)

    def _insert(
        self, connection: PostgresConnection, key: int, messages: Mapping[bytes, bytes]
    ) -> set[bytes]:
        hashes = sorted(messages)
        values = (key, hashes, [messages[hashed] for hashed in hashes])
        return {bytes(row[0]) for row in connection.execute(_ADD, values)}

    def _known(
        self, connection: PostgresConnection, key: int, hashes: Collection[bytes]
    ) -> set[bytes]:
        here = connection.among(hashes, _HERE, key)
        seen = connection.among({hashed[:SEEN_BYTES] for hashed in hashes}, _SEEN, key)
        return {hashed for hashed in hashes if hashed in here or hashed[:SEEN_BYTES] in seen}

    def _take_turns(self, connection: PostgresConnection, offers: Sequence[SealedOffer]) -> None:
        # A shared lock: nodes take messages side by side, and whoever closes the inbox waits.
        for lock in sorted({_lock(offer.task, offer.round) for offer in offers}):
            connection.execute("select pg_advisory_xact_lock_shared(?)", (lock,))

    def _wait_for_others(self, connection: PostgresConnection, task: bytes, number: int) -> None:
        connection.execute("select pg_advisory_xact_lock(?)", (_lock(task, number),))

    def _shard(self, connection: PostgresConnection) -> int:
        return int(connection.shard)

    def _overwrite(self) -> None:
        with suppress(UnavailableError), self._lent() as connection:
            connection.autocommit = True
            for table in _TABLES:
                connection.execute(f"vacuum {table}")
            connection.autocommit = False


def _lock(task: bytes, number: int) -> int:
    return lock_number(f"hop round {task.hex()} {number}")
