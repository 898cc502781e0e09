"""The work of a task in a process of its own: what kills that process is an error here."""

import asyncio
import json
import re
import shutil
import time

import pytest

from collector import deaths
from collector.people import Clock, counting, numbered, text
from collector.probing import probed
from collector.sending import held, send
from sottovoce.collector import worker
from sottovoce.collector.app import create
from sottovoce.collector.collector import Collector
from sottovoce.collector.resources import Resources
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.collector.worker import Workers
from sottovoce.errors import UnavailableError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.web.settings import Settings

TICK = 0.5
REPORTS = 150_000


def nothing():
    """What a server does meanwhile, if it has nothing else to do."""


class Stopwatch:
    """A monotonic clock that a test moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def full(collector):
    """A collector whose round is full, and has to be sealed."""
    task = counting(quota=3)
    collector.create(text(task), toml=False)
    send(collector, "count", numbered(task, 1, 2, 2))
    collector.close("count", at_once=True)
    return collector


@pytest.fixture
def stopwatch():
    return Stopwatch()


@pytest.fixture
def workers(tmp_path, stopwatch):
    return Workers(tmp_path, "", TICK, stopwatch)


def served(full, workers, clock):
    """The collector of a server over the same folder."""
    return Collector(full.store, full.folder, clock, Resources(work_apart=workers))


def test_another_process_seals_the_round_and_asks_the_plan(full, workers, clock):
    collector = served(full, workers, clock)
    assert collector.advance()
    assert collector.find("count").record.finished == clock.now, "the time is the server's"
    assert held(collector, "count") == {1: 1, 2: 2}
    assert not collector.advance()


def test_a_task_that_another_process_works_at_is_left_alone(full, workers, clock):
    digest = full.find("count").digest
    with full.store.lease(digest) as mine:
        assert mine
        assert not workers(digest, clock.now, nothing)
    assert workers(digest, clock.now, nothing)


def test_no_process_is_started_for_a_task_that_another_node_works_at(full, clock):
    started = []

    def start(digest, now, meanwhile):
        started.append(digest)
        return True

    collector = served(full, start, clock)
    digest = collector.find("count").digest
    with full.store.lease(digest):
        assert not collector.advance()
    assert started == []
    assert collector.advance()
    assert started == [digest]


@pytest.mark.parametrize(
    ("death", "words"),
    [
        (deaths.die_by_signal, "killed by SIGSEGV, probably because there is not enough memory"),
        (deaths.die_with_code, "ended with code 127, probably because there is not enough memory"),
        (deaths.run_out_of_memory, "there is not enough memory"),
        (deaths.break_down, "an unexpected error .KeyError.; the log of the collector shows where"),
        (deaths.fail, "ended with code 1: the log of the collector shows why"),
    ],
)
def test_a_death_is_noted_with_the_task_until_the_work_is_done(
    full, workers, stopwatch, clock, monkeypatch, death, words
):
    collector = served(full, workers, clock)
    with monkeypatch.context() as patched:
        patched.setattr(worker, "run", death)
        with pytest.raises(UnavailableError, match=words):
            collector.advance()
    (published,) = Collector(full.store, full.folder, clock).tasks()
    assert re.search(words, published.record.trouble)
    assert "person" not in published.record.trouble
    assert published.record.finished is None
    stopwatch.now += TICK
    assert collector.advance()
    assert collector.find("count").record.trouble == ""
    assert held(collector, "count") == {1: 1, 2: 2}


@pytest.mark.parametrize(
    ("death", "event", "error"),
    [
        (deaths.run_out_of_memory, "worker: there is not enough memory", "MemoryError"),
        (deaths.find_no_memory_in_the_system, "worker: there is not enough memory", "OSError"),
        (deaths.miss_a_library, "worker", "ImportError"),
        (deaths.break_down, "worker", "KeyError"),
    ],
)
def test_the_log_of_a_worker_says_what_failed_and_where(
    full, workers, monkeypatch, capfd, death, event, error
):
    monkeypatch.setattr(worker, "run", death)
    with pytest.raises(UnavailableError):
        workers(full.find("count").digest, 0, nothing)
    (line,) = map(json.loads, capfd.readouterr().err.splitlines())
    assert line["level"] == "ERROR"
    assert line["event"].startswith(event)
    assert line["error"] == error
    assert line["where"][-1].startswith("deaths.py:")


def test_attempts_wait_twice_as_long_each_time_up_to_half_a_minute(
    full, workers, stopwatch, monkeypatch
):
    digest, waits = full.find("count").digest, []
    monkeypatch.setattr(worker, "run", deaths.die_with_code)
    for _ in range(8):
        with pytest.raises(UnavailableError):
            workers(digest, 0, nothing)
        failed = stopwatch.now
        while stopwatch.now < failed + waits_at_most(len(waits)):
            assert not workers(digest, 0, nothing), "it is too early"
            stopwatch.now += TICK / 2
        waits.append(stopwatch.now - failed)
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def waits_at_most(failures):
    return min(TICK * 2**failures, 30.0)


def test_an_error_of_the_work_is_the_error_here(full, workers, clock):
    (full.folder / "sealed").write_text("a file where a folder should be")
    with pytest.raises(UnavailableError, match="cannot be written now"):
        served(full, workers, clock).advance()


def test_rounds_of_other_tasks_close_while_one_cannot_be_worked_at(
    full, workers, clock, monkeypatch
):
    other = counting("other", quota=2, grace=60)
    full.create(text(other), toml=False)
    send(full, "other", numbered(other, 1, 2))
    monkeypatch.setattr(worker, "run", deaths.die_with_code)
    collector = served(full, workers, clock)
    with pytest.raises(UnavailableError):
        collector.advance()
    assert collector.find("other").state == "closing"


def test_rounds_of_other_tasks_close_while_a_process_works(full, clock):
    """A worker takes long; another task is full in the meantime, and a third is new."""
    other = counting("other", quota=2, grace=60)
    full.create(text(other), toml=False)
    seen = []

    def work(digest, now, meanwhile):
        send(full, "other", numbered(other, 1, 2))
        full.create(text(counting("third")), toml=False)
        meanwhile()
        seen.append([(task.record.name, task.state) for task in collector.tasks()])
        return False

    collector = served(full, work, clock)
    collector.advance()
    assert seen == [[("count", "sealed"), ("other", "closing"), ("third", "open")]]


def test_the_server_looks_after_other_tasks_at_every_tick(full, tmp_path, clock):
    looks = []
    workers = Workers(tmp_path, "", 0.001)
    assert workers(full.find("count").digest, clock.now, lambda: looks.append(1))
    assert len(looks) > 5, "a new interpreter takes longer than some ticks"


@pytest.fixture
def large(tmp_path):
    """The folder of a collector with a large round, which has to be sealed."""
    folder = tmp_path / "large"
    folder.mkdir()
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, Clock())
    task = counting()
    collector.create(text(task), toml=False)
    send(collector, "count", crowd.messages(task, [3] * REPORTS, rng=SeededRng(1)))
    collector.close("count", at_once=True)
    store.close()
    return folder


def probed_while_sealing(app, advance):
    """The longest health check while a round is sealed, as a share of that time, and the seconds
    of processor time of the thread that moves the task on.
    """
    collector = app.state.api.collector

    def timed():
        before = time.thread_time()
        assert collector.advance()
        return time.thread_time() - before

    async def seal():
        await asyncio.sleep(0.02)  # the first probe goes through
        return await advance(timed)

    seconds, slowest = asyncio.run(probed(app, seal()))
    print(f"the thread was busy for {seconds:.2f} s")
    assert collector.find("count").last.users == REPORTS
    return slowest, seconds


async def in_a_thread(work):
    """As the scheduler of a server does it."""
    return await asyncio.to_thread(work)


async def on_the_loop(work):
    return work()


def test_health_checks_are_answered_while_a_round_is_sealed(large, tmp_path):
    """Another process seals.  The first twin seals in a thread of the server, which has all the
    work, and the second one on the event loop, where health checks wait for all of it.
    """
    found = {}
    for name, advance in (("apart", in_a_thread), ("thread", in_a_thread), ("loop", on_the_loop)):
        folder = tmp_path / name
        shutil.copytree(large, folder)
        store = SqliteStore(folder / "collector.db")
        settings = Settings(data=folder, health_rate=0, tick=3600.0)
        apart = Workers(folder, "", TICK) if name == "apart" else None
        app = create(store, settings, clock=Clock(), resources=Resources(work_apart=apart))
        found[name] = probed_while_sealing(app, advance)
        store.close()
    assert found["apart"][0] < 0.5
    assert found["loop"][0] > 0.5, "the check must notice work on the event loop"
    assert found["apart"][1] < 0.5 * found["thread"][1], "the work is not done by the server"
