"""Spark on logs larger than its memory: ``docs/evidence/spark.md``.

    python scripts/cluster.py --folder /some/disk --kept rows.json --reports 1000000,2000000

    python scripts/cluster.py --folder /some/disk --kept rows.json --reports 1000000 --task table

Every size is one sealed log, a folder of parts.  The collector answers from it, in one process.
Spark answers from the same files with a driver and one executor, whose heaps have 512 MB each, and
with the Python processes beside it: its memory is that heap and the peak of Python.  The estimates
of a histogram must be equal, bit for bit.  A query in SQL adds the same scores in another order,
so that its numbers must agree to nine digits.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from other_tree import ROOT
from scale import QUERY, fill_by_store, measured, opened, seal, show, tasks

sys.path.insert(0, str(ROOT / "tests"))
from engine.spark_session import cluster
from sottovoce.arrays import Floats
from sottovoce.engine import spark
from sottovoce.engine.parquet import DEFAULT_MEMORY
from sottovoce.lab.bench.growth import exponent

EVIDENCE = ROOT / "docs" / "evidence" / "spark.md"
TASKS = {
    "unary": "a histogram of 1,024 values by unary encoding",
    "table": f"`{QUERY}` on a table",
}
HEAP = 512  # MB of the driver, and of the executor
SAME_DIGITS = 1e-9  # of two numbers that were added in different orders


@dataclass(frozen=True)
class Answered:
    """What one size of a task needed, answered by the collector and by Spark."""

    reports: int
    log_bytes: int
    parts: int
    collector_seconds: float
    collector_peak: float  # MiB
    spark_seconds: float
    python_peak: float  # MiB of the largest Python process of the executor
    executor_peak: float  # MiB of the executor's Java process, its heap and everything else
    load: float
    task: str = "unary"

    @property
    def log_megabytes(self) -> float:
        return self.log_bytes / 1e6

    @property
    def memory(self) -> float:
        """Return the MB of the executor: its heap, and the peak of Python beside it."""
        return HEAP + self.python_peak * (1 << 20) / 1e6

    @property
    def log_share(self) -> float:
        """Return how many times as large as that memory the log is."""
        return self.log_megabytes / self.memory


def collector_answer(folder: Path, name: str) -> None:
    """Answer as the collector does, and keep the numbers beside the log."""
    with opened(folder, DEFAULT_MEMORY) as collector:
        collector.ask_plan(collector.find(name))
        collector.refresh()
        np.save(folder / "numbers.npy", numbers(name, collector.answer(name)))


def numbers(name: str, outcome: Any) -> Floats:
    """Return the unrounded numbers of an answer: of people by value, or those of the query."""
    if name == "table":
        (row,) = outcome.sql(QUERY).figures
        return np.array([number for figure in row for number in (figure.value, figure.variance)])
    return np.array([row["estimate"] for row in outcome.to_dict()["rows"]])


def same(name: str, given: Floats, expected: Floats) -> bool:
    """Return whether two answers are the same."""
    if name == "table":
        return bool(np.allclose(given, expected, rtol=SAME_DIGITS, atol=0.0))
    return np.array_equal(given, expected)


def spark_answer(folder: Path, name: str) -> tuple[float, float, float]:
    """Return the seconds of Spark's answer, and the peaks of its processes."""
    with opened(folder, DEFAULT_MEMORY) as collector:
        record = collector.find(name).last
        log = collector.log(record)
    settings = {
        "spark.driver.memory": f"{HEAP}m",
        "spark.sql.files.maxPartitionBytes": "32m",  # one part of the log at a time
    }
    with cluster(1, HEAP, **settings) as session, watched() as peaks:
        session.range(1).count()  # the executor has started
        started = time.monotonic()
        outcome = spark.answer(tasks()[name], session, {0: str(log)}, {0: record.checksum})
        given = numbers(name, outcome)
        seconds = time.monotonic() - started
    if not same(name, given, np.load(folder / "numbers.npy")):
        raise SystemExit("Spark and the collector give different answers")
    return seconds, peaks["python"], peaks["java"]


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Yield the largest resident MiB of Python and Java processes below this one, as it grows."""
    peaks = {"python": 0.0, "java": 0.0}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            for process in descendants(os.getpid()):
                note_peak(process, peaks)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()


def note_peak(process: int, peaks: dict[str, float]) -> None:
    """Note the peak of a process of the executor."""
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return  # it has ended
    kind = "python" if b"pyspark.daemon" in command else ""
    if b"CoarseGrainedExecutorBackend" in command:
        kind = "java"
    for line in status.splitlines():
        if kind and line.startswith("VmHWM"):
            peaks[kind] = max(peaks[kind], int(line.split()[1]) / 1024)


def descendants(process: int) -> Iterator[int]:
    """Yield all processes that a process has started, and those that they have."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            listed = children.read_text().split()
        except OSError:
            continue
        for child in map(int, listed):
            yield child
            yield from descendants(child)


