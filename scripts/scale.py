"""Memory, time and disk of sealed rounds of many sizes: ``docs/evidence/scale.md``.

    python scripts/scale.py --folder /some/disk --reports 1000000,20000000
    python scripts/scale.py --folder /some/disk --reports 1000000 --way http
    python scripts/scale.py                       writes the page again

Every size is made, sealed, stepped and answered by processes of their own, whose largest resident
size (``VmHWM``) is what the kernel says of them.  Then a collector is started over the same data
and asked for the answer over HTTP, while the resident size of its processes is added up, and health
checks are timed, ten times a second.  Results are kept in ``--kept`` (a file of JSON
lines) and the page is written from all that are there, so that sizes can be run one after another.
A size that is run again replaces the row of before.

Reports come into the store in one of two ways.  ``http`` sends them to a collector, which makes
them durable.  ``store`` writes the same messages as the intake leaves them, which is faster.  Both
must give equal logs.
"""

import argparse
import json
import multiprocessing
import os
import platform
import shutil
import sqlite3
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
from door import served

import sottovoce as sv
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.resources import Resources
from sottovoce.collector.store.base import State, open_store, store_url
from sottovoce.collector.store.id_runs import add_row
from sottovoce.collector.store.sorted_ids import SortedIds
from sottovoce.core.byte_sizes import byte_size
from sottovoce.domains.bits import Bits
from sottovoce.lab import crowd
from sottovoce.lab.bench.collecting import CONNECTIONS, requests
from sottovoce.lab.bench.load import load
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.web.store.sqlite import path_of
from sottovoce.wire import codec, envelope

EVIDENCE = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "scale.md"
KEPT = EVIDENCE.with_suffix(".jsonl")
SEGMENT = 4_000  # messages that the intake commits together at most
REQUEST = 1_000  # messages that are sent together over HTTP
AT_ONCE = 200_000  # messages that are made together
LARGE = 10**7  # reports from which on sizes are fitted, if there are enough of them
FITTED = 3  # sizes that are enough
LOOK = 0.1  # seconds between looks at a collector that answers
DEVICES_A_DAY = 10**9
QUERY = "SELECT COUNT(*), AVG(age) FROM people WHERE age > 40 AND kind = 'a'"


def tasks() -> dict[str, Task]:
    """Return the tasks that are measured."""
    collection = Collection(grace=0)
    table = sv.Table({"age": range(64), "kind": ["a", "b", "c"]}, name="people")
    plans = {
        "histogram": (sv.Histogram(range(1024), mechanism="olh"), 1.0),
        "search": (sv.HeavyHitters(Bits(48)), 2.0),
        "table": (table, 2.0),
        "unary": (sv.Histogram(range(1024), mechanism="oue"), 1.0),
    }
    return {
        name: Task(name, plan, epsilon, collection=collection)
        for name, (plan, epsilon) in plans.items()
    }


def values(name: str, count: int, dice: np.random.Generator) -> Any:
    """Return what so many people hold."""
    if name == "table":
        return {"age": dice.integers(0, 64, count), "kind": dice.choice(["a", "b", "c"], count)}
    common = np.minimum(dice.geometric(0.02, count), 1023)
    return common.astype(np.int64) << 20 if name == "search" else common


@dataclass(frozen=True)
class Measured:
    """What a size of a task needed."""

    task: str
    reports: int
    memory: int  # the setting, in bytes
    seal_seconds: float
    step_seconds: float
    answer_seconds: float
    seal_peak: float  # MiB
    step_peak: float
    answer_peak: float
    store_bytes: int
    log_bytes: int
    way: str = "store"  # how the reports came in
    fill_seconds: float = 0.0
    checksum: str = ""  # of the sealed log
    load: float = 0.0  # processes of the machine that ran or waited, this one included
    door_peak: float = 0.0  # MiB of a server and its query processes together; 0: not measured
    slowest_check: float = 0.0  # seconds of a health check while the server was asked

    @property
    def key(self) -> tuple[str, int, str]:
        """Return what a row is about."""
        return self.task, self.reports, self.way

    @property
    def peak(self) -> float:
        return max(self.seal_peak, self.step_peak, self.answer_peak)


def sent(name: str, reports: int) -> Iterator[list[bytes]]:
    """Yield the messages of so many people, many at a time: always the same ones."""
    task = tasks()[name]
    dice = np.random.default_rng(1)
    for start in range(0, reports, AT_ONCE):
        people = values(name, min(AT_ONCE, reports - start), dice)
        yield crowd.messages(task, people, rng=SeededRng(start + 1))


def document(name: str) -> str:
    """Return the document of a task."""
    return codec.canonical(codec.document(tasks()[name]))


