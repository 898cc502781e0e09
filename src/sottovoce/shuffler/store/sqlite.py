"""The store of a shuffler on one machine: a SQLite file (``web/store/sqlite.py``)."""

import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Self

from sottovoce.shuffler.store.base import SEEN_BYTES
from sottovoce.shuffler.store.schema import STEPS
from sottovoce.shuffler.store.sql import SqlHopStore
from sottovoce.web.store.sqlite import SqliteFile, path_of

_HERE = "select 1 from inbox where round = ? and hash = ?"
_SEEN = "select 1 from seen where round = ? and hash = ?"
_ADD = "insert into inbox values (?, ?, ?)"


class SqliteHopStore(SqliteFile, SqlHopStore, schemes=("sqlite",)):
    """A store in one file, for the threads of one machine and its command line."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, STEPS)

    @classmethod
    def from_url(cls, url: str) -> Self:
        return cls(path_of(url))

    @classmethod
    def exists(cls, url: str) -> bool:
        return path_of(url).exists()

    def _insert(
        self, connection: sqlite3.Connection, key: int, messages: Mapping[bytes, bytes]
    ) -> set[bytes]:
        hashes = sorted(messages)  # neighbours share a page
        new = [hashed for hashed in hashes if not _has(connection, _HERE, key, hashed)]
        connection.executemany(_ADD, [(key, hashed, messages[hashed]) for hashed in new])
        return set(new)

    def _known(
        self, connection: sqlite3.Connection, key: int, hashes: Collection[bytes]
    ) -> set[bytes]:
        return {
            hashed
            for hashed in hashes
            if _has(connection, _HERE, key, hashed)
            or _has(connection, _SEEN, key, hashed[:SEEN_BYTES])
        }

    def close_inbox(self, task: bytes, number: int, min_messages: int) -> bool:
        closed = super().close_inbox(task, number, min_messages)
        if closed:
            self._overwrite()  # the journal shows which messages came together
        return closed

    def _overwrite(self) -> None:
        self.empty_journal()


def _has(connection: sqlite3.Connection, query: str, *values: object) -> bool:
    return connection.execute(query, values).fetchone() is not None
