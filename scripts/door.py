"""How many durable reports a collector takes per second of processor time, before and now.

    python scripts/door.py 7347ba3                 writes docs/evidence/door.md
    python scripts/door.py 7347ba3 --database      the same, with one and two collectors on one
                                                   PostgreSQL, which is started for it

The collector of another commit, which has one process, and the present one with 1 and 2 workers
take their turns in one run.  The load comes from this machine, so that the collector has not all
of its cores: what counts is processor time of the collector alone, all its processes together, as
the kernel counts it.  Processor time of PostgreSQL, all its backends together, counts too.

A collector puts work off: report ids are merged behind the reports, and move when a round is
sealed.  So processor time is read when it stands still after the load, and what sealing the round
takes is measured apart.
"""

import argparse
import importlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
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
CONNECTIONS = {1: 256, 10: 256, 1_000: 40}  # so that many messages are under way
MOST_WAITING = 100_000  # messages in a collector: more than that
STILL_SECONDS = 0.02  # processor time in a second of a collector that has nothing to do
MOST_POLLS = 120  # seconds until it has


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
    deferred_seconds: float = 0.0  # processor time of the collector after the last answer
    sealing_seconds: float = 0.0  # processor time of sealing the round
    load_seconds: float = 0.0  # processor time of the load itself

    @property
    def all_seconds(self) -> float:
        """Return the processor time of collectors and database."""
        return self.processor_seconds + self.deferred_seconds + self.database_seconds

    @property
    def sealed_speed(self) -> float:
        """Return reports per second of processor time until they are sealed."""
        return self.reports / (self.all_seconds + self.sealing_seconds)

    @property
    def cores(self) -> float:
        """Return how many cores collector and load used together."""
        return (self.processor_seconds + self.load_seconds) / self.seconds

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
    connections = CONNECTIONS[size]
    send = of_this_tree("load").load
    processor_seconds = of_this_tree("processor").processor_seconds
    document = bench.codec.canonical(bench.codec.document(bench.TASK))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with served(workers, document, data) as (port, process):

            def used() -> float:
                return float(processor_seconds(process.pid))

            send(port, warm, connections)
            before, idle = settled(used), idle_seconds()
            own = time.process_time()
            seconds = send(port, bodies, connections).seconds
            at_end, idle = used(), idle_seconds() - idle
            own = time.process_time() - own
            deferred = settled(used) - at_end
        return Taken(
            workers,
            size,
            reports,
            seconds,
            at_end - before,
            idle,
            deferred_seconds=deferred,
            sealing_seconds=sealing_seconds(data, bench.TASK.name),
            load_seconds=own,
        )


def of_this_tree(name: str) -> Any:
    """Return a module of the benchmarks of this tree, so that both trees get the same load.

    The package that this process imports may be that of another commit.
    """
    path = ROOT / "src" / "sottovoce" / "lab" / "bench" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_of_this_tree", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def settled(used: Callable[[], float]) -> float:
    """Return processor time once it stands still: nothing is left to do."""
    before = used()
    for _ in range(MOST_POLLS):
        time.sleep(1.0)
        after = used()
        if after - before <= STILL_SECONDS:
            return after
        before = after
    raise SystemExit(f"a collector does not come to rest within {MOST_POLLS} seconds")


def sealing_seconds(data: Path, name: str) -> float:
    """Return the processor time of sealing the only round of a task, in this process.

    The server has ended.  Neither answering counts nor what is done once in a process, such as
    importing libraries: a copy of the round is sealed before.
    """
    copy = data.with_name("copy")
    shutil.copytree(data, copy)
    seconds = 0.0
    for folder in (copy, data):
        seconds = seconds_of_sealing(folder, name)
    return seconds


def seconds_of_sealing(data: Path, name: str) -> float:
    """Return the processor time of sealing the only round of a task in a folder."""
    with opened(data) as collector:
        collector.close(name, at_once=True)
        published = collector.find(name)
        seal = getattr(collector, "seal_round", None) or collector._seal
        started = time.process_time()
        seal(published, published.last)
        seconds = time.process_time() - started
        collector.refresh()
        assert str(collector.find(name).last.state.value) == "sealed"
    return seconds


def opened(data: Path) -> Any:
    """Return the collector of a folder, as the package that this process imports opens it."""
    try:
        module: Any = importlib.import_module("sottovoce.cli.collector_options")
    except ImportError:
        module = importlib.import_module("sottovoce.cli.opened")
    return module.opened(data)


def measure_database(collectors: int, size: int, reports: int) -> Taken:
    """Return what collectors on one fresh PostgreSQL take together for so many reports."""
    sys.path.insert(0, str(ROOT / "tests"))
    from postgres_server import running
    from sottovoce.lab.bench import collecting as bench
    from sottovoce.lab.bench.processor import processor_seconds

    bodies = bench.requests(bench.messages(reports, seed=[size, collectors]), size)
    warm = bench.requests(bench.messages(max(size, 1_000), seed=[size, collectors, 1]), size)
    connections = max(1, CONNECTIONS[size] // collectors)
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
        before, before_database, idle = settled(used), processor_seconds(postmaster), idle_seconds()
        started = time.perf_counter()
        load_all(bench, ports, bodies, connections)
        seconds = time.perf_counter() - started
        at_end, idle = used(), idle_seconds() - idle
        deferred = settled(used) - at_end
        database_seconds = processor_seconds(postmaster) - before_database
    used_seconds = at_end - before
    both = (collectors, database_seconds)
    return Taken(1, size, reports, seconds, used_seconds, idle, *both, deferred_seconds=deferred)


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
    options += ["--most-waiting", str(MOST_WAITING)]
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


def idle_seconds() -> float:
    """Return how long all cores together had nothing to do since the machine started."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return int(fields[4]) / os.sysconf("SC_CLK_TCK")


def page(commit: str, taken: list[Taken]) -> str:
    """Return the page of evidence."""
    rows = [row for row in taken if not row.collectors]
    option = " --database" if len(rows) < len(taken) else ""
    before = {row.size: row for row in rows if row.workers == ALONE}
    lines = [
        "# Reports at the door",
        "",
        f"Written by `python scripts/door.py {commit}{option}`: collectors with the",
        "embedded store, a histogram of 1,024 values, load from the same machine over HTTP, every",
        "report durable before it is acknowledged.  Processor time is that of the collector alone,",
        f"all its processes together; the least of {TURNS} runs, in which the versions took turns.",
        f'"Before" is commit {commit}, which has no workers.',
        "",
        "Processor time is read when it stands still after the load, so that work counts that was",
        'put off.  "And sealed" adds the processor time of sealing the round, when report ids move',
        "to those of sealed rounds.  Cores used and idle are those until the last answer.",
        "",
        f"Machine: {os.cpu_count()} cores; {os.getloadavg()[0]:.0f} processes ran or waited for a"
        f" core during the last minute of the run; Python {platform.python_version()}.",
        "",
        "| reports a request | workers | reports a processor second | of that before |"
        " and sealed | of that sealed before | reports a second | cores used by the collector |"
        " cores used by collector and load | cores idle |",
        "|---:" * 10 + "|",
    ]
    lines += [
        f"| {row.size:,} | {row.workers or 'before'} | {row.speed:,.0f} |"
        f" {row.speed / before[row.size].speed:.2f} | {row.sealed_speed:,.0f} |"
        f" {row.sealed_speed / before[row.size].sealed_speed:.2f} |"
        f" {row.reports / row.seconds:,.0f} |"
        f" {row.processor_seconds / row.seconds:.2f} | {row.cores:.2f} |"
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
