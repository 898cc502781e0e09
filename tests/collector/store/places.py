"""The places a store of the suite can be at: a file, or a database of a server that runs for the
tests.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from sottovoce.collector.store.base import Store
from sottovoce.collector.store.schema import STEPS
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.web.store.schema import Steps


@dataclass(frozen=True)
class Place:
    """A kind of store and its address; as plain text it is an argument of a child process."""

    kind: str
    address: str

    def open(self, steps: Steps = STEPS) -> Store:
        if self.kind == "sqlite":
            return SqliteStore(Path(self.address), 30.0, steps=steps)
        from sottovoce.collector.store.postgres import PostgresStore

        return PostgresStore(self.address, steps=steps)

    @contextmanager
    def raw(self) -> Iterator[Any]:
        """Connect to the database itself, beside the store."""
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self.address, isolation_level=None)) as connection:
                yield connection
            return
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as connection:
            yield connection

    def rows(self, query: str) -> list[Any]:
        """Return what the database itself answers."""
        with self.raw() as connection:
            return connection.execute(query).fetchall()


def sqlite_place(request, tmp_path):
    return Place("sqlite", str(tmp_path / "store.db"))


def postgres_place(request, tmp_path):
    server = request.getfixturevalue("postgres_server")
    return Place("postgres", server.create(f"test_{next(_NUMBERS)}"))


_NUMBERS = count()
PLACES = {"sqlite": sqlite_place, "postgres": postgres_place}