def fill_by_http(folder: Path, name: str, reports: int, memory: int) -> None:
    """Send the messages of so many people to a collector, which acknowledges what is durable."""
    path = f"/v1/tasks/{name}/reports"
    with served(1, document(name), folder) as (port, _):
        for messages in sent(name, reports):
            load(port, requests(messages, REQUEST, path), CONNECTIONS[REQUEST])


def fill_by_store(folder: Path, name: str, reports: int, memory: int) -> None:
    """Put the messages of so many people into the store, as the intake leaves them.

    Only the report ids are not merged into runs yet: that is left to sealing, as after a backup was
    restored.
    """
    with opened(folder, memory) as collector:
        collector.create(document(name), toml=False)
    connection = sqlite3.connect(store_file(folder))
    connection.execute("pragma synchronous = off")
    ((key,),) = connection.execute("select key from rounds").fetchall()
    for messages in sent(name, reports):
        for segment in segments(messages):
            add_row(connection, key, report_ids(segment, tasks()[name].opening.width))
            row = (key, b"".join(segment))
            connection.execute("insert into segments (round, data) values (?, ?)", row)
        connection.commit()
    connection.execute("insert into progress values (?, 0, ?)", (key, reports))
    connection.commit()
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


WAYS = {"store": fill_by_store, "http": fill_by_http}


def segments(messages: list[bytes]) -> Iterator[list[bytes]]:
    """Yield the messages that the intake commits together."""
    for start in range(0, len(messages), SEGMENT):
        yield messages[start : start + SEGMENT]


def report_ids(messages: list[bytes], width: int) -> SortedIds:
    """Return the ids in messages of a round whose payloads have a width, in order."""
    return SortedIds.of(np.concatenate([group.ids for group in envelope.read(messages, width)]))


def store_size(folder: Path) -> int:
    """Return the bytes of a store on the disk: its database, the journal and runs of report ids."""
    name = store_file(folder).name
    return sum(path.stat().st_size for path in folder.glob(f"{name}*"))


def store_file(folder: Path) -> Path:
    """Return the database of a collector."""
    return path_of(store_url(folder))


