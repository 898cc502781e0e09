"""Strangers at the door: connections that send nothing, bodies that never end, queries that block.

A real collector takes uploads at a steady pace.  ``measure`` compares how long they take when
nobody else is there, and when strangers hold as many connections as they can and two analysts ask
queries that compute all the time.  Latency counts from the moment at which a request was due, so
that a server that stalls is charged for every request that it delays.
"""

import asyncio
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import numpy as np

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from system.servers import Server, Wire, bearer, open_store

SENDERS = 4
PAUSE = 0.02  # seconds between two uploads of one sender
AT_ONCE = 20  # messages accepted by the store together
SLOW_HEADERS = b"POST /v1/tasks/steady/reports HTTP/1.1\r\nhost: a\r\nx-slow: "
SLOW_BODY = b"POST /v1/tasks/steady/reports HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n{"
QUERY = "SELECT age, kind, COUNT(*), SUM(age), STDDEV(age) FROM people GROUP BY age, kind"

COLLECTION = Collection(minimum=50, grace=0)
STEADY = sv.Task("steady", sv.Histogram(range(64)), 1.0, collection=COLLECTION)
TABLE = sv.Task(
    "table",
    sv.Table({"age": range(1, 101), "kind": ["a", "b", "c", "d"]}),
    4.0,
    collection=COLLECTION,
)


@dataclass
class Phase:
    """The latencies of uploads in one phase, in seconds, and how many were not accepted."""

    latencies: list[float] = field(default_factory=list)
    refused: int = 0

    def percentile(self, share: float) -> float:
        return float(np.percentile(self.latencies, share))


@dataclass(frozen=True)
class Size:
    """How much of everything a measurement has."""

    connections: int
    people: int
    seconds: float
    pairs: int = 1
    options: dict[str, float] = field(default_factory=dict)  # of the server


@dataclass
class Comparison:
    """What uploads took, alone and among strangers."""

    size: Size
    alone: list[Phase] = field(default_factory=list)
    among: list[Phase] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)  # the statuses that analysts saw
    opened: int = 0  # connections of strangers, those included that the server has closed
    findings: list[str] = field(default_factory=list)
    load_before: float = field(default_factory=lambda: os.getloadavg()[0])

    def ratio(self) -> float:
        """Return by how much the 99th percentile grows: the median over the pairs of phases."""
        pairs = zip(self.alone, self.among, strict=True)
        return float(np.median([b.percentile(99) / a.percentile(99) for a, b in pairs]))


def measure(
    folder: Path, size: Size, show: Callable[[str], None] = lambda text: None
) -> Comparison:
    """Compare uploads alone and among strangers, in turns."""
    tokens = _prepare(folder, size.people)
    show(f"strangers: {size.people:,} people have answered")
    comparison = Comparison(size)
    server = Server(folder, fresh=True, **size.options)
    try:
        _upload(server, size.seconds / 2)  # warm up
        for _ in range(size.pairs):
            comparison.alone.append(_upload(server, size.seconds))
            with _strangers(server, size, comparison), _analysts(server, tokens, comparison):
                time.sleep(1.0)
                comparison.among.append(_upload(server, size.seconds))
            alone, among = comparison.alone[-1], comparison.among[-1]
            show(
                f"strangers: p99 {1000 * alone.percentile(99):.1f} ms alone,"
                f" {1000 * among.percentile(99):.1f} ms among them"
            )
        started = time.monotonic()
        server.stop()
        comparison.findings += server.errors()
        if time.monotonic() - started > 25:
            comparison.findings.append("the server did not end within its grace period")
    finally:
        server.discard()
    _check(comparison)
    return comparison


def _check(comparison: Comparison) -> None:
    refused = sum(phase.refused for phase in (*comparison.alone, *comparison.among))
    if refused:
        comparison.findings.append(f"{refused} uploads were not accepted")
    unexpected = set(comparison.queries) - {200}
    if unexpected:
        comparison.findings.append(f"queries ended with {sorted(unexpected)}")


