"""The outbox: what waits, what is due, and how much may wait."""

import pytest

from client.clock import Clock
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import MAX_WAITING, Posting
from sottovoce.errors import BudgetError
from sottovoce.tasks.budget import Spend


def test_the_queue_shows_every_report_and_is_bounded():
    clock = Clock()
    ledger = DiskLedger(":memory:", cap=1000.0, clock=clock)
    posting = Posting("task", "https://collector", delay=5.0)
    for number in range(MAX_WAITING):
        ledger.answer(Spend(f"{number}", 0.1), lambda: b"m", posting)
    with pytest.raises(BudgetError, match="wait for the network"):
        ledger.answer(Spend("one more", 0.1), lambda: b"m", posting)
    assert not ledger.charged("one more")
    first = ledger.queue()[0]
    assert (first.task, first.round, first.url, first.state) == (
        "0",
        0,
        "https://collector",
        "waiting",
    )
    assert (first.due, first.attempts, first.message) == (1005.0, 0, b"m")
    ledger.outbox.settle(first, "sent")
    ledger.answer(Spend("one more", 0.1), lambda: b"m", posting)
    assert [report.state for report in ledger.queue()].count("waiting") == MAX_WAITING


def test_a_message_is_due_at_its_time_or_if_the_clock_was_set_back():
    clock = Clock()
    ledger = DiskLedger(":memory:", clock=clock)
    ledger.answer(Spend("a", 0.1), lambda: b"m", Posting("task", "here", delay=5.0))
    due = [
        bool(ledger.outbox.due("here", time)) for time in (999.0, 1000.0, 1004.9, 1005.0, 2000.0)
    ]
    assert due == [True, False, False, True, True]
    assert not ledger.outbox.due("elsewhere", 2000.0)


def test_what_arrived_stays_so_whatever_another_process_says_later():
    ledger = DiskLedger(":memory:", clock=Clock())
    ledger.answer(Spend("a", 0.1), lambda: b"m", Posting("task", "here"))
    (report,) = ledger.outbox.waiting("here")
    ledger.outbox.settle(report, "sent")
    ledger.outbox.settle(report, "refused", "too-late")
    ledger.outbox.postpone(report, 0.0, 60.0)
    (settled,) = ledger.queue()
    assert (settled.state, settled.code, settled.attempts) == ("sent", "", 1)
    assert ledger.outbox.waiting("here") == []


def test_all_that_waits_for_an_address_is_listed_in_the_order_in_which_it_is_due():
    ledger = DiskLedger(":memory:", clock=Clock())
    for task, url, delay in (("late", "here", 9.0), ("soon", "here", 1.0), ("other", "there", 0.0)):
        ledger.answer(Spend(task, 0.1), lambda: b"m", Posting(task, url, delay=delay))
    assert [report.task for report in ledger.outbox.waiting("here")] == ["soon", "late"]
    assert [report.task for report in ledger.outbox.due("here", 1001.0)] == ["soon"]
