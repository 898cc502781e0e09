"""Taking reports over HTTP until they are durable, against two ceilings.

All are measured in turns, in the same run.

One is a bare Starlette route on the same server that only decodes the same requests under the same
load; the other a bare SQLite writer, without HTTP and without checks, that only commits the same
rows a thousand at a time.
"""

import base64
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter, sleep

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.lab import crowd
from sottovoce.lab.bench.growth import exponent
from sottovoce.lab.bench.load import Load, load, post
from sottovoce.lab.bench.processor import processor_seconds
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.wire import codec, envelope

REPORTS = {1: 8_000, 10: 100_000, 1_000: 300_000}  # messages per request: messages in a run
CONNECTIONS = {1: 256, 10: 256, 1_000: 16}  # so that a few thousand messages are under way
MANY = 1_000_000
TURNS = 5
WORKERS = (1, 2)
SIZE_FOR_WORKERS = 10  # messages per request
GROUP = 1_000  # rows in one transaction of the bare writer
SHARE = 0.6

TASK = Task("load", Histogram(range(1024)), 1.0, collection=Collection())
PATH = f"/v1/tasks/{TASK.name}/reports"


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield reports per second and latency for every size of request, and how memory grows."""
    with _process("-m", "sottovoce.lab.bench.bare") as (bare, _):
        for size, usual in REPORTS.items():
            yield from _race(size, max(size, scaled(usual, scale)), int(bare))
    yield from _by_workers(scaled(REPORTS[SIZE_FOR_WORKERS], scale))
    yield from _memory(scaled(MANY, scale))


def _race(size: int, count: int, bare: int) -> Iterator[BenchmarkRow]:
    """Yield the rows of one turn.

    Collector and writer start empty every time, so that their trees are equally deep.
    """
    best: dict[str, Load] = {}
    writer = float("inf")
    for turn in range(TURNS):
        sent = messages(count, seed=[size, turn])
        with _served() as (ours, _, _):
            for name, port in (("bare", bare), ("ours", ours)):
                taken = load(port, requests(sent, size), CONNECTIONS[size])
                best[name] = min(taken, best.get(name, taken), key=lambda run: run.seconds)
        writer = min(writer, _written(sent))
    speeds = {
        "bare Starlette route": count / best["bare"].seconds,
        "bare SQLite writer": count / writer,
    }
    lower = min(speeds, key=lambda name: speeds[name])
    speed = count / best["ours"].seconds
    goal = Goal("ratio", ">=", SHARE) if size > 1 else None
    many = f"{size:,} per request"
    for name, ceiling in speeds.items():
        yield BenchmarkRow("collecting", f"{many}: {name}", ceiling, "reports/s")
    yield BenchmarkRow(
        "collecting",
        f"{many}: accepted and durable",
        speed,
        "reports/s",
        lower,
        speed / speeds[lower],
        goal,
    )
    yield BenchmarkRow(
        "collecting", f"{many}: 99 % of requests within", 1000 * best["ours"].percentile(99), "ms"
    )


def _by_workers(count: int) -> Iterator[BenchmarkRow]:
    """Yield reports per second of processor time with more and more workers, and the growth.

    The time of all processes counts.  If workers cost nothing the exponent is 0.
    """
    seconds = []
    for workers in WORKERS:
        seconds.append(min(_processor_seconds(workers, count, turn) for turn in range(TURNS)))
        many = f"{workers} worker{'s' if workers > 1 else ''}"
        name = f"{SIZE_FOR_WORKERS:,} per request: reports per CPU second, {many}"
        speed = count / seconds[-1]
        ratio = seconds[0] / seconds[-1]
        yield BenchmarkRow("collecting", name, speed, "reports/s", "1 worker", ratio)
    slope = exponent(WORKERS, seconds)
    span = f"{min(WORKERS)} to {max(WORKERS)}"
    yield BenchmarkRow("collecting", "CPU time of reports, in workers", slope, "exponent", span)


def _processor_seconds(workers: int, count: int, turn: int) -> float:
    """Return the processor time of a fresh collector for so many reports."""
    sent = requests(messages(count, seed=[workers, turn]), SIZE_FOR_WORKERS)
    warm = requests(messages(GROUP, seed=[workers, turn, 1]), SIZE_FOR_WORKERS)
    with _served(workers) as (port, process, _):
        sleep(2 * workers)  # until all of them accept connections
        load(port, warm, CONNECTIONS[SIZE_FOR_WORKERS])
        before = processor_seconds(process.pid)
        load(port, sent, CONNECTIONS[SIZE_FOR_WORKERS])
        sleep(1.0)  # report ids are merged behind the reports
        return max(processor_seconds(process.pid) - before, 1 / os.sysconf("SC_CLK_TCK"))


def _memory(count: int) -> Iterator[BenchmarkRow]:
    """Yield what the process and the disk hold while many reports arrive.

    They are measured after a quarter of the reports, at the end, and once the round is sealed.
    """
    with _served() as (port, process, data):
        parts = [messages(count // 4, seed=[7, part]) for part in range(4)]
        resident = []
        for part in parts:
            load(port, requests(part, 1_000), CONNECTIONS[1_000])
            resident.append(_resident(process))
        before = _bytes(data)
        _command("task", "close", TASK.name, "--now", "--data", str(data))
        after = _bytes(data / "sealed")
    yield BenchmarkRow(
        "collecting", f"memory after {count // 4:,} reports", resident[0] / 1e6, "MB"
    )
    goal = Goal("ratio", "<=", 1.1)
    yield BenchmarkRow(
        "collecting",
        f"memory after {count:,} reports",
        resident[-1] / 1e6,
        "MB",
        "a quarter of them",
        resident[-1] / resident[0],
        goal,
    )
    many = len(parts) * len(parts[0])
    yield BenchmarkRow(
        "collecting",
        f"disk while open, messages of {len(parts[0][0])} bytes",
        before / many,
        "bytes/report",
    )
    yield BenchmarkRow("collecting", "disk once sealed", after / many, "bytes/report")


def messages(count: int, seed: list[int]) -> list[bytes]:
    """Return messages of devices as they go over the wire, made all at once."""
    return crowd.messages(
        TASK, np.arange(count) % 1024, rng=SeededRng(np.random.SeedSequence(seed))
    )


def requests(sent: list[bytes], size: int, path: str = PATH) -> list[bytes]:
    """Return the uploads of these messages, so many in each."""
    texts = [base64.b64encode(message).decode() for message in sent]
    bodies = (
        json.dumps({"reports": texts[start : start + size]}) for start in range(0, len(texts), size)
    )
    return [post(path, body.encode()) for body in bodies]


def _written(sent: list[bytes]) -> float:
    """Return the seconds that SQLite needs for the same rows.

    Every message has an id, and the messages of a group stand in one blob.
    """
    whole = np.frombuffer(b"".join(sent), np.uint8).reshape(len(sent), -1)
    ids = envelope.read(sent, TASK.opening.width)[0].ids
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite3.connect(f"{folder}/bare.db", isolation_level=None)) as book,
    ):
        for pragma in (
            "page_size = 2048",
            "journal_mode = wal",
            "synchronous = full",
            "cache_size = -16384",
            "wal_autocheckpoint = 32768",
        ):
            book.execute(f"pragma {pragma}").fetchall()
        book.execute(
            "create table seen (round integer, id blob, primary key (round, id)) without rowid"
        )
        book.execute("create table segments (round integer, data blob)")
        started = perf_counter()
        for start in range(0, len(whole), GROUP):
            group = whole[start : start + GROUP]
            book.execute("begin immediate")
            book.executemany("insert into seen values (1, ?)", _values(ids[start : start + GROUP]))
            book.execute("insert into segments values (1, ?)", (group.tobytes(),))
            book.execute("commit")
        return perf_counter() - started


def _values(ids: Bytes) -> Iterator[tuple[bytes]]:
    return ((report_id.tobytes(),) for report_id in ids)


@contextmanager
def _served(workers: int = 1) -> "Iterator[tuple[int, subprocess.Popen[str], Path]]":
    """Yield port, process and folder of a real collector with the task of this topic."""
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.json"
        data = Path(folder) / "data"
        task.write_text(codec.canonical(codec.document(TASK)), encoding="utf-8")
        _command("task", "create", str(task), "--data", str(data))
        options = ["serve", "--data", str(data), "--port", "0", "--rate", "0", "--json"]
        options += ["--workers", str(workers)]
        with _process("-m", "sottovoce", *options) as (line, process):
            url = json.loads(line)["url"]
            urllib.request.urlopen(f"{url}/readyz", timeout=10).close()
            yield int(url.rsplit(":", 1)[1]), process, data


def _command(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "sottovoce", *arguments], check=True, capture_output=True)


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@contextmanager
def _process(*arguments: str) -> "Iterator[tuple[str, subprocess.Popen[str]]]":
    """Yield the first line that a Python process prints, and the process."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline(), process
        finally:
            process.terminate()
            process.wait()


def _resident(process: "subprocess.Popen[str]") -> int:
    """Return the bytes of memory that a process holds."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