def measure(folder: Path, name: str, reports: int) -> Answered:
    """Return what one size of a task needs."""
    shutil.rmtree(folder, ignore_errors=True)
    given = (folder, name, reports, DEFAULT_MEMORY)
    try:
        show(f"{name}, {reports:,} reports: made in {measured(fill_by_store, *given)[0]:.0f} s")
        show(f"  sealed in {measured(seal, *given)[0]:.0f} s")
        collector_seconds, collector_peak = measured(collector_answer, folder, name)
        show(f"  collector: {collector_seconds:.1f} s, {collector_peak:.0f} MiB")
        spark_seconds, python_peak, executor_peak = spark_answer(folder, name)
        show(f"  Spark: {spark_seconds:.1f} s, Python {python_peak:.0f} MiB")
        logs = [path for path in (folder / "sealed").rglob("*.parquet") if path.is_file()]
        log_bytes = sum(path.stat().st_size for path in logs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Answered(
        reports,
        log_bytes,
        len(logs),
        collector_seconds,
        collector_peak,
        spark_seconds,
        python_peak,
        executor_peak,
        os.getloadavg()[0],
        name,
    )


def page(rows: list[Answered]) -> str:
    """Return the page of evidence."""
    lines = [
        "# Spark on logs larger than its memory",
        "",
        "Written by `python scripts/cluster.py`.  Reports are sealed as a folder of parts.  The",
        "collector answers from it in one process: it tests the round, steps its plan and answers.",
        "Spark reads the same files in place, checks every part against the seal, and answers with",
        "one executor of one core.  Driver and executor have heaps of",
        f"{HEAP} MB; a Python process beside the executor does the sums, so that the memory of",
        "the executor is its heap and the peak of Python.  Peaks are the largest resident sizes",
        "(`VmHWM`).  The load is how many processes of the machine ran or waited at the end.",
        "",
        f"Machine: {os.cpu_count()} cores; Python {platform.python_version()}.",
    ]
    for name in TASKS:
        sizes = [row for row in rows if row.task == name]
        if sizes:
            lines += section(name, sizes)
    return "\n".join(lines) + "\n"


def section(name: str, rows: list[Answered]) -> list[str]:
    """Return the lines about a task."""
    title = TASKS[name]
    lines = [
        "",
        f"## {title[0].upper()}{title[1:]}",
        "",
        "| reports | parts | log MB | log / memory | collector s | collector MiB | Spark s |"
        " Spark µs a report | Python MiB | executor MiB | load |",
        "|---:" * 11 + "|",
    ]
    lines += [
        f"| {row.reports:,} | {row.parts} | {row.log_megabytes:,.0f} | {row.log_share:.1f} |"
        f" {row.collector_seconds:.1f} | {row.collector_peak:.0f} | {row.spark_seconds:.1f} |"
        f" {1e6 * row.spark_seconds / row.reports:.1f} | {row.python_peak:.0f} |"
        f" {row.executor_peak:.0f} | {row.load:.1f} |"
        for row in rows
    ]
    equal = (
        "All 1,024 estimates of Spark and of the collector are equal, bit for bit, in every row:"
    )
    if name == "table":
        equal = "The numbers of both and their variances agree to nine digits in every row:"
    lines += ["", equal, "the script writes no row otherwise."]
    if len(rows) > 1:
        counts = [row.reports for row in rows]
        power = exponent(counts, [row.spark_seconds for row in rows])
        lines.append(f"The time of Spark grows with the power {power:.2f} of the reports.")
    lines.append(f"The log of the last row is {rows[-1].log_share:.1f} times that memory.")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where logs are made")
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--reports", default="", help="sizes, separated by commas")
    parser.add_argument("--task", choices=TASKS, default="unary")
    options = parser.parse_args()
    for reports in (int(size) for size in options.reports.split(",") if size):
        row = measure(options.folder / options.task, options.task, reports)
        with options.kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
    kept = [json.loads(line) for line in options.kept.read_text(encoding="utf-8").splitlines()]
    rows = {(row.task, row.reports): row for row in (Answered(**line) for line in kept)}
    EVIDENCE.write_text(page([rows[size] for size in sorted(rows)]), encoding="utf-8")


if __name__ == "__main__":
    main()
