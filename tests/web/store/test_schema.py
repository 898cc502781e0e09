"""Steps are taken once and in order, and a database of a newer version is left alone."""

import sqlite3

import pytest

from sottovoce.errors import MismatchError
from sottovoce.web.store.schema import SQLITE, migrate

STEPS = (("create table a (n {number})",), ("alter table a add column b {bytes}",))


def columns(connection):
    return [row[1] for row in connection.execute("pragma table_info(a)")]


def test_missing_steps_are_taken_once():
    connection = sqlite3.connect(":memory:")
    migrate(connection, SQLITE, STEPS[:1])
    assert columns(connection) == ["n"]
    migrate(connection, SQLITE, STEPS)
    migrate(connection, SQLITE, STEPS)
    assert columns(connection) == ["n", "b"]
    with pytest.raises(MismatchError, match="upgrade sottovoce"):
        migrate(connection, SQLITE, STEPS[:1])
    connection.close()
