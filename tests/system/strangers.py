"""Strangers at the door: connections that send nothing, bodies that never end, queries that block.

A real collector takes uploads at a steady pace.  ``measure`` compares how long they take when
nobody else is there, and when strangers hold as many connections as they can and two analysts ask
queries that compute all the time.  Latency counts from the moment at which a request was due, so
that a server that stalls is charged for every request that it delays.

Both circumstances take turns, in many short phases on one server, so that what else the machine
does hits both alike.  An upload waits for the disk to have it, so a probe beside the server writes
and syncs a page of its own again and again on the same file system: its times say what the disk did
in the same phases.

A machine whose cores are busy may be slow for everybody, its disk included.  So a third kind of
phase is a control: no strangers, and in place of queries as many processes that only count, as
low in priority and on the same cores.  What uploads take there is the machine's doing, not the
collector's.
"""

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from collector.sending import send
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec
from system.servers import Server, Wire, bearer, open_store

SENDERS = 4
PAUSE = 0.02  # seconds between two uploads of one sender
PROBE_PAUSE = 0.05  # seconds between two writes of the probe
SETTLING = 1.0  # seconds before a phase counts, so that nothing of the one before is left
BOOTSTRAPS = 1_000
SLOW_HEADERS = b"POST /v1/tasks/steady/reports HTTP/1.1\r\nhost: a\r\nx-slow: "
SLOW_BODY = b"POST /v1/tasks/steady/reports HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n{"
_COUNTING = """
import os
os.nice(10)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[1:] or [0])
while True:
    pass
"""
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
    """What uploads took in one phase, what syncs of the probe took (seconds), and refusals."""

    latencies: list[float] = field(default_factory=list)
    syncs: list[float] = field(default_factory=list)
    refused: int = 0


@dataclass(frozen=True)
class Size:
    """How much of everything a measurement has."""

    connections: int
    people: int
    seconds: float
    pairs: int = 1
    query: str = QUERY
    options: dict[str, float] = field(default_factory=dict)  # of the server


@dataclass(frozen=True)
class Ratio:
    """A percentile of all phases alone and of all among strangers, and a 95 % interval of their
    ratio.
    """

    alone: float
    among: float
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.among / self.alone


def ratio(
    alone: Sequence[Sequence[float]], among: Sequence[Sequence[float]], percentile: float = 99
) -> Ratio:
    """Compare a percentile of phases that took turns.

    The interval is a bootstrap over pairs of neighbouring phases: times within a phase depend on
    each other, and so may those of a pair.
    """
    rng = np.random.default_rng(7)
    everything = np.arange(len(alone))
    samples = rng.integers(len(alone), size=(BOOTSTRAPS, len(alone)))

    def pooled(phases: Sequence[Sequence[float]], indices: Iterable[int]) -> float:
        together = np.concatenate([phases[index] for index in indices])
        return float(np.percentile(together, percentile))

    ratios = [pooled(among, pairs) / pooled(alone, pairs) for pairs in samples]
    low, high = np.percentile(ratios, [2.5, 97.5])
    return Ratio(pooled(alone, everything), pooled(among, everything), float(low), float(high))


@dataclass(frozen=True)
class Judgement:
    """The growth that counts, over what, and why over that."""

    growth: Ratio
    over: str
    reason: str


@dataclass
class Comparison:
    """What uploads took, alone and among strangers."""

    size: Size
    alone: list[Phase] = field(default_factory=list)
    among: list[Phase] = field(default_factory=list)
    control: list[Phase] = field(default_factory=list)  # the machine busy with other things
    answered: int = 0  # queries
    opened: int = 0  # connections of strangers, those included that the server has closed
    findings: list[str] = field(default_factory=list)
    load_before: float = field(default_factory=lambda: os.getloadavg()[0])

    def uploads(self, percentile: float = 99) -> Ratio:
        """Return by how much a percentile of the latencies of uploads grows."""
        return ratio(_latencies(self.alone), _latencies(self.among), percentile)

    def uploads_when_busy(self) -> Ratio:
        """Return by how much the 99th percentile of uploads grows beside processes that count."""
        return ratio(_latencies(self.alone), _latencies(self.control))

    def uploads_beyond_busy(self) -> Ratio:
        """Return how the 99th percentile among strangers compares with that of the control."""
        return ratio(_latencies(self.control), _latencies(self.among))

    def judged(self, most: float) -> Judgement:
        """Return the growth that is compared with the ``most`` that is allowed.

        It is the growth over uploads alone.  It is the growth over the control only if the former
        is too much, and this run shows that the machine itself is slower when it is busy: in the
        control, where no stranger is, the probe's own syncs and the uploads are both slower, with
        the whole intervals.
        """
        growth = self.uploads()
        if growth.value <= most:
            return Judgement(growth, "uploads alone", "that is enough")
        if min(self.syncs_when_busy().low, self.uploads_when_busy().low) > 1:
            reason = "in the control, without strangers, syncs of the probe and uploads are slower"
            return Judgement(self.uploads_beyond_busy(), "the control", reason)
        return Judgement(growth, "uploads alone", "the control is not clearly slower")

    def syncs(self) -> Ratio:
        """Return by how much the 99th percentile of the probe's syncs grows."""
        return ratio([phase.syncs for phase in self.alone], [phase.syncs for phase in self.among])

    def syncs_when_busy(self) -> Ratio:
        """Return the same of syncs beside processes that count."""
        return ratio([phase.syncs for phase in self.alone], [phase.syncs for phase in self.control])


