"""Queries in processes of their own: the same answers, and an end at any moment."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from collector import poisoning
from collector.people import Clock
from collector.running import client, running, until
from collector.sending import send
from collector.test_queries import MESSAGES, shop
from sottovoce.collector import access
from sottovoce.collector.app import create
from sottovoce.collector.collector import Collector
from sottovoce.collector.queries import QueryRequest, answered
from sottovoce.collector.query_worker import START, Place, packed
from sottovoce.collector.query_workers import QueryWorkers
from sottovoce.collector.release import Wanted
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.engine.parquet import DEFAULT_MEMORY
from sottovoce.errors import UnavailableError
from sottovoce.sql.errors import QueryError
from sottovoce.web.problems import RequestError
from sottovoce.web.settings import Settings
from sottovoce.wire import codec

COUNT = QueryRequest("SELECT os, COUNT(*), AVG(age) FROM users GROUP BY os")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The data of a collector with a task that was answered."""
    path = tmp_path_factory.mktemp("queries")
    store = SqliteStore(path / "collector.db")
    collector = Collector(store, path, Clock())
    collector.create(codec.canonical(codec.document(shop())), toml=False)
    assert set(send(collector, "shop", MESSAGES)) == {"accepted"}
    collector.close("shop", at_once=True)
    collector.advance()
    store.close()
    return path


def asking(folder, *requests, seconds=60.0, meanwhile=None):
    """What becomes of some queries, one after another."""

    async def ask():
        workers = QueryWorkers(folder, "", seconds)
        try:
            tasks = []
            for request in requests:
                tasks.append(asyncio.create_task(workers.answer("shop", request)))
                if meanwhile:
                    await meanwhile(tasks[-1])
                await asyncio.wait(tasks[-1:])
            return [task.exception() or task.result() for task in tasks]
        finally:
            workers.stop()

    return asyncio.run(ask())


def children(pid=None):
    """The processes that a process has started and that still run."""
    pid = pid or os.getpid()
    running = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile
        if int(parent) == pid and state != "Z" and b"query_worker" in command:
            running.append(int(folder.name))
    return running


def test_the_answer_is_the_one_that_this_process_would_give(folder):
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, Clock())
    expected = answered(collector, collector.find("shop"), COUNT).to_dict()
    explained = QueryRequest("EXPLAIN SELECT COUNT(*) FROM users", users=1000)
    plan = answered(collector, collector.find("shop"), explained)
    store.close()
    first, second, third = asking(folder, COUNT, COUNT, explained)
    assert first.to_dict() == second.to_dict() == expected
    assert third.to_dict() == plan.to_dict()
    until(lambda: not children())


def test_errors_arrive_as_they_were_raised(folder):
    wrong, unknown = asking(
        folder,
        QueryRequest("SELECT COUNT(*) FROM nowhere"),
        QueryRequest("SELECT AVG(state) FROM users"),
    )
    assert isinstance(wrong, QueryError)
    assert (wrong.rule, wrong.line, wrong.column) == ("unknown-table", 1, 22)
    assert isinstance(unknown, QueryError)


def test_a_query_that_takes_too_long_is_ended_with_its_process(folder):
    (late,) = asking(folder, COUNT, seconds=0.05)
    assert isinstance(late, RequestError)
    assert late.code == "query-timeout"
    until(lambda: not children())


def test_a_query_that_nobody_waits_for_is_ended_and_the_next_is_answered(folder):
    seen = []

    async def cancel_first(task):
        await asyncio.sleep(0.3)
        seen.append(children())
        if len(seen) == 1:
            task.cancel()

    async def ask():
        workers = QueryWorkers(folder, "", 60.0)
        try:
            first = asyncio.create_task(workers.answer("shop", COUNT))
            await cancel_first(first)
            await asyncio.gather(first, return_exceptions=True)
            assert first.cancelled()
            while children():
                await asyncio.sleep(0.02)
            return await workers.answer("shop", COUNT)
        finally:
            workers.stop()

    assert asyncio.run(ask()).minimum == 30
    assert len(seen[0]) == 1


def test_a_process_that_dies_is_an_error_and_the_next_query_is_answered(folder):
    async def kill(task):
        await asyncio.sleep(0.2)
        if task.get_name() == "doomed":
            for pid in children():
                os.kill(pid, 9)

    async def ask():
        workers = QueryWorkers(folder, "", 60.0)
        try:
            doomed = asyncio.create_task(workers.answer("shop", COUNT), name="doomed")
            await kill(doomed)
            with pytest.raises(UnavailableError, match="want of memory"):
                await doomed
            return await workers.answer("shop", COUNT)
        finally:
            workers.stop()

    assert asyncio.run(ask()).minimum == 30


def test_a_process_ends_when_its_server_is_gone(folder):
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", START, str(theirs.fileno())]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
    theirs.close()
    ours.sendall(packed(Place(folder, "", DEFAULT_MEMORY)))
    assert process.poll() is None
    ours.close()
    assert process.wait(timeout=30) == 0


@pytest.fixture
def server(folder):
    store = SqliteStore(folder / "collector.db")
    token = access.issue(store, access.ANALYST, int(time.time()))[0]
    store.close()
    with running(folder, SOTTOVOCE_GRACE_SECONDS="1.5") as made:
        yield made, {"authorization": f"Bearer {token}"}


