"""The tables of a SQL store, as numbered steps; a database stores the number of steps applied.

A released step never changes; a new need is a new step.  Braces stand for what the two dialects
call differently.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sottovoce.errors import MismatchError

Steps = Sequence[Sequence[str]]

SQLITE = {
    "key": "integer primary key",
    "number": "integer",
    "bytes": "blob",
    "bare": "without rowid",
}
POSTGRES = {
    "key": "bigint generated always as identity primary key",
    "number": "bigint",
    "bytes": "bytea",
    "bare": "",
}


class Connection(Protocol):
    """A connection in an open transaction: what the stores use of either database."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Any:
        """Run one statement and return its cursor."""

    def executemany(self, sql: str, values: Sequence[Sequence[Any]], /) -> Any:
        """Run one statement for every row of values."""


def migrate(connection: Connection, dialect: Mapping[str, str], steps: Steps) -> None:
    """Take the steps that are missing, inside the caller's transaction: all of them, or none."""
    connection.execute(
        "create table if not exists version (number integer not null, checks integer not null)"
    )
    row = connection.execute("select number from version").fetchone()
    taken = int(row[0]) if row else 0
    if taken > len(steps):
        raise MismatchError(
            f"this database has schema version {taken}, newer than {len(steps)}: upgrade sottovoce"
        )
    for step in steps[taken:]:
        for statement in step:
            connection.execute(statement.format(**dialect))
    if row is None:
        connection.execute("insert into version values (0, 0)")
    if taken < len(steps):
        connection.execute("update version set number = ?", (len(steps),))
