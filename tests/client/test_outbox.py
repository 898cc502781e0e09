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
    ledger.answer(Spend("another", 0.1), lambda: b"m", Posting("task", "https://elsewhere"))
    assert not ledger.charged("one more")
    first = ledger.queue()[0]
    assert (first.task, first.round, first.url, first.state) == (
        "0",
        0,
        "https://collector",
        "waiting",
    )
    assert (first.due, first.attempts, first.message) == (1005.0, 0, b"m")
    ledger.outbox.settle(first, "sent", clock())
    ledger.answer(Spend("one more", 0.1), lambda: b"m", posting)
    assert len(ledger.outbox.waiting("https://collector")) == MAX_WAITING


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
    ledger.outbox.settle(report, "sent", 0.0)
    ledger.outbox.settle(report, "refused", 0.0, "too-late")
    ledger.outbox.postpone(report, 0.0, 60.0, "busy")
    (settled,) = ledger.queue()
    assert (settled.state, settled.reason, settled.attempts) == ("sent", "", 1)
    assert ledger.outbox.waiting("here") == []


def test_all_that_waits_for_an_address_is_listed_in_the_order_in_which_it_is_due():
    ledger = DiskLedger(":memory:", clock=Clock())
    for task, url, delay in (("late", "here", 9.0), ("soon", "here", 1.0), ("other", "there", 0.0)):
        ledger.answer(Spend(task, 0.1), lambda: b"m", Posting(task, url, delay=delay))
    assert [report.task for report in ledger.outbox.waiting("here")] == ["soon", "late"]
    assert [report.task for report in ledger.outbox.due("here", 1001.0)] == ["soon"]


def test_a_report_that_did_not_get_through_says_why_and_when_it_is_tried_again():
    ledger = DiskLedger(":memory:", clock=Clock())
    ledger.answer(Spend("a", 0.1), lambda: b"m", Posting("task", "here"))
    (report,) = ledger.outbox.waiting("here")
    ledger.outbox.postpone(report, 1000.0, 60.0, "busy")
    (waiting,) = ledger.outbox.waiting("here")
    assert (waiting.reason, waiting.due, waiting.attempts) == ("busy", 1060.0, 1)


def test_the_bytes_of_a_message_that_arrived_are_erased_and_its_row_stays():
    clock = Clock()
    ledger = DiskLedger(":memory:", clock=clock)
    for task in ("sent", "late", "waiting"):
        ledger.answer(Spend(task, 0.1), lambda: b"m", Posting(task, "here"))
    sent, late, _ = ledger.queue()
    ledger.outbox.settle(sent, "sent", 1000.0)
    ledger.outbox.settle(late, "sent", 2000.0)
    ledger.outbox.erase_sent(1000.0)
    assert [report.message for report in ledger.queue()] == [None, b"m", b"m"]
    assert ledger.answered("sent")
    with pytest.raises(BudgetError, match="already answered"):
        ledger.answer(Spend("sent", 0.1), lambda: b"m")


def test_sealed_messages_are_found_by_the_collector_whose_tasks_they_answer():
    ledger = DiskLedger(":memory:", clock=Clock())
    for task, origin, url, fingerprint in (
        ("a", "collector", "hop b", b"f"),
        ("b", "collector", "hop a", b"f"),
        ("c", "collector", "hop a", b"f"),
        ("d", "collector", "collector", b""),
        ("e", "another collector", "hop c", b"f"),
    ):
        posting = Posting(task, url, origin=origin, fingerprint=fingerprint)
        ledger.answer(Spend(task, 0.1), lambda: b"m", posting)
    outbox = ledger.outbox
    assert outbox.sealed("collector") == ["hop a", "hop b"]
    assert [report.fingerprint for report in outbox.reports()] == [b"f", b"f", b"f", b"", b"f"]
    (sent,) = outbox.waiting("hop b")
    outbox.settle(sent, "sent", 0.0)
    assert outbox.sealed("collector") == ["hop a"]