def begin(server, headers):
    """Ask a query and return the connection that waits for the answer."""
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    content = json.dumps({"task": "shop", "sql": COUNT.sql}).encode()
    lines = ["POST /v1/sql HTTP/1.1", "host: a", f"content-length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    connection = socket.create_connection((host, int(port)))
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
    until(lambda: children(server.process.pid))
    return connection


def test_a_client_that_leaves_takes_its_query_along(server):
    made, headers = server
    begin(made, headers).close()
    until(lambda: not children(made.process.pid))
    with client(made) as people:
        assert people.get("/healthz").status_code == 200
    assert made.stop() == 0
    assert '"status": 499' in made.logged


def test_a_query_does_not_hold_up_the_end_of_the_server(server):
    made, headers = server
    with begin(made, headers):
        (worker,) = children(made.process.pid)
        started = time.monotonic()
        assert made.stop() == 0
        assert time.monotonic() - started < 4.5
    until(lambda: not Path(f"/proc/{worker}").exists())


def test_a_process_that_is_slow_to_start_holds_up_nobody(folder, monkeypatch):
    """On a busy machine it takes seconds until a new process runs; uploads go on meanwhile."""
    plain = subprocess.Popen
    is_started = []

    def slow(*given, **named):
        time.sleep(0.5)
        is_started.append(True)
        return plain(*given, **named)

    async def count_turns(query):
        while not is_started:
            turns.append(query.done())
            await asyncio.sleep(0.001)

    turns = []
    monkeypatch.setattr(subprocess, "Popen", slow)
    (answer,) = asking(folder, COUNT, meanwhile=count_turns)
    assert not isinstance(answer, Exception)
    print(f"the event loop took {len(turns)} turns, and 1 if it had waited")
    assert len(turns) > 5


def test_a_process_gives_way_before_it_loads_anything():
    """The package is replaced by one that says how it is loaded."""
    module = "import os; main = lambda: print(os.nice(0), len(os.sched_getaffinity(0)), LOADED)\n"
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "sottovoce" / "collector"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").write_text("")
        (package / "__init__.py").write_text("")
        loaded = f"{module}LOADED = os.nice(0)\n"
        (package / "query_worker.py").write_text(loaded)
        environment = {**os.environ, "PYTHONPATH": folder}
        command = [sys.executable, "-c", START]
        text = subprocess.check_output(command, env=environment, text=True)
    niceness, cores, while_loading = map(int, text.split())
    assert niceness == while_loading == min(os.nice(0) + 10, 19)
    assert cores == max(len(os.sched_getaffinity(0)) - 1, 1)


async def probed(app, work):
    """What some work returns, and the longest that a health check took meanwhile, from the moment
    when it was due, as a share of the time of the work.
    """
    started = time.perf_counter()
    working = asyncio.ensure_future(work)
    longest, probes = 0.0, 0
    while not working.done():
        due = time.perf_counter() + 0.01
        await asyncio.sleep(0.01)
        assert await health(app) == 200
        longest = max(longest, time.perf_counter() - due)
        probes += 1
    seconds = time.perf_counter() - started
    print(f"{probes} probes in {seconds:.2f} s, the slowest {1000 * longest:.0f} ms")
    return await working, longest / seconds


async def health(app):
    """The status of a health check."""
    statuses = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        statuses.append(message.get("status"))

    scope = {"type": "http", "method": "GET", "path": "/healthz", "headers": [], "root_path": ""}
    await app({**scope, "client": ("127.0.0.1", 1), "query_string": b""}, receive, send)
    return statuses[0]


def test_corrections_are_made_by_a_process_and_kept(tmp_path):
    """The server itself only looks the corrected answer up, and answers health checks meanwhile.

    The twin corrects where it is asked, and its health checks wait for all of it.
    """
    task = poisoning.survey()
    store = SqliteStore(tmp_path / "collector.db")
    app = create(store, Settings(data=tmp_path, health_rate=0, tick=3600.0), clock=Clock())
    api = app.state.api
    collector = api.collector
    collector.create(codec.canonical(codec.document(task)), toml=False)
    send(collector, task.name, poisoning.honest(task) + poisoning.false(task))
    collector.close(task.name, at_once=True)
    collector.advance()
    published = collector.find(task.name)
    assert collector.needs_correction(published, "auto")
    assert not collector.needs_correction(published, "none")
    other = Collector(store, tmp_path, Clock())

    async def on_the_loop():
        await asyncio.sleep(0.02)  # the first probe goes through
        return other.answer(task.name, defence="auto")

    async def correct():
        try:
            _, slowest = await probed(app, api.correct_first(published, Wanted(defence="auto")))
            expected, twin_slowest = await probed(app, on_the_loop())
            return expected, slowest, twin_slowest
        finally:
            api.query_workers.stop()

    expected, slowest, twin_slowest = asyncio.run(correct())
    assert not collector.needs_correction(published, "auto")
    assert collector.answer(task.name, defence="auto").to_dict() == expected.to_dict()
    assert slowest < 0.5
    assert twin_slowest > 0.5, "the check must notice work on the event loop"
    store.close()