def _latencies(phases: Sequence[Phase]) -> list[list[float]]:
    return [phase.latencies for phase in phases]


def measure(
    folder: Path, size: Size, show: Callable[[str], None] = lambda text: None
) -> Comparison:
    """Compare uploads alone and among strangers, in turns."""
    tokens = _prepare(folder, size.people)
    show(f"strangers: {size.people:,} people have answered")
    comparison = Comparison(size)
    server = Server(folder, fresh=True, **size.options)
    try:
        with _strangers(server, size.connections) as strangers:
            _upload(server, folder, 2.0)  # warm up
            for number in range(1, size.pairs + 1):
                _run_pair(server, folder, strangers, tokens, comparison)
                show(f"strangers: {number} of {size.pairs} pairs; {_said(comparison)}")
            comparison.opened = strangers.opened.value
        started = time.monotonic()
        server.stop()
        comparison.findings += server.errors()
        if time.monotonic() - started > 25:
            comparison.findings.append("the server did not end within its grace period")
    finally:
        server.discard()
    phases = (*comparison.alone, *comparison.among, *comparison.control)
    refused = sum(phase.refused for phase in phases)
    if refused:
        comparison.findings.append(f"{refused} uploads were not accepted")
    return comparison


def _said(comparison: Comparison) -> str:
    found, syncs = comparison.uploads(), comparison.syncs()
    return (
        f"p99 {1000 * found.alone:.1f} ms alone, {1000 * found.among:.1f} ms among strangers;"
        f" of syncs {1000 * syncs.alone:.1f} and {1000 * syncs.among:.1f} ms"
    )


def _run_pair(
    server: Server, folder: Path, strangers: "_Strangers", tokens: list[str], found: Comparison
) -> None:
    """Upload alone, while strangers hold connections and analysts ask, and in the control."""
    time.sleep(SETTLING)
    found.alone.append(_upload(server, folder, found.size.seconds))
    with _counting(len(tokens)):
        time.sleep(SETTLING)
        found.control.append(_upload(server, folder, found.size.seconds))
    with strangers.present(), _analysts(server, tokens, found):
        time.sleep(SETTLING)
        found.among.append(_upload(server, folder, found.size.seconds))


def _prepare(folder: Path, people: int) -> list[str]:
    """Publish both tasks, let people answer the table, and return the tokens of two analysts."""
    store = open_store(folder)
    collector = Collector(store, folder, time.time)
    for task in (STEADY, TABLE):
        collector.create(codec.canonical(codec.document(task)), toml=False)
    dice = np.random.default_rng(3)
    values = {"age": dice.integers(1, 101, people), "kind": dice.choice(list("abcd"), people)}
    messages = crowd.messages(TABLE, values, rng=SeededRng(3))
    for start in range(0, people, 20_000):
        send(collector, "table", messages[start : start + 20_000])
    collector.close("table", at_once=True)
    collector.advance()
    tokens = [access.issue(store, access.ANALYST, int(time.time()))[0] for _ in range(2)]
    store.close()
    return tokens


