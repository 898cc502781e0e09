"""Answers that read many reports: computed in a process, once, while the server goes on."""

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sottovoce as sv
from collector.people import Clock
from collector.probing import probed
from collector.running import client, running, until
from collector.sending import send
from collector.test_queries import MESSAGES, shop
from collector.test_query_workers import children
from sottovoce.collector import access
from sottovoce.collector.answering import Answering
from sottovoce.collector.app import create
from sottovoce.collector.collector import Collector
from sottovoce.collector.query_workers import QueryWorkers
from sottovoce.collector.release import AnswerOptions, released, released_views
from sottovoce.collector.resources import Resources
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.domains.integers import Integers
from sottovoce.engine.parquet import DEFAULT_MEMORY
from sottovoce.errors import UnavailableError
from sottovoce.lab.crowd import messages
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.web.problems import RequestError
from sottovoce.web.settings import MIN_MEMORY, Settings
from sottovoce.wire import codec

PEOPLE, SIZE = 16_000, 1 << 14
LITTLE = 1 << 20  # bytes of memory, of which a server uses 4 KiB for the reports of an answer


def survey():
    """A task whose answer takes a while: every report is decoded at 16,384 values."""
    collection = Collection(minimum=2, grace=0)
    return sv.Task("roads", sv.Histogram(Integers(0, SIZE - 1), "olh"), 2.0, collection=collection)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The data of a collector with two tasks that were answered."""
    path = tmp_path_factory.mktemp("answers")
    store = SqliteStore(path / "collector.db")
    collector = Collector(store, path, Clock())
    values = np.random.default_rng(3).geometric(0.01, PEOPLE) % SIZE
    said = {survey(): messages(survey(), values.tolist(), rng=SeededRng(3)), shop(): MESSAGES}
    for task, sent in said.items():
        collector.create(codec.canonical(codec.document(task)), toml=False)
        assert set(send(collector, task.name, sent)) == {"accepted"}
        collector.close(task.name, at_once=True)
    collector.advance()
    store.close()
    return path


@pytest.fixture
def collector(folder):
    """A collector over these data that has little memory."""
    store = SqliteStore(folder / "collector.db")
    yield Collector(store, folder, Clock(), Resources(LITTLE))
    store.close()


def test_health_checks_are_answered_while_a_process_computes(folder):
    """The twin computes where it is asked, and its health checks wait for all of it."""
    store = SqliteStore(folder / "collector.db")
    settings = Settings(data=folder, health_rate=0, tick=3600.0, memory=MIN_MEMORY)
    app = create(store, settings, clock=Clock())
    api, other = app.state.api, Collector(store, folder, Clock())
    published = api.collector.find("roads")
    assert api.collector.needs_process(published, "none")

    async def on_the_loop():
        await asyncio.sleep(0.02)  # the first probe goes through
        return other.answer("roads")

    async def compute():
        try:
            outcome, slowest = await probed(app, api.answering.outcome(published, "none"))
            expected, twin_slowest = await probed(app, on_the_loop())
            return outcome, expected, slowest, twin_slowest
        finally:
            api.query_workers.stop()

    outcome, expected, slowest, twin_slowest = asyncio.run(compute())
    assert outcome.to_dict() == expected.to_dict()
    assert not api.collector.needs_process(published, "none"), "the answer must be kept"
    assert api.collector.answer("roads") is outcome
    assert slowest < 0.5
    assert twin_slowest > 0.5, "the check must notice work on the event loop"
    store.close()


def asked(collector, folder, *tasks, seconds=60.0):
    """What several people are told who ask for answers at once, and how many processes it took."""

    async def ask():
        workers = QueryWorkers(folder, "", 60.0)
        answering = Answering(collector, workers, seconds)
        try:
            asking = [answering.outcome(collector.find(task), "none") for task in tasks]
            said = await asyncio.gather(*asking, return_exceptions=True)
            return said, len(children())
        finally:
            answering.stop()
            workers.stop()

    return asyncio.run(ask())


def test_few_reports_are_read_where_they_are_asked_for(folder):
    store = SqliteStore(folder / "collector.db")
    said, processes = asked(Collector(store, folder, Clock()), folder, "roads")
    assert said[0].users == PEOPLE
    assert processes == 0
    store.close()


def test_an_answer_is_computed_once_and_shown_as_the_answer_itself(collector, folder):
    """Reports stay in the process: what comes back is what is kept when they are erased."""
    store = SqliteStore(folder / "collector.db")
    here = Collector(store, folder, Clock())
    published = here.find("shop")
    said, processes = asked(collector, folder, "roads", "roads", "roads", "shop")
    assert said[0] is said[1] is said[2]
    assert processes == 1, "one answer is computed after another"
    outcome = said[3]
    for wanted in (AnswerOptions(), AnswerOptions("base-pos", 0.9, fakes=0.01)):
        expected = released(here, published, wanted)
        shown = released(collector, published, wanted, outcome)
        assert shown.content == expected.content
        assert shown.to_csv() == expected.to_csv()
    assert not hasattr(outcome, "collected")
    views = released_views(published, here.answer("shop"), ())
    assert released_views(published, outcome, ()) == views
    store.close()


def test_whoever_waits_too_long_is_told_so_and_the_answer_is_computed_on(collector, folder):
    async def ask():
        workers = QueryWorkers(folder, "", 60.0)
        answering = Answering(collector, workers, 0.05)
        published = collector.find("roads")
        try:
            with pytest.raises(RequestError, match="ask again") as refused:
                await answering.outcome(published, "none")
            assert (refused.value.code, refused.value.retry_after) == ("query-timeout", 10.0)
            assert collector.needs_process(published, "none")
            while collector.needs_process(published, "none"):
                await asyncio.sleep(0.02)
            return await answering.outcome(published, "none")
        finally:
            answering.stop()
            workers.stop()

    assert asyncio.run(ask()).users == PEOPLE


def test_an_answer_is_given_up_when_the_server_stops(collector, folder):
    async def ask():
        workers = QueryWorkers(folder, "", 60.0)
        answering = Answering(collector, workers, 60.0)
        names = ("roads", "shop")
        asking = [
            asyncio.create_task(answering.outcome(collector.find(name), "none")) for name in names
        ]
        while not children():
            await asyncio.sleep(0.01)
        answering.stop()
        workers.stop()
        await asyncio.wait(asking)
        return [task.cancelled() for task in asking]

    assert asyncio.run(ask()) == [True, True]
    until(lambda: not children())


def test_a_process_that_dies_is_an_error_and_the_server_lives(folder):
    """The same over HTTP, for the answer as a file and on its page; asked again, it is there."""
    store = SqliteStore(folder / "collector.db")
    token = access.issue(store, access.ANALYST, int(time.time()))[0]
    store.close()
    headers = {"authorization": f"Bearer {token}"}
    with running(folder, SOTTOVOCE_MEMORY=str(MIN_MEMORY)) as server, client(server) as people:
        with ThreadPoolExecutor(1) as waiting:
            asking = waiting.submit(people.get, "/v1/tasks/roads/answer", headers=headers)
            until(lambda: children(server.process.pid))
            for pid in children(server.process.pid):
                os.kill(pid, 9)
            refused = asking.result()
        assert refused.status_code == 503
        assert "ended, probably for want of memory" in refused.json()["detail"]
        assert people.get("/healthz").status_code == 200
        assert server.process.poll() is None
        answer = people.get("/v1/tasks/roads/answer", headers=headers)
        assert answer.status_code == 200
        assert answer.json()["users"] == PEOPLE
        form = {"data": {"token": token}, "headers": {"origin": server.url}}
        assert people.post("/login", **form).status_code == 303
        assert "16,000" in people.get("/tasks/roads").text
        assert server.stop() == 0
        assert "no answer" in server.logged


def test_a_want_of_memory_in_the_process_is_said(collector, folder, monkeypatch):
    """A process that cannot even be started says the same kind of thing."""

    def refuse(*given, **named):
        raise OSError(12, "no memory")

    monkeypatch.setattr("subprocess.Popen", refuse)
    ((error,), _) = asked(collector, folder, "roads")
    assert isinstance(error, UnavailableError)
    assert DEFAULT_MEMORY > LITTLE
    assert collector.needs_process(collector.find("roads"), "none")
