"""How many durable reports a collector takes per second of processor time, before and now.

    python scripts/door.py 7347ba3                 writes docs/evidence/door.md
    python scripts/door.py 7347ba3 --database      the same, with one and two collectors on one
                                                   PostgreSQL, which is started for it

The collector of another commit, which has one process, and the present one with 1 and 2 workers
take their turns in one run.  The load comes from this machine, so that the collector has not all
of its cores: what counts is processor time of the collector alone, all its processes together, as
the kernel counts it.  Processor time of PostgreSQL, all its backends together, counts too.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from other_tree import ROOT, checked_out, run

EVIDENCE = ROOT / "docs" / "evidence" / "door.md"
REPORTS = {1: 20_000, 10: 200_000, 1_000: 600_000}  # messages per request: messages in a run
TURNS = 3
ALONE = 0  # so many workers has a collector that knows no such setting
COLLECTORS = (1, 2)  # on one PostgreSQL


@dataclass(frozen=True)
class Taken:
    """What one run took."""

    workers: int
    size: int
    reports: int
    seconds: float
    processor_seconds: float
    idle_seconds: float  # of all cores of the machine meanwhile
    collectors: int = 0  # on one PostgreSQL; 0 where the store is embedded
    database_seconds: float = 0.0  # processor time of PostgreSQL

    @property
    def all_seconds(self) -> float:
        """Return the processor time of collectors and database."""
        return self.processor_seconds + self.database_seconds

    @property
    def speed(self) -> float:
        """Return reports per second of that processor time."""
        return self.reports / self.all_seconds


def measure(workers: int, size: int, reports: int) -> Taken:
    """Return what a fresh collector takes for so many reports."""
    # Each of the two trees has these modules, and they import different names.
    bench: Any = importlib.import_module("sottovoce.lab.bench.collecting")
    bodies = bench.requests(bench.messages(reports, seed=[size, workers]), size)
    warm = bench.requests(bench.messages(max(size, 1_000), seed=[size, workers, 1]), size)
    connections = bench.CONNECTIONS[size]
    document = bench.codec.canonical(bench.codec.document(bench.TASK))
    with (
        tempfile.TemporaryDirectory() as folder,
        served(workers, document, Path(folder) / "data") as (port, process),
    ):
        bench.load(port, warm, connections)
        before, idle = processor_seconds(process.pid), idle_seconds()
        taken = bench.load(port, bodies, connections)
        used = processor_seconds(process.pid) - before
        return Taken(workers, size, reports, taken.seconds, used, idle_seconds() - idle)


def measure_database(collectors: int, size: int, reports: int) -> Taken:
    """Return what collectors on one fresh PostgreSQL take together for so many reports."""
    sys.path.insert(0, str(ROOT / "tests"))
    from postgres_server import running
    from sottovoce.lab.bench import collecting as bench

    bodies = bench.requests(bench.messages(reports, seed=[size, collectors]), size)
    warm = bench.requests(bench.messages(max(size, 1_000), seed=[size, collectors, 1]), size)
    connections = max(1, bench.CONNECTIONS[size] // collectors)
    document = bench.codec.canonical(bench.codec.document(bench.TASK))
    with tempfile.TemporaryDirectory() as folder, running() as server, ExitStack() as stack:
        postmaster = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
        data, database = Path(folder) / "data", server.create("door")
        served_by = [
            stack.enter_context(served(1, document, data, SOTTOVOCE_DATABASE=database))
            for _ in range(collectors)
        ]
        ports = [port for port, _ in served_by]

        def used() -> float:
            return sum(processor_seconds(process.pid) for _, process in served_by)

        load_all(bench, ports, warm, connections)
        before, before_database, idle = used(), processor_seconds(postmaster), idle_seconds()
        started = time.perf_counter()
        load_all(bench, ports, bodies, connections)
        seconds = time.perf_counter() - started
        idle = idle_seconds() - idle
        database_seconds = processor_seconds(postmaster) - before_database
        used_seconds = used() - before
    return Taken(1, size, reports, seconds, used_seconds, idle, collectors, database_seconds)


def load_all(bench: Any, ports: list[int], bodies: list[bytes], connections: int) -> None:
    """Send every port its share of the requests, all at the same time."""
    with ThreadPoolExecutor(len(ports)) as threads:
        sending = [
            threads.submit(bench.load, port, bodies[index :: len(ports)], connections)
            for index, port in enumerate(ports)
        ]
        for sent in sending:
            sent.result()


@contextmanager
def served(
    workers: int, document: str, data: Path, **settings: str
) -> "Iterator[tuple[int, subprocess.Popen[str]]]":
    """Yield the port and the process of a collector with a task, whose data are in a folder.

    ``settings`` are variables of its environment.
    """
    start = [sys.executable, "-m", "sottovoce"]
    environment = {**os.environ, **settings}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as task:
        task.write(document)
        task.flush()
        create = [*start, "task", "create", task.name, "--data", str(data)]
        subprocess.run(create, check=True, capture_output=True, env=environment)
    options = ["--data", str(data), "--port", "0", "--rate", "0", "--json"]
    many = ["--workers", str(workers)] if workers else []
    serve = [*start, "serve", *options, *many]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            urllib.request.urlopen(f"{url}/readyz", timeout=30).close()
            time.sleep(2 * max(1, workers))  # until all of them accept connections
            yield int(url.rsplit(":", 1)[1]), process
        finally:
            process.terminate()
            process.wait()


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and of all that it has started and that run."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:15]))
    total = ticks / os.sysconf("SC_CLK_TCK")
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        total += sum(processor_seconds(int(child)) for child in children.read_text().split())
    return total


def idle_seconds() -> float:
    """Return how long all cores together had nothing to do since the machine started."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return int(fields[4]) / os.sysconf("SC_CLK_TCK")