def _upload(server: Server, folder: Path, seconds: float) -> Phase:
    """Upload at a steady pace, with the probe beside it."""
    phase, lock = Phase(), threading.Lock()
    count = int(seconds / PAUSE)
    # All bodies first: a sender must not wait for what another still has to make.
    bodies = [_bodies(count) for _ in range(SENDERS)]
    begin = time.perf_counter() + 0.2

    def run(number: int) -> None:
        wire = Wire(server.address)
        for index, body in enumerate(bodies[number]):
            due = begin + (index + number / SENDERS) * PAUSE
            time.sleep(max(0.0, due - time.perf_counter()))
            status, _, _ = wire.request(
                "POST", "/v1/tasks/steady/reports", body, content_type="application/json"
            )
            with lock:
                phase.latencies.append(time.perf_counter() - due)
                phase.refused += status != 200
        wire.close()

    done = threading.Event()
    probe = threading.Thread(target=_probe, args=(folder.parent / "probe", phase, done))
    threads = [threading.Thread(target=run, args=(number,)) for number in range(SENDERS)]
    for thread in (probe, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    probe.join()
    return phase


def _bodies(count: int) -> list[bytes]:
    """Return the bodies of uploads of one new report each."""
    messages = crowd.messages(STEADY, np.arange(count) % 64)
    return [json.dumps({"reports": [b64encode(one).decode()]}).encode() for one in messages]


def _probe(path: Path, phase: Phase, done: threading.Event) -> None:
    """Write a page to a file of its own and sync it, at a steady pace."""
    page = os.urandom(4096)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        while not done.wait(PROBE_PAUSE):
            started = time.perf_counter()
            os.pwrite(handle, page, 0)
            os.fdatasync(handle)
            phase.syncs.append(time.perf_counter() - started)
    finally:
        os.close(handle)


@dataclass
class _Strangers:
    """A process that holds slow connections while it is told to."""

    wanted: Any  # an event: connections are held
    opened: Any  # how many connections were opened so far
    count: int

    @contextmanager
    def present(self) -> Iterator[None]:
        """Hold connections while the block runs."""
        before = self.opened.value
        self.wanted.set()
        try:
            while self.opened.value < before + self.count:
                time.sleep(0.02)
            yield
        finally:
            self.wanted.clear()


@contextmanager
def _strangers(server: Server, count: int) -> Iterator[_Strangers]:
    """Start the strangers in another process, so that they cost the senders no time."""
    context = multiprocessing.get_context("spawn")
    strangers = _Strangers(context.Event(), context.Value("i", 0), count)
    host, _, port = server.address.rpartition(":")
    arguments = (host, int(port), count, strangers.wanted, strangers.opened)
    process = context.Process(target=hold, args=arguments, daemon=True)
    process.start()
    try:
        yield strangers
    finally:
        process.kill()
        process.join()


def hold(host: str, port: int, connections: int, wanted: Any, opened: Any) -> None:
    """Hold slow connections whenever it is wanted; one that is closed is opened again.

    Strangers are on other machines: their own work must not count.
    """
    os.nice(19)
    asyncio.run(_hold_and_wait(host, port, connections, wanted, opened))


async def _hold_and_wait(host: str, port: int, connections: int, wanted: Any, opened: Any) -> None:
    async def one(start: bytes) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(host, port)
                try:
                    opened.value += 1
                    writer.write(start)
                    while not reader.at_eof():
                        writer.write(b"a")
                        with suppress(TimeoutError):
                            async with asyncio.timeout(1.0):
                                await reader.read(1 << 16)
                finally:
                    writer.transport.abort()

    while True:
        while not wanted.is_set():
            await asyncio.sleep(0.02)
        starts = cycle((SLOW_HEADERS, SLOW_BODY))
        tasks = [asyncio.create_task(one(next(starts))) for _ in range(connections)]
        while wanted.is_set():
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _counting(count: int) -> Iterator[None]:
    """Keep as many processes busy as there are analysts, in the place of their queries."""
    processes = [subprocess.Popen([sys.executable, "-c", _COUNTING]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def _analysts(server: Server, tokens: list[str], comparison: Comparison) -> Iterator[None]:
    """Let every analyst ask one query after another, and wait for the answer to the last."""
    leaving = threading.Event()
    content = json.dumps({"task": "table", "sql": comparison.size.query}).encode()

    def ask(token: str) -> None:
        wire = Wire(server.address, timeout=1300)
        headers = {"content_type": "application/json", "authorization": bearer(token)}
        while not leaving.is_set():
            status, _, _ = wire.request("POST", "/v1/sql", content, **headers)
            comparison.answered += status == 200
            if status != 200:
                comparison.findings.append(f"a query ended with {status}")
        wire.close()

    threads = [threading.Thread(target=ask, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        leaving.set()
        for thread in threads:
            thread.join()
