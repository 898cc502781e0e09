"""How many durable reports a collector takes per second of processor time, with 1 and 2 workers.

    python scripts/door.py            writes docs/evidence/door.md

The load comes from this machine, so that the collector has not all of its cores: what counts is
processor time of the collector alone, all its processes together, as the kernel counts it.
"""

import argparse
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
from dataclasses import dataclass
from pathlib import Path

from sottovoce.lab.bench.collecting import CONNECTIONS, TASK, messages, requests
from sottovoce.lab.bench.load import load
from sottovoce.wire import codec

EVIDENCE = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "door.md"
REPORTS = {1: 20_000, 10: 200_000, 1_000: 600_000}  # messages per request: messages in a run
BEFORE = {1: 4_500, 10: 35_000, 1_000: 112_000}  # reports per processor second of version 0.1.0


@dataclass(frozen=True)
class Taken:
    """What one run took."""

    workers: int
    size: int
    reports: int
    seconds: float
    processor_seconds: float
    idle_seconds: float  # of all cores of the machine meanwhile


def measure(workers: int, size: int, reports: int) -> Taken:
    """Return what a fresh collector takes for so many reports."""
    bodies = requests(messages(reports, seed=[size, workers]), size)
    warm = requests(messages(max(size, 1_000), seed=[size, workers, 1]), size)
    with served(workers) as (port, process):
        load(port, warm, CONNECTIONS[size])
        before, idle = processor_seconds(process.pid), idle_seconds()
        taken = load(port, bodies, CONNECTIONS[size])
        used = processor_seconds(process.pid) - before
        return Taken(workers, size, reports, taken.seconds, used, idle_seconds() - idle)


@contextmanager
def served(workers: int) -> "Iterator[tuple[int, subprocess.Popen[str]]]":
    """Yield the port and the process of a collector with a task."""
    with tempfile.TemporaryDirectory() as folder:
        task, data = Path(folder) / "task.json", Path(folder) / "data"
        task.write_text(codec.canonical(codec.document(TASK)), encoding="utf-8")
        start = [sys.executable, "-m", "sottovoce"]
        create = [*start, "task", "create", str(task), "--data", str(data)]
        subprocess.run(create, check=True, capture_output=True)
        options = ["--data", str(data), "--port", "0", "--rate", "0", "--json"]
        serve = [*start, "serve", *options, "--workers", str(workers)]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                url = json.loads(process.stdout.readline())["url"]
                urllib.request.urlopen(f"{url}/readyz", timeout=30).close()
                time.sleep(2 * workers)  # until all of them accept connections
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


def page(rows: list[Taken]) -> str:
    """Return the page of evidence."""
    lines = [
        "# Reports at the door",
        "",
        "Written by `python scripts/door.py`: a collector with the embedded store, a histogram of",
        "1,024 values, load from the same machine over HTTP, every report durable before it is",
        "acknowledged.  Processor time is that of the collector alone, all its processes together.",
        "",
        f"Machine: {os.cpu_count()} cores; {os.getloadavg()[0]:.0f} processes ran or waited for a"
        f" core during the last minute of the run; Python {platform.python_version()}.",
        "Version 0.1.0 was measured on a quiet machine.  On a busy one these figures move by half",
        "from run to run, so that the ratio is no comparison of versions.",
        "",
        "| reports a request | workers | reports a processor second | version 0.1.0 | ratio |"
        " reports a second | cores used by the collector | cores idle |",
        "|---:" * 8 + "|",
    ]
    for row in rows:
        speed = row.reports / row.processor_seconds
        lines.append(
            f"| {row.size:,} | {row.workers} | {speed:,.0f} | {BEFORE[row.size]:,} |"
            f" {speed / BEFORE[row.size]:.2f} | {row.reports / row.seconds:,.0f} |"
            f" {row.processor_seconds / row.seconds:.2f} |"
            f" {row.idle_seconds / row.seconds:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    rows = [
        measure(workers, size, max(size, int(reports * scale)))
        for size, reports in REPORTS.items()
        for workers in (1, 2)
    ]
    text = page(rows)
    print(text)
    EVIDENCE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
