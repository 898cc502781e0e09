"""Uploads among strangers: ``python scripts/strangers.py``, part of ``make soak``.

A real collector takes uploads at a steady pace, first alone, then while 500 connections send their
headers or bodies one byte a second and two analysts ask queries that compute all the time
(``tests/system/strangers.py``).  The 99th percentile of the uploads may at most double.  What was
seen goes to ``docs/evidence/strangers.md``; anything wrong makes the exit code 1.

An upload waits for the disk to have it.  Where other work keeps the disk busy, the waits for it
hide what strangers do: ``--folder /dev/shm`` keeps the data in memory.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVIDENCE = HERE.parent / "docs" / "evidence" / "strangers.md"
sys.path.insert(0, str(HERE.parent / "tests"))

from system.strangers import QUERY, Comparison, Size, measure  # noqa: E402

MAX_RATIO = 2.0
BUSY = "\nThe machine was busy with other work"
UNFAIR = (
    ", which moves these figures more than strangers do: they are no evidence before they were seen"
    " on a quiet machine."
)
PREFERRED = ", over which this run had priority (nice {niceness})."


def main() -> None:
    """Measure, write the page, and exit with 1 if uploads suffer."""
    wanted = arguments()
    size = Size(wanted.connections, wanted.people, wanted.seconds, wanted.pairs)
    with tempfile.TemporaryDirectory(dir=wanted.folder) as folder:
        file_system = file_system_of(Path(folder))
        comparison = measure(Path(folder) / "data", size, print)
    if comparison.ratio() > MAX_RATIO:
        comparison.findings.append(f"the 99th percentile grows {comparison.ratio():.2f} times")
    EVIDENCE.write_text(page(comparison, file_system), encoding="utf-8")
    for finding in comparison.findings:
        print(finding, file=sys.stderr)
    sys.exit(bool(comparison.findings))


def arguments() -> argparse.Namespace:
    """Return how much of everything is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--folder", help="where the data lies; a temporary folder by default")
    return parser.parse_args()


def file_system_of(folder: Path) -> str:
    """Return the kind of the file system that a folder is on."""
    command = ["stat", "--file-system", "--format", "%T", str(folder)]
    return subprocess.check_output(command, text=True).strip()


def page(comparison: Comparison, file_system: str) -> str:
    """Return what was seen as a page of the documentation."""
    size = comparison.size
    lines = [
        "# Uploads among strangers\n",
        "Written by `scripts/strangers.py`, part of `make soak`.\n",
        f"Uploads of one report each, 200 a second over 4 connections, for {size.seconds:g} seconds"
        " at a time: alone, and",
        f"while {size.connections} connections send their headers or bodies one byte a second and"
        " two analysts ask, all the time,",
        f"`{QUERY}` over {size.people:,} people. Latency counts from the moment a request was due;"
        " milliseconds.\n",
        "| pair | median alone | median among | p99 alone | p99 among | ratio of p99 |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for number, (alone, among) in enumerate(
        zip(comparison.alone, comparison.among, strict=True), 1
    ):
        cells = [phase.percentile(share) for share in (50, 99) for phase in (alone, among)]
        shown = " | ".join(f"{1000 * cell:.1f}" for cell in cells)
        lines.append(f"| {number} | {shown} | {cells[3] / cells[2]:.2f} |")
    lines += [
        f"\nThe median ratio is {comparison.ratio():.2f}; at most {MAX_RATIO:g} is allowed."
        f" Strangers opened {comparison.opened:,} connections,",
        f"because the collector closes slow ones. {len(comparison.queries)} queries were answered"
        " meanwhile.\n",
        f"Seen on {platform.machine()} with Python {platform.python_version()} and"
        f" {os.cpu_count()} cores, with the data on {file_system}; the load average of the"
        " machine, everything included, was"
        f" {comparison.load_before:.1f} before and {os.getloadavg()[0]:.1f} after. Findings:"
        f" {'; '.join(comparison.findings) or 'none'}.",
    ]
    if comparison.load_before > (os.cpu_count() or 1):
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        preferred = niceness < 0
        lines.append(BUSY + (PREFERRED.format(niceness=niceness) if preferred else UNFAIR))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
