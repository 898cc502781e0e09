"""The thread that looks after tasks: what fails is counted, told and tried again."""

import logging

import pytest

from collector.people import counting, numbered, text
from collector.running import until
from collector.sending import send
from sottovoce.collector import access
from sottovoce.collector.collector import DAY
from sottovoce.collector.scheduler import Scheduler


@pytest.fixture
def failures():
    return []


@pytest.fixture
def scheduler(collector, failures):
    made = Scheduler(collector, 0.01, failures.append)
    yield made
    made.stop()


def test_what_is_due_happens_by_itself(collector, scheduler, failures):
    task = counting(quota=3)
    collector.create(text(task), toml=False)
    scheduler.start()
    send(collector, "count", numbered(task, 1, 2, 3))
    until(lambda: collector.find("count").state == "finished")
    assert failures == []


def test_what_fails_is_counted_and_tried_again(collector, scheduler, failures, caplog):
    task = counting(quota=3)
    collector.create(text(task), toml=False)
    send(collector, "count", numbered(task, 1, 2, 3))
    (collector.folder / "sealed").write_text("in the way")
    with caplog.at_level(logging.WARNING, "sottovoce"):
        scheduler.start()
        until(lambda: len(failures) > 2)
    assert set(failures) == {"UnavailableError"}
    assert {record.getMessage() for record in caplog.records} == {"scheduler"}
    (collector.folder / "sealed").unlink()
    until(lambda: collector.find("count").state == "finished")


def test_expired_tokens_and_old_counts_go_within_the_hour(collector, scheduler, clock):
    store, task = collector.store, counting()
    collector.create(text(task), toml=False)
    send(collector, "count", numbered(task, 1))
    digest = collector.find("count").digest
    access.issue(store, "analyst", clock.now, batch=access.TokenBatch(seconds=10))
    access.issue(store, "analyst", clock.now)
    assert store.arrivals(digest, 0)
    clock.pass_(8 * DAY)
    scheduler.start()
    until(lambda: len(store.tokens()) == 1)
    assert store.arrivals(digest, 0) == []


def test_half_written_files_are_removed_at_the_start(collector, scheduler, failures):
    collector.create(text(counting()), toml=False)
    folder = collector.folder / "sealed" / collector.find("count").digest
    half = folder / ".answer.00c0ffee.new.json"
    half.parent.mkdir(parents=True)
    half.write_text("half")
    scheduler.start()
    until(lambda: not half.exists())
    assert failures == []


def test_a_half_written_file_that_cannot_be_removed_holds_up_nothing(
    collector, scheduler, failures
):
    task = counting(quota=3)
    collector.create(text(task), toml=False)
    other = counting("other")
    collector.create(text(other), toml=False)
    folder = collector.folder / "sealed" / collector.find("other").digest
    half = folder / ".answer.00c0ffee.new.json"
    half.mkdir(parents=True)
    scheduler.start()
    send(collector, "count", numbered(task, 1, 2, 3))
    until(lambda: collector.find("count").state == "finished")
    assert failures == ["UnavailableError"]