class opened:  # noqa: N801 - used like a function
    """A collector over a folder, with its store closed at the end."""

    def __init__(self, folder: Path, memory: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._store = open_store(store_url(folder))
        self._collector = Collector(self._store, folder, time.time, Resources(memory))

    def __enter__(self) -> Collector:
        return self._collector

    def __exit__(self, *_: object) -> None:
        self._store.close()


def seal(folder: Path, name: str, reports: int, memory: int) -> None:
    """Close and seal the round."""
    with opened(folder, memory) as collector:
        collector.close(name, at_once=True)
        published = collector.find(name)
        collector.seal_round(published, published.last)
        collector.refresh()
        assert collector.find(name).last.count == reports
        assert collector.find(name).last.state is State.SEALED


def step(folder: Path, name: str, reports: int, memory: int) -> None:
    """Test the sealed round, and ask the plan."""
    with opened(folder, memory) as collector:
        collector.ask_plan(collector.find(name))


def answer(folder: Path, name: str, reports: int, memory: int) -> None:
    """Ask for the answer, as an analyst does."""
    with opened(folder, memory) as collector:
        outcome = collector.answer(name)
        if name == "table":
            assert outcome.sql(QUERY).users == reports
        else:
            # Of a search those of the groups that counted the values that were found.
            assert 0 < outcome.to_dict()["users"] <= reports


def ask_door(folder: Path, name: str, memory: int) -> tuple[float, float]:
    """Ask a collector for the answer, and return the largest resident MiB of all its processes
    together and the slowest health check meanwhile.
    """
    with opened(folder, memory) as collector:
        token = access.issue(collector.store, access.ANALYST, int(time.time()))[0]
    settings = {
        "SOTTOVOCE_MEMORY": str(memory),
        "SOTTOVOCE_QUERY_SECONDS": "86400",
        "SOTTOVOCE_HEALTH_RATE": "0",
    }
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with (
        served(1, document(name), folder, **settings) as (port, process),
        ThreadPoolExecutor(1) as asking,
    ):
        url = f"http://127.0.0.1:{port}"
        requests = [urllib.request.Request(f"{url}/v1/tasks/{name}/answer", headers=headers)]
        if name == "table":
            body = json.dumps({"task": name, "sql": QUERY}).encode()
            requests.append(urllib.request.Request(f"{url}/v1/sql", body, headers))
        answered = asking.submit(lambda: [fetched(request) for request in requests])
        peak, slowest = resident(process.pid), 0.0
        while not answered.done():
            started = time.monotonic()
            fetched(urllib.request.Request(f"{url}/healthz"))
            slowest = max(slowest, time.monotonic() - started)
            peak = max(peak, resident(process.pid))
            time.sleep(LOOK)
        answered.result()
    return peak, slowest


def fetched(request: urllib.request.Request) -> bytes:
    with urllib.request.urlopen(request) as response:
        content: bytes = response.read()
    return content


def resident(process: int) -> float:
    """Return the resident MiB of a process and of all that it has started and that run."""
    folder = Path(f"/proc/{process}")
    try:
        lines = (folder / "status").read_text().splitlines()
        total = sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
        for children in folder.glob("task/*/children"):
            total += sum(resident(int(child)) for child in children.read_text().split())
    except OSError:
        return 0.0  # it has ended meanwhile
    return total


def measured(work: Callable[..., None], *given: Any) -> tuple[float, float]:
    """Return the seconds and the largest resident MiB of some work in a new process."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_reported, args=(sending, work, given))
    process.start()
    sending.close()
    try:
        result: tuple[float, float] = receiving.recv()
    except EOFError:
        raise SystemExit(f"{work.__name__} of {given} ended without a result") from None
    process.join()
    return result


def _reported(answer: Any, work: Callable[..., None], given: tuple[Any, ...]) -> None:
    started = time.monotonic()
    work(*given)
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    answer.send((time.monotonic() - started, peak))


def measure(folder: Path, name: str, reports: int, memory: int, way: str) -> Measured:
    """Return what a size of a task needs."""
    shutil.rmtree(folder, ignore_errors=True)
    given = (folder, name, reports, memory)
    loads = []
    try:
        fill_seconds, _ = measured(WAYS[way], *given)
        show(f"{name}, {reports:,} reports by {way}: made in {fill_seconds:.0f} s")
        store_bytes = store_size(folder)
        rows = []
        for work in (seal, step, answer):
            rows.append(measured(work, *given))
            loads.append(os.getloadavg()[0])
            show(f"  {work.__name__}: {rows[-1][0]:.1f} s, {rows[-1][1]:.0f} MiB")
        door_peak, slowest_check = ask_door(folder, name, memory)
        show(f"  at the door: {door_peak:.0f} MiB, a health check took {slowest_check:.3f} s")
        logs = [path for path in (folder / "sealed").rglob("*.parquet") if path.is_file()]
        log_bytes = sum(path.stat().st_size for path in logs)
        with opened(folder, memory) as collector:
            checksum = collector.find(name).last.checksum
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    seconds, peaks = zip(*rows, strict=True)
    return Measured(
        name,
        reports,
        memory,
        *seconds,
        *peaks,
        store_bytes,
        log_bytes,
        way,
        fill_seconds,
        checksum,
        float(np.mean(loads)),
        door_peak,
        slowest_check,
    )


def show(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def exponent(rows: list[Measured], of: Callable[[Measured], float]) -> float:
    """Return the slope of a number against reports, on logarithmic scales."""
    x = [log(row.reports) for row in rows]
    y = [log(of(row)) for row in rows]
    return float(np.polyfit(x, y, 1)[0])


def fitted(rows: list[Measured]) -> list[Measured]:
    """Return the sizes that growth is fitted to.

    Small sizes begin with what every process costs, so they are left out if enough others are
    there.
    """
    large = [row for row in rows if row.reports >= LARGE]
    return large if len(large) >= FITTED else rows


def seconds(row: Measured) -> float:
    return row.seal_seconds + row.step_seconds + row.answer_seconds


def page(results: list[Measured]) -> str:
    """Return the page of evidence."""
    lines = [
        "# Rounds of many sizes",
        "",
        "Written by `python scripts/scale.py`.  Reports of one round, randomised as by devices,",
        "come over HTTP (`http`), or are put into the store as the intake leaves them, but",
        "without the ids by which it counts a message once (`store`).  They are sealed, tested",
        "and stepped, and answered, each by a new process.  Peaks are the largest resident size",
        "of that process (`VmHWM`), program and compiled kernels included.  Then a collector over",
        "the same data is asked for the answer over HTTP (of the table for a query in SQL too):",
        '"peak door" is the largest sum of the resident sizes of the server and its query',
        'processes, "check" the slowest health check meanwhile.  A worker that seals or steps at',
        "the same time comes on top.  The load is how many",
        "processes of the machine ran or waited for a core meanwhile, on average over a minute",
        "and this one included: above the number of cores the seconds of a row are too many.",
        "",
        f"Machine: {os.cpu_count()} cores; Python {platform.python_version()}.",
    ]
    for name in dict.fromkeys(row.task for row in results):
        rows = [row for row in results if row.task == name]
        rows.sort(key=lambda row: (row.reports, row.way))
        stored = [row for row in rows if row.way == "store"]
        lines += ["", f"## {TITLES[name]}", "", *table(rows)]
        lines += equal_logs(rows)
        if len(stored) > 1:
            lines += ["", *growth(stored)]
    return "\n".join(lines) + "\n"


def equal_logs(rows: list[Measured]) -> list[str]:
    """Return what to say of logs of the same reports that came in both ways."""
    stored = {row.reports: row for row in rows if row.way == "store"}
    lines = []
    for row in rows:
        other = stored.get(row.reports)
        if row.way == "store" or other is None:
            continue
        if row.checksum != other.checksum:
            raise SystemExit(f"{row.reports:,} reports of {row.task} have two different logs")
        speed = row.reports / row.fill_seconds
        lines += [
            "",
            f"The log of {row.reports:,} reports that came over HTTP ({speed:,.0f} a second, made"
            " and sent by the same machine, a thousand a request) is the log of those in the"
            f" store: both have the checksum `{row.checksum[:16]}...`.",
        ]
    return lines


TITLES = {
    "histogram": "A histogram of 1,024 values by local hashing",
    "search": "A search among 2^48 values",
    "table": "A table of two columns, and a query in SQL",
    "unary": "A histogram of 1,024 values by unary encoding",
}


def table(rows: list[Measured]) -> list[str]:
    lines = [
        "| reports | by | `--memory` | seal s | step s | answer s | µs a report | peak seal MiB |"
        " peak step MiB | peak answer MiB | peak door MiB | check ms | store bytes a report |"
        " log bytes a report | load |",
        "|---:" * 15 + "|",
    ]
    for row in rows:
        door = "– | –"
        if row.door_peak:
            door = f"{row.door_peak:.0f} | {1e3 * row.slowest_check:.0f}"
        micros = 1e6 * seconds(row) / row.reports
        lines.append(
            f"| {row.reports:,} | {row.way} | {row.memory / 1e6:,.0f} MB | {row.seal_seconds:.1f} |"
            f" {row.step_seconds:.1f} | {row.answer_seconds:.1f} | {micros:.2f} |"
            f" {row.seal_peak:.0f} | {row.step_peak:.0f} | {row.answer_peak:.0f} |"
            f" {door} | {row.store_bytes / row.reports:.1f} | {row.log_bytes / row.reports:.1f} |"
            f" {row.load:.1f} |"
        )
    return lines


def growth(rows: list[Measured]) -> list[str]:
    largest = rows[-1]
    most = max(row.peak for row in rows)
    rows = fitted(rows)
    time_exponent = exponent(rows, seconds)
    disk_exponent = exponent(rows, lambda row: row.store_bytes + row.log_bytes)
    phases = {
        "sealing": exponent(rows, lambda row: row.seal_seconds),
        "stepping": exponent(rows, lambda row: row.step_seconds),
        "answering": exponent(rows, lambda row: row.answer_seconds),
    }
    # Nothing is taken to grow less than linearly: fixed costs make the slope too small.
    factor = exp(max(1.0, time_exponent, *phases.values()) * log(DEVICES_A_DAY / largest.reports))
    disk = (largest.store_bytes + largest.log_bytes) / largest.reports * DEVICES_A_DAY
    listed = ", ".join(f"{name} {power:.2f}" for name, power in phases.items())
    return [
        f"Time grows with the power {time_exponent:.2f} of the reports, and disk with"
        f" {disk_exponent:.2f}; alone: {listed} (from {len(rows)} sizes,"
        f" {rows[0].reports:,} to {rows[-1].reports:,}).  The largest peak is {most:.0f} MiB.",
        f"By extrapolation from the largest size, and not measured: 10^9 reports would take"
        f" {seconds(largest) * factor / 3600:.1f} hours and {disk / 1e9:.0f} GB.",
    ]


def kept_rows(path: Path) -> list[Measured]:
    """Return the rows in a file; of several about the same the last."""
    rows: dict[tuple[str, int, str], Measured] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = Measured(**json.loads(line))
        rows[row.key] = row
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where data of collectors are made")
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--task", choices=list(TITLES), default="histogram")
    parser.add_argument("--way", choices=list(WAYS), default="store")
    parser.add_argument("--reports", default="", help="sizes, separated by commas")
    parser.add_argument("--memory", default="1GB")
    options = parser.parse_args()
    sizes = [int(size) for size in options.reports.split(",") if size]
    if sizes and options.folder is None:
        parser.error("name a --folder for the data")
    memory = byte_size("memory", options.memory)
    for reports in sizes:
        row = measure(options.folder / options.task, options.task, reports, memory, options.way)
        with options.kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
    EVIDENCE.write_text(page(kept_rows(options.kept)), encoding="utf-8")


if __name__ == "__main__":
    main()
