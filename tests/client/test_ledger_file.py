"""The file of a ledger: private, and readable by every release after the one that made it."""

import sqlite3
import stat

import numpy as np
import pytest

import sottovoce as sv
from client.clock import Clock
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.ledger_file import LedgerFile
from sottovoce.errors import BudgetError
from sottovoce.tasks.budget import Spend, SpendingWindow
from sottovoce.wire.envelope import Envelopes

TASK = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)


def test_the_file_is_for_its_owner_alone(tmp_path):
    DiskLedger(tmp_path / "ledger").close()
    assert stat.S_IMODE((tmp_path / "ledger").stat().st_mode) == 0o600


FIRST_LAYOUT = """
create table cap (epsilon text not null);
create table coin (task text primary key, coin blob not null) without rowid;
create table charge (task text primary key, epsilon text not null, message blob) without rowid;
insert into cap values ('2.5');
"""


def message_of_round(number):
    ids = np.zeros((1, 16), np.uint8)
    payloads = np.full((1, 3), number % 256, np.uint8)
    return Envelopes(bytes(16), number, np.zeros(1, np.int64), ids, payloads).write()


def test_a_ledger_of_the_first_layout_is_taken_over(tmp_path):
    path, paid = tmp_path / "ledger", sv.Task("paid", TASK.plan, 1.0)
    messages = {number: message_of_round(number) for number in (0, 513)}
    made = sqlite3.connect(path, isolation_level=None)
    made.executescript(FIRST_LAYOUT)
    digest = Client(paid, ":memory:").notice.digest
    rows = [("old", "0.25", messages[0]), ("older", "0.25", messages[513]), (digest, "1.0", None)]
    made.executemany("insert into charge values (?, ?, ?)", rows)
    made.execute("insert into coin values (?, ?)", (digest, b"c" * 16))
    made.close()
    for _ in range(2):  # the second time there is nothing to take over
        ledger = DiskLedger(path, windows=[SpendingWindow(60, 2.0, 4)], clock=Clock(5.0))
        assert (ledger.cap, ledger.spent) == (2.5, 1.5)
        assert ledger.message("old", 0) == messages[0]
        assert ledger.message("older", 513) == messages[513]
        assert ledger.coin(digest) == b"c" * 16
        assert len(ledger.recent(ledger.windows[0])) == 3
    Client(paid, ledger).answer("cat")
    assert ledger.spent == 1.5, "what was charged before a crash pays for one message"
    with pytest.raises(BudgetError):
        ledger.answer(Spend("old", 0.25), lambda: b"message of old")


def test_a_ledger_of_a_later_layout_is_not_touched(tmp_path):
    DiskLedger(tmp_path / "ledger").close()
    later = sqlite3.connect(tmp_path / "ledger")
    later.execute("update version set number = 2")
    later.commit()
    later.close()
    before = (tmp_path / "ledger").read_bytes()
    with pytest.raises(BudgetError, match="newer version"):
        DiskLedger(tmp_path / "ledger")
    assert (tmp_path / "ledger").read_bytes() == before


def test_a_block_within_another_is_part_of_it():
    file = LedgerFile(":memory:", 0.0)

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