def _prepare(folder: Path, people: int) -> list[str]:
    """Publish both tasks, let people answer the table, and return the tokens of two analysts."""
    store = open_store(folder)
    collector = Collector(store, folder, time.time)
    for task in (STEADY, TABLE):
        collector.create(codec.canonical(codec.document(task)), toml=False)
    dice = np.random.default_rng(3)
    values = {"age": dice.integers(1, 101, people), "kind": dice.choice(list("abcd"), people)}
    from collector.sending import send

    messages = crowd.messages(TABLE, values, rng=SeededRng(3))
    for start in range(0, people, 20_000):
        send(collector, "table", messages[start : start + 20_000])
    collector.close("table", at_once=True)
    collector.advance()
    tokens = [access.issue(store, access.ANALYST, int(time.time()))[0] for _ in range(2)]
    store.close()
    return tokens


def _upload(server: Server, seconds: float) -> Phase:
    """Upload at a steady pace."""
    phase, lock = Phase(), threading.Lock()
    count = int(seconds / PAUSE)

    def run(number: int) -> None:
        wire = Wire(server.address)
        messages = crowd.messages(STEADY, np.arange(count) % 64)
        bodies = [json.dumps({"reports": [_text(message)]}).encode() for message in messages]
        begin = time.perf_counter() + 0.1 + number * PAUSE / SENDERS
        for index, body in enumerate(bodies):
            due = begin + index * PAUSE
            time.sleep(max(0.0, due - time.perf_counter()))
            status, _, _ = wire.request(
                "POST", "/v1/tasks/steady/reports", body, content_type="application/json"
            )
            with lock:
                phase.latencies.append(time.perf_counter() - due)
                phase.refused += status != 200
        wire.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return phase


def _text(message: bytes) -> str:
    from base64 import b64encode

    return b64encode(message).decode()


@contextmanager
def _strangers(server: Server, size: Size, comparison: Comparison) -> Iterator[None]:
    """Hold slow connections from another process, so that they cost the senders no time."""
    context = multiprocessing.get_context("spawn")
    stop, opened = context.Event(), context.Value("i", 0)
    host, _, port = server.address.rpartition(":")
    process = context.Process(target=hold, args=(host, int(port), size.connections, stop, opened))
    process.start()
    try:
        while opened.value < size.connections and process.is_alive():
            time.sleep(0.05)
        yield
    finally:
        stop.set()
        process.join()
        comparison.opened += opened.value


def hold(host: str, port: int, connections: int, stop: object, opened: object) -> None:
    """Hold slow connections until told to stop; one that is closed is opened again.

    Strangers are on other machines: their own work must not count.
    """
    os.nice(19)
    asyncio.run(_hold(host, port, connections, stop, opened))


async def _hold(host: str, port: int, connections: int, stop: object, opened: object) -> None:
    async def one(start: bytes) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(host, port)
                opened.value += 1  # type: ignore[attr-defined]
                writer.write(start)
                while not reader.at_eof():
                    writer.write(b"a")
                    with suppress(TimeoutError):
                        async with asyncio.timeout(1.0):
                            await reader.read(1 << 16)
                writer.close()

    starts = cycle((SLOW_HEADERS, SLOW_BODY))
    tasks = [asyncio.create_task(one(next(starts))) for _ in range(connections)]
    while not stop.is_set():  # type: ignore[attr-defined]
        await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()


@contextmanager
def _analysts(server: Server, tokens: list[str], comparison: Comparison) -> Iterator[None]:
    """Let every analyst ask one query after another."""
    stop = threading.Event()

    def ask(token: str) -> None:
        wire = Wire(server.address, timeout=120)
        content = json.dumps({"task": "table", "sql": QUERY}).encode()
        while not stop.is_set():
            status, _, _ = wire.request(
                "POST",
                "/v1/sql",
                content,
                content_type="application/json",
                authorization=bearer(token),
            )
            comparison.queries.append(status)
        wire.close()

    threads = [threading.Thread(target=ask, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
