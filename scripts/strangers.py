"""Uploads among strangers: ``python scripts/strangers.py``, part of ``make soak``.

A real collector takes uploads at a steady pace, in turns alone and while 500 connections send their
headers or bodies one byte a second and two analysts ask queries that compute all the time
(``tests/system/strangers.py``).  The 99th percentile of the uploads may at most double.

The measurement is made twice, with the data in memory and on a disk: an upload waits for the disk
to have it, and a machine whose cores are busy may have a slow disk.  A control says how slow:
uploads while processes that only count take the place of the queries.  Uploads among strangers are
judged by their growth over uploads alone, and over the control only where that is too much and the
probe shows that the machine is slower when it is busy (docs/decisions/0091).
What was seen goes to ``docs/evidence/strangers.md``; anything wrong makes the exit code 1.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVIDENCE = HERE.parent / "docs" / "evidence" / "strangers.md"
sys.path.insert(0, str(HERE.parent / "tests"))

from system.strangers import (  # noqa: E402
    PROBE_PAUSE,
    QUERY,
    Comparison,
    Ratio,
    Size,
    measure,
)

MAX_RATIO = 2.0
MEMORY = Path("/dev/shm")  # where the system has it


def main() -> None:
    """Measure, write the page, and exit with 1 if uploads suffer."""
    wanted = arguments()
    size = Size(wanted.connections, wanted.people, wanted.seconds, wanted.pairs)
    comparisons = {}
    for parent in wanted.folders.split(","):
        with tempfile.TemporaryDirectory(dir=parent) as folder:
            name = file_system_of(Path(folder))
            print(f"on {name}")
            comparisons[name] = measure(Path(folder) / "data", size, print)
    findings = [
        f"{name}: {finding}"
        for name, comparison in comparisons.items()
        for finding in [*comparison.findings, *_growth(comparison)]
    ]
    EVIDENCE.write_text("\n".join(page(size, comparisons, findings)) + "\n", encoding="utf-8")
    for finding in findings:
        print(finding, file=sys.stderr)
    sys.exit(bool(findings))


def _growth(comparison: Comparison) -> list[str]:
    judgement = comparison.judged(MAX_RATIO)
    ratio = judgement.growth.value
    if ratio <= MAX_RATIO:
        return []
    return [f"the 99th percentile of uploads grows {ratio:.2f} times over {judgement.over}"]


def arguments() -> argparse.Namespace:
    """Return how much of everything is wanted."""
    both = f"{MEMORY},{tempfile.gettempdir()}" if MEMORY.is_dir() else tempfile.gettempdir()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=5.0, help="of one phase")
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--folders", default=both, help="where the data lie, one after another")
    return parser.parse_args()


def file_system_of(folder: Path) -> str:
    """Return the kind of the file system that a folder is on."""
    command = ["stat", "--file-system", "--format", "%T", str(folder)]
    return subprocess.check_output(command, text=True).strip()


def page(size: Size, comparisons: dict[str, Comparison], findings: list[str]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Uploads among strangers\n"
    yield "Written by `scripts/strangers.py`, part of `make soak`.\n"
    yield f"Uploads of one report each, 200 a second over 4 connections. Phases of {size.seconds:g}"
    yield f"seconds take turns, {size.pairs} of each on one server: alone; in the control, while"
    yield "two processes that only count keep the same cores busy as queries would; and while"
    yield f"{size.connections} connections send their headers or bodies one byte a second and two"
    yield f"analysts ask `{QUERY}`"
    yield f"over {size.people:,} people, one query after another. Latency counts from the moment"
    yield "a request was due. An upload is answered when the disk has it, so a probe beside"
    yield "the server writes a page to a file of its own on the same file system every"
    yield f"{1000 * PROBE_PAUSE:g} ms and waits for the disk, in the same phases."
    yield ""
    yield "Percentiles of all phases together, in milliseconds, and their ratio with a 95 %"
    yield "interval (bootstrap over pairs of phases). For the 99th percentile of uploads"
    yield f"a ratio of at most {MAX_RATIO:g} over uploads alone is allowed. Where it is larger, and"
    yield "uploads and the probe show that the machine itself is slower when it is busy, the ratio"
    yield "over the control is judged ([decision](../decisions/0091-uploads-on-a-busy-machine.md))."
    yield ""
    yield "| data on | what | before | then | ratio | interval |"
    yield "|---|---|---:|---:|---:|---|"
    for name, comparison in comparisons.items():
        for percentile in (50, 90, 99):
            what = f"uploads, {percentile} %: alone, among strangers"
            yield _row(name, what, comparison.uploads(percentile))
        what = "uploads, 99 %: alone, in the control"
        yield _row(name, what, comparison.uploads_when_busy())
        what = "uploads, 99 %: in the control, among strangers"
        yield _row(name, what, comparison.uploads_beyond_busy())
        what = "writes and syncs of the probe, 99 %: alone, among strangers"
        yield _row(name, what, comparison.syncs())
        what = "writes and syncs of the probe, 99 %: alone, in the control"
        yield _row(name, what, comparison.syncs_when_busy())
    yield ""
    for name, comparison in comparisons.items():
        yield _told(name, comparison)
    yield f"\nSeen on {platform.machine()} with Python {platform.python_version()} and"
    yield f"{os.cpu_count()} cores. Findings: {'; '.join(findings) or 'none'}."


def _row(name: str, what: str, found: Ratio) -> str:
    cells = f"{1000 * found.alone:.1f} | {1000 * found.among:.1f} | {found.value:.2f}"
    return f"| {name} | {what} | {cells} | {found.low:.2f} to {found.high:.2f} |"


def _told(name: str, comparison: Comparison) -> str:
    phases = (*comparison.alone, *comparison.among, *comparison.control)
    uploads = sum(len(phase.latencies) for phase in phases)
    return (
        f"- On {name} {uploads:,} uploads were accepted, strangers opened {comparison.opened:,}\n"
        f"  connections, because the collector closes slow ones, and {comparison.answered} queries"
        " were answered.\n"
        f"  {_verdict_on(comparison)}\n"
        f"  The load average of the machine, everything included, was"
        f" {comparison.load_before:.1f} before."
    )


def _verdict_on(comparison: Comparison) -> str:
    """Return both growths of the 99th percentile, which one is judged, and the verdict."""
    judgement = comparison.judged(MAX_RATIO)
    over_alone, over_control = comparison.uploads(), comparison.uploads_beyond_busy()
    return (
        f"The 99th percentile grows {_within(over_alone)} over uploads alone,"
        f" and {_within(over_control)} over the control.\n"
        f"  Judged is the growth over {judgement.over}: {judgement.reason}."
        f" {_verdict(judgement.growth)}"
    )


def _within(growth: Ratio) -> str:
    word = "within" if growth.value <= MAX_RATIO else "above"
    return f"{growth.value:.2f} times ({word} {MAX_RATIO:g})"


def _verdict(uploads: Ratio) -> str:
    if uploads.high <= MAX_RATIO:
        return f"The whole interval is below {MAX_RATIO:g}."
    if uploads.low > MAX_RATIO:
        return f"The whole interval is above {MAX_RATIO:g}."
    return f"The interval holds {MAX_RATIO:g}: this run does not decide."


if __name__ == "__main__":
    main()
