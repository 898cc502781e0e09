"""The tables of a hop have no place for an order or a time of arrival."""

import sqlite3

from sottovoce.shuffler.store.schema import STEPS
from sottovoce.web.store.schema import SQLITE, migrate


def test_inbox_and_hashes_have_no_row_numbers_and_no_times():
    connection = sqlite3.connect(":memory:")
    migrate(connection, SQLITE, STEPS)
    for table in ("inbox", "seen"):
        columns = [row[1] for row in connection.execute(f"pragma table_info({table})")]
        assert set(columns) <= {"round", "hash", "sealed"}
        sql = connection.execute("select sql from sqlite_master where name = ?", (table,))
        assert "without rowid" in sql.fetchone()[0]
    connection.close()
