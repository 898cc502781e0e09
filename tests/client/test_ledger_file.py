"""The file of a ledger: private, and readable by every release after the one that made it."""

import os
import sqlite3
import stat

import pytest

import sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.ledger_file import MARKER, LedgerFile
from sottovoce.errors import BudgetError

TASK = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)


def test_the_file_is_for_its_owner_alone(tmp_path):
    DiskLedger(tmp_path / "ledger").close()
    assert stat.S_IMODE((tmp_path / "ledger").stat().st_mode) == 0o600


def test_a_ledger_of_a_later_layout_is_not_touched(tmp_path):
    DiskLedger(tmp_path / "ledger").close()
    later = sqlite3.connect(tmp_path / "ledger")
    later.execute("update version set number = 3")
    later.commit()
    later.close()
    before = (tmp_path / "ledger").read_bytes()
    with pytest.raises(BudgetError, match="another version"):
        DiskLedger(tmp_path / "ledger")
    assert (tmp_path / "ledger").read_bytes() == before


def test_a_block_within_another_is_part_of_it():
    file = LedgerFile(":memory:")

    def write_two_and_fail():
        with file.writing():
            file.write("insert into leaving values ('outer')")
            with file.writing():
                file.write("insert into leaving values ('inner')")
            raise RuntimeError("before the end of the outer block")

    with pytest.raises(RuntimeError):
        write_two_and_fail()
    assert file.rows("select task from leaving") == []
    assert file.row("select task from leaving") is None


# --- a ledger that is gone ---


def used(path):
    """Make a ledger that has paid for an answer."""
    with DiskLedger(path) as ledger:
        Client(TASK, ledger).answer("cat")
    return path


def marker_of(path):
    return path.with_name(path.name + MARKER)


def cut_to(size):
    return lambda path: os.truncate(path, size)


def without_tables(path):
    path.unlink()
    empty = sqlite3.connect(path)
    empty.execute("create table other (x)")
    empty.commit()
    empty.close()


LOST = {
    "removed": lambda path: path.unlink(),
    "emptied": cut_to(0),
    "without its tables": without_tables,
}
DAMAGED = {
    "cut to its header": cut_to(100),
    "cut to a page": cut_to(4096),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "overwritten": lambda path: path.write_bytes(b"nothing" * 1000),
}


@pytest.mark.parametrize("loss", LOST)
def test_a_ledger_that_is_gone_is_noticed_and_nothing_is_sent(tmp_path, loss):
    path = used(tmp_path / "ledger")
    LOST[loss](path)
    for _ in range(2):
        with pytest.raises(BudgetError, match="a ledger that is gone or cut"):
            Client(TASK, path)
    marker_of(path).unlink()
    path.unlink(missing_ok=True)
    assert Client(TASK, path).ledger.spent == 0, "the owner has begun anew"


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_ledger_sends_nothing(tmp_path, damage):
    path = used(tmp_path / "ledger")
    DAMAGED[damage](path)
    with pytest.raises(BudgetError, match=r"gone or cut|cannot be read or written"):
        Client(TASK, path).answer("cat")


def test_a_ledger_that_was_put_back_goes_on(tmp_path):
    path = used(tmp_path / "ledger")
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(BudgetError):
        DiskLedger(path)
    path.write_bytes(content)
    assert DiskLedger(path).spent == 1.0


def test_an_empty_file_without_a_marker_was_never_finished(tmp_path):
    """A crash between making the file and making its tables."""
    path = tmp_path / "ledger"
    path.touch()
    assert DiskLedger(path).spent == 0
    assert marker_of(path).exists()


def test_tables_without_a_marker_get_one(tmp_path):
    """A crash between the tables and the marker."""
    path = used(tmp_path / "ledger")
    marker_of(path).unlink()
    assert DiskLedger(path).spent == 1.0
    assert marker_of(path).exists()


def test_a_ledger_in_memory_has_no_marker(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DiskLedger(":memory:").close()
    assert list(tmp_path.iterdir()) == []
