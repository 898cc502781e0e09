"""A SQLite file of a server: synced, overwritten where erased, and named by a URL."""

import sqlite3

import pytest

from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.web.store.sqlite import PRAGMAS, SqliteFile, path_of

STEPS = (("create table a (n {number})",),)


def test_every_transaction_is_synced_and_erased_rows_are_overwritten():
    assert {"journal_mode = wal", "synchronous = full", "secure_delete = on"} <= set(PRAGMAS)


def test_a_file_is_made_with_its_tables_and_leased_once(tmp_path):
    file = SqliteFile(tmp_path / "a.db", STEPS)
    with file.lease("work") as mine, file.lease("work") as also_mine:
        assert mine
        assert not also_mine
    with pytest.raises(ParameterError, match="slash"), file.lease("a/b"):
        pass
    file.close()
    connection = sqlite3.connect(tmp_path / "a.db")
    assert connection.execute("select count(*) from a").fetchone() == (0,)
    connection.close()


def test_a_file_that_is_no_database_is_unavailable(tmp_path):
    (tmp_path / "a.db").write_bytes(b"x" * 5_000)
    with pytest.raises(UnavailableError):
        SqliteFile(tmp_path / "a.db", STEPS)


def test_a_url_names_a_whole_path():
    assert str(path_of("sqlite:///srv/a%20b.db")) == "/srv/a b.db"
    with pytest.raises(ParameterError, match="whole path"):
        path_of("sqlite://a.db")
