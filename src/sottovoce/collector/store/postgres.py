"""The store of several machines: PostgreSQL, and any number of nodes that do not know each other.

A node takes rows in one order (rounds, report ids, claims, counters; each sorted), so that nodes
never wait for each other in a circle.  PostgreSQL notes with every row the transaction that wrote
it: whoever holds its files can tell which claims came in one call with which reports, so small
calls say more than large ones.  Erased rows are gone for every query; the server overwrites their
bytes, and those in its own journal, in its own time.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from sottovoce.collector.store.base import Offer, Verdict
from sottovoce.collector.store.postgres_accept import accept
from sottovoce.collector.store.schema import STEPS
from sottovoce.collector.store.shuffle_base import OpenedPart
from sottovoce.collector.store.sql import SqlStore, count_messages, note_part
from sottovoce.collector.store.verdicts import message_counts
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.web.store.postgres import PostgresDatabase, lock_number
from sottovoce.web.store.schema import Connection, Steps


class PostgresStore(PostgresDatabase, SqlStore, schemes=("postgresql", "postgres")):
    """A store in one database of a server."""

    def __init__(self, url: str, *, steps: Steps = STEPS) -> None:
        super().__init__(url, steps)

    @classmethod
    def from_url(cls, url: str) -> Self:
        return cls(url)

    def accept(
        self,
        offers: Sequence[Offer],
        refused: Mapping[tuple[str, str], int],
        now: int,
        opened: OpenedPart | None = None,
    ) -> list[list[Verdict]]:
        with self._writing() as connection:
            verdicts = accept(connection, offers, now)
            counts = message_counts(offers, verdicts, refused)
            count_messages(connection, *counts, now, connection.shard)
            note_part(connection, opened, verdicts)
        return verdicts

    def seal(self, task: str, number: int, count: int, checksum: str, now: int) -> bool:
        sealed = super().seal(task, number, count, checksum, now)
        if sealed:
            self._vacuum("segments")  # now, because the payloads are to go
        return sealed

    def _overwrite_erased(self) -> None:
        self._vacuum("parts, round_keys")

    def _vacuum(self, tables: str) -> None:
        with suppress(UnavailableError), self._lent() as connection:
            connection.autocommit = True
            connection.execute(f"vacuum {tables}")
            connection.autocommit = False

    def backup(self, path: Path) -> None:
        raise ParameterError(
            "back up a PostgreSQL store with pg_dump, and the sealed files by copying"
        )

    def _wait_for_others(self, connection: Connection, task: str, number: int) -> None:
        lock = (lock_number(f"round {task} {number}"),)
        connection.execute("select pg_advisory_xact_lock(?)", lock)
