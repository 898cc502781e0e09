"""Queries in processes of their own: the same answers, and an end at any moment."""

import asyncio
import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from collector import poisoning
from collector.people import Clock
from collector.probing import probed
from collector.running import client, running, until
from collector.sending import send
from collector.test_queries import MESSAGES, shop
from sottovoce.collector import access
from sottovoce.collector.app import create
from sottovoce.collector.collector import Collector
from sottovoce.collector.queries import QueryRequest, Released, answered
from sottovoce.collector.query_worker import START, Place, QueryOrder, packed
from sottovoce.collector.query_workers import QueryWorkers
from sottovoce.collector.resources import LOCAL, Resources
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import UnavailableError
from sottovoce.plans.tables import database
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


@pytest.fixture
def collector(folder):
    store = SqliteStore(folder / "collector.db")
    yield Collector(store, folder, Clock())
    store.close()


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


QUERIES = (
    COUNT.sql,
    "EXPLAIN SELECT COUNT(*) FROM users WHERE age BETWEEN 2 AND 4 OR state IN ('NY', 'CA')",
    "SELECT MEDIAN(age), SUM(age * age) FROM users WHERE NOT (age = 3 AND os = 'iOS')",
    "SELECT state, COUNT(*) AS n FROM users GROUP BY state HAVING n > 5 ORDER BY n DESC LIMIT 2",
    "SELECT AVG(amount) FROM users JOIN txn ON users.uid = txn.uid WHERE age >= 2",
    "SHOW TABLES",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_that_the_server_has_read_is_not_read_again(collector, sql):
    """What is sent over the socket answers, whatever the text says."""
    expected = QueryOrder("shop", QueryRequest(sql)).carried_out(collector)
    read = QueryRequest(sql, 0.9).query(collector.find("shop").task.plan)
    order = pickle.loads(pickle.dumps(QueryOrder("shop", QueryRequest("nonsense"), read)))
    answer = order.carried_out(collector)
    assert type(answer) is type(expected)
    if isinstance(answer, Released):
        expected = replace(expected, result=expected.result.at(0.9))
    assert answer.to_dict() == expected.to_dict()


def test_a_text_is_planned_once_for_every_level(collector, monkeypatch):
    plain, planned = database.plan_query, []

    def planning(query, source):
        planned.append((query.options.confidence, source.counts_rows))
        return plain(query, source)

    monkeypatch.setattr(database, "plan_query", planning)
    asked = [QueryRequest(COUNT.sql, level) for level in (None, 0.9, None, 0.9)]
    said = [answered(collector, collector.find("shop"), request).to_dict() for request in asked]
    assert said[:2] == said[2:]
    assert said[0] != said[1]
    assert planned == [(0.95, False), (0.9, False)]


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
    ours.sendall(packed(Place(folder, "", LOCAL)))
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


async def asked_until_gone(app, token, leaves):
    """The status of a query whose client leaves when an event happens."""
    content = json.dumps({"task": "shop", "sql": COUNT.sql}).encode()
    statuses = []
    pieces = [{"type": "http.request", "body": content, "more_body": False}]

    async def receive():
        if not pieces:
            await leaves.wait()
            return {"type": "http.disconnect"}
        return pieces.pop()

    async def send(message):
        statuses.append(message.get("status"))

    length = str(len(content)).encode()
    await app(
        {
            "type": "http",
            "method": "POST",
            "path": "/v1/sql",
            "query_string": b"",
            "headers": [
                (b"authorization", f"Bearer {token}".encode()),
                (b"content-length", length),
            ],
            "root_path": "",
            "client": ("127.0.0.1", 1),
        },
        receive,
        send,
    )
    return statuses[0]


def test_workers_at_one_door_run_one_query_of_a_token(folder):
    """The same token asks two workers; the second one waits for the first."""
    store = SqliteStore(folder / "collector.db")
    token = access.issue(store, access.ANALYST, Clock().now)[0]
    settings = Settings(data=folder, rate=0, health_rate=0, tick=3600.0, workers=2)
    workers = [
        create(store, settings, clock=Clock(), resources=Resources.of(settings, worker=number))
        for number in (0, 1)
    ]

    async def ask_both():
        leaves = asyncio.Event()
        asked = [asyncio.create_task(asked_until_gone(each, token, leaves)) for each in workers]
        while not children():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        running_queries = len(children())
        leaves.set()
        return running_queries, await asyncio.gather(*asked)

    running_queries, statuses = asyncio.run(ask_both())
    store.close()
    assert running_queries == 1
    assert statuses[1] == 499
    until(lambda: not children())


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
    assert collector.needs_process(published, "auto")
    assert not collector.needs_process(published, "none")
    other = Collector(store, tmp_path, Clock())

    async def on_the_loop():
        await asyncio.sleep(0.02)  # the first probe goes through
        return other.answer(task.name, defence="auto")

    async def correct():
        try:
            _, slowest = await probed(app, api.answering.outcome(published, "auto"))
            expected, twin_slowest = await probed(app, on_the_loop())
            return expected, slowest, twin_slowest
        finally:
            api.query_workers.stop()

    expected, slowest, twin_slowest = asyncio.run(correct())
    assert not collector.needs_process(published, "auto")
    assert collector.answer(task.name, defence="auto").to_dict() == expected.to_dict()
    assert slowest < 0.5
    assert twin_slowest > 0.5, "the check must notice work on the event loop"
    store.close()