def page(commit: str, taken: list[Taken]) -> str:
    """Return the page of evidence."""
    rows = [row for row in taken if not row.collectors]
    option = " --database" if len(rows) < len(taken) else ""
    before = {row.size: row.speed for row in rows if row.workers == ALONE}
    lines = [
        "# Reports at the door",
        "",
        f"Written by `python scripts/door.py {commit}{option}`: collectors with the",
        "embedded store, a histogram of 1,024 values, load from the same machine over HTTP, every",
        "report durable before it is acknowledged.  Processor time is that of the collector alone,",
        f"all its processes together; the least of {TURNS} runs, in which the versions took turns.",
        f'"Before" is commit {commit}, which has no workers.',
        "",
        f"Machine: {os.cpu_count()} cores; {os.getloadavg()[0]:.0f} processes ran or waited for a"
        f" core during the last minute of the run; Python {platform.python_version()}.",
        "",
        "| reports a request | workers | reports a processor second | of that before |"
        " reports a second | cores used by the collector | cores idle |",
        "|---:" * 7 + "|",
    ]
    lines += [
        f"| {row.size:,} | {row.workers or 'before'} | {row.speed:,.0f} |"
        f" {row.speed / before[row.size]:.2f} | {row.reports / row.seconds:,.0f} |"
        f" {row.processor_seconds / row.seconds:.2f} |"
        f" {row.idle_seconds / row.seconds:.2f} |"
        for row in rows
    ]
    lines += database_lines([row for row in taken if row.collectors])
    return "\n".join(lines) + "\n"


def database_lines(rows: list[Taken]) -> list[str]:
    """Return the section about collectors on one PostgreSQL, if there were any."""
    if not rows:
        return []
    lines = [
        "",
        "## On one PostgreSQL",
        "",
        "Collectors with one worker each share a folder and one PostgreSQL on the same machine,",
        "which writes every commit to the disk (`fsync = on`) and else has the settings of",
        "[the tests](../../tests/postgres_server.py).  Requests are spread evenly over the",
        "collectors.  Processor time is that of collectors and database together.",
        "",
        "| reports a request | collectors | reports a processor second |"
        " µs of collectors a report | µs of PostgreSQL a report | reports a second | cores used |"
        " cores idle |",
        "|---:" * 8 + "|",
    ]
    return lines + [
        f"| {row.size:,} | {row.collectors} | {row.speed:,.0f} |"
        f" {1e6 * row.processor_seconds / row.reports:,.1f} |"
        f" {1e6 * row.database_seconds / row.reports:,.1f} | {row.reports / row.seconds:,.0f} |"
        f" {row.all_seconds / row.seconds:.2f} | {row.idle_seconds / row.seconds:.2f} |"
        for row in rows
    ]


def compare_collectors(scale: float) -> list[Taken]:
    """Return the best run of each number of collectors on one PostgreSQL."""
    best: dict[tuple[int, int], Taken] = {}
    for size, usual in REPORTS.items():
        for _turn in range(TURNS):
            for collectors in COLLECTORS:
                asked = [collectors, size, max(size * collectors, int(usual * scale))]
                text = run(ROOT, [__file__, "--measure-database", *map(str, asked)])
                keep_best(best, (size, collectors), Taken(**json.loads(text)))
    return list(best.values())


def keep_best(best: dict[tuple[int, int], Taken], key: tuple[int, int], taken: Taken) -> None:
    """Keep the run with the most reports a processor second."""
    best[key] = max(best.get(key, taken), taken, key=lambda row: row.speed)


def compare(commit: str, scale: float) -> list[Taken]:
    """Return the best run of each version, number of workers and size of a request."""
    best: dict[tuple[int, int], Taken] = {}
    with checked_out(commit) as before:
        for size, usual in REPORTS.items():
            for _turn in range(TURNS):
                for workers in (ALONE, 1, 2):
                    tree = ROOT if workers else before
                    asked = [workers, size, max(size, int(usual * scale))]
                    text = run(tree, [__file__, "--measure", *map(str, asked)])
                    keep_best(best, (size, workers), Taken(**json.loads(text)))
    return list(best.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", help="the commit to compare with")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--measure", type=int, nargs=3, metavar=("WORKERS", "SIZE", "REPORTS"))
    parser.add_argument("--database", action="store_true", help="also on one PostgreSQL")
    parser.add_argument(
        "--measure-database", type=int, nargs=3, metavar=("COLLECTORS", "SIZE", "REPORTS")
    )
    parser.add_argument("--evidence", type=Path, default=EVIDENCE, help="the page to write")
    wanted = parser.parse_args()
    if wanted.measure:
        print(json.dumps(asdict(measure(*wanted.measure))))
        return
    if wanted.measure_database:
        print(json.dumps(asdict(measure_database(*wanted.measure_database))))
        return
    if not wanted.commit:
        parser.error("name the commit to compare with")
    taken = compare(wanted.commit, wanted.scale)
    if wanted.database:
        taken += compare_collectors(wanted.scale)
    text = page(wanted.commit, taken)
    print(text)
    wanted.evidence.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
