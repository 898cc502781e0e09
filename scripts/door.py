"""How many durable reports a collector takes per second of processor time, before and now.

    python scripts/door.py 7347ba3            writes docs/evidence/door.md

The collector of another commit, which has one process, and the present one with 1 and 2 workers
take their turns in one run.  The load comes from this machine, so that the collector has not all
of its cores: what counts is processor time of the collector alone, all its processes together, as
the kernel counts it.
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
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from other_tree import ROOT, checked_out, run

EVIDENCE = ROOT / "docs" / "evidence" / "door.md"
REPORTS = {1: 20_000, 10: 200_000, 1_000: 600_000}  # messages per request: messages in a run
TURNS = 3
ALONE = 0  # so many workers has a collector that knows no such setting


@dataclass(frozen=True)
class Taken:
    """What one run took."""

    workers: int
    size: int
    reports: int
    seconds: float
    processor_seconds: float
    idle_seconds: float  # of all cores of the machine meanwhile

    @property
    def speed(self) -> float:
        """Return reports per second of the collector's processor time."""
        return self.reports / self.processor_seconds


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


@contextmanager
def served(
    workers: int, document: str, data: Path
) -> "Iterator[tuple[int, subprocess.Popen[str]]]":
    """Yield the port and the process of a collector with a task, whose data are in a folder."""
    start = [sys.executable, "-m", "sottovoce"]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as task:
        task.write(document)
        task.flush()
        create = [*start, "task", "create", task.name, "--data", str(data)]
        subprocess.run(create, check=True, capture_output=True)
    options = ["--data", str(data), "--port", "0", "--rate", "0", "--json"]
    many = ["--workers", str(workers)] if workers else []
    serve = [*start, "serve", *options, *many]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
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


def page(commit: str, rows: list[Taken]) -> str:
    """Return the page of evidence."""
    before = {row.size: row.speed for row in rows if row.workers == ALONE}
    lines = [
        "# Reports at the door",
        "",
        f"Written by `python scripts/door.py {commit}`: collectors with the embedded store, a",
        "histogram of 1,024 values, load from the same machine over HTTP, every report durable",
        "before it is acknowledged.  Processor time is that of the collector alone, all its",
        f"processes together; the least of {TURNS} runs, in which the versions took turns.",
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
    return "\n".join(lines) + "\n"


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
                    taken = Taken(**json.loads(text))
                    known = best.setdefault((size, workers), taken)
                    best[size, workers] = max(known, taken, key=lambda row: row.speed)
    return list(best.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", help="the commit to compare with")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--measure", type=int, nargs=3, metavar=("WORKERS", "SIZE", "REPORTS"))
    wanted = parser.parse_args()
    if wanted.measure:
        print(json.dumps(asdict(measure(*wanted.measure))))
        return
    if not wanted.commit:
        parser.error("name the commit to compare with")
    text = page(wanted.commit, compare(wanted.commit, wanted.scale))
    print(text)
    EVIDENCE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
