"""What a number of reports a day would need: machines, disk and network, from measured costs.

    python -m sottovoce.lab.experiments.daily_reports > docs/scale.md

The costs are measured in the same run, or taken from the rows of ``sottovoce bench --json`` in a
file that is named.  Everything else is arithmetic, and assumptions are listed.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

TOPICS = ("collecting", "affine")
DAY_SECONDS = 86_400
BUSIEST_HOUR = 0.08  # the share of a day's reports that come within its busiest hour
LOAD = 0.5  # the share of a core that is planned for, so that a lost machine is no outage
CORES = 16  # of one machine
KEPT_DAYS = 30  # until sealed reports are erased
ANSWERS_A_DAY = 1_000  # questions that read every report of a day
DEVICES = (10**6, 10**8, 10**9)


@dataclass(frozen=True)
class Costs:
    """What one report costs at the collector."""

    alone_per_second: float  # reports that one process takes one by one
    relayed_per_second: float  # reports that one process takes in requests of a thousand
    open_bytes: float  # on the disk while its round is open
    sealed_bytes: float  # on the disk once it is sealed
    message_bytes: float
    decode_nanoseconds: float  # of one core, for all values of a domain

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> "Costs":
        """Return the costs that rows of benchmarks state."""
        disk = _row(rows, "disk while open")
        return cls(
            alone_per_second=_row(rows, "1 per request: accepted and durable")["figure"],
            relayed_per_second=_row(rows, "1,000 per request: accepted and durable")["figure"],
            open_bytes=disk["figure"],
            sealed_bytes=_row(rows, "disk once sealed")["figure"],
            message_bytes=float(disk["name"].split("messages of ")[1].split()[0]),
            decode_nanoseconds=_row(rows, "decode")["figure"],
        )


@dataclass(frozen=True)
class Needs:
    """What a number of devices needs that report once a day each."""

    devices: int
    costs: Costs

    @property
    def busiest_second(self) -> float:
        """Return the reports of a second of the busiest hour."""
        return self.devices * BUSIEST_HOUR / 3_600

    def processes(self, per_second: float) -> int:
        """Return the processes at the door that take so many reports a second each."""
        return ceil(self.busiest_second / (LOAD * per_second))

    @property
    def door_processes(self) -> int:
        """Return the processes at the door, if devices report one by one."""
        return self.processes(self.costs.alone_per_second)

    @property
    def relayed_processes(self) -> int:
        """Return the processes at the door behind relays that join a thousand reports."""
        return self.processes(self.costs.relayed_per_second)

    @property
    def megabits(self) -> float:
        """Return the network of the busiest second, in megabits, without the overhead of HTTP."""
        return 8e-6 * self.busiest_second * self.costs.message_bytes

    @property
    def open_gigabytes(self) -> float:
        """Return the disk of a day that is open."""
        return 1e-9 * self.devices * self.costs.open_bytes

    @property
    def kept_gigabytes(self) -> float:
        """Return the disk of all sealed days that are kept."""
        return 1e-9 * KEPT_DAYS * self.devices * self.costs.sealed_bytes

    @property
    def decode_seconds(self) -> float:
        """Return the seconds in which one core decodes a day."""
        return 1e-9 * self.devices * self.costs.decode_nanoseconds

    @property
    def answer_cores(self) -> int:
        """Return the cores that read every report of a day for every question."""
        return ceil(ANSWERS_A_DAY * self.decode_seconds / (LOAD * DAY_SECONDS))

    @property
    def machines(self) -> int:
        """Return the machines for all of it, without relays: a core for every process."""
        return ceil((self.door_processes + self.answer_cores) / CORES)


def page(rows: Sequence[dict[str, Any]]) -> str:
    """Return the page."""
    costs = Costs.of(rows)
    head = _HEAD.format(**vars(costs), **_ASSUMED)
    rule = "|---:" * len(_COLUMNS)
    lines = [f"{head}| {' | '.join(_COLUMNS)} |\n{rule}|"]
    for devices in DEVICES:
        needs = Needs(devices, costs)
        lines.append(
            f"| {devices:,} | {needs.busiest_second:,.0f} | {needs.megabits:,.1f}"
            f" | {needs.door_processes:,} | {needs.relayed_processes:,}"
            f" | {needs.open_gigabytes:,.1f} | {needs.kept_gigabytes:,.0f}"
            f" | {needs.decode_seconds:,.2g} | {needs.answer_cores:,}"
            f" | {needs.machines:,} |"
        )
    return "\n".join([*lines, _TAIL, ""])


def measured_rows() -> list[dict[str, Any]]:
    """Return the rows of the benchmarks that costs are read from."""
    from sottovoce.lab.bench import measure

    return [row.document() for topic in TOPICS for row in measure(topic, 1.0)]


def _row(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the first row with these words in its name."""
    return next(row for row in rows if name in row["name"])


_ASSUMED = {
    "busiest": f"{BUSIEST_HOUR:.0%}",
    "load": f"{LOAD:.0%}",
    "cores": CORES,
    "days": KEPT_DAYS,
    "answers": f"{ANSWERS_A_DAY:,}",
}
_HEAD = """# A billion devices a day

Printed by `python -m sottovoce.lab.experiments.daily_reports` from costs that
`sottovoce bench --only collecting --only affine` printed on a shared machine with two cores; those
of the collector stand in [deployment](deployment.md#size) too.  This is arithmetic with measured
costs, not a test with a billion devices.

| measured | |
|---|---:|
| durable reports a second of one process, one a request | {alone_per_second:,.0f} |
| durable reports a second of one process, a thousand a request | {relayed_per_second:,.0f} |
| bytes of a message | {message_bytes:,.0f} |
| bytes on disk while its round is open | {open_bytes:,.0f} |
| bytes on disk once sealed | {sealed_bytes:,.0f} |
| nanoseconds of one core to decode a report | {decode_nanoseconds:,.1f} |

Assumed: every device reports once a day; {busiest} of a day's reports come within its busiest
hour; processes are planned for {load} of what they can take; a machine has {cores} cores, each with
a process of its own; sealed reports are kept for {days} days; {answers} questions a day read every
report of a day.

"""
_COLUMNS = (
    "devices",
    "reports a second, busiest",
    "Mbit/s",
    "processes at the door",
    "behind relays",
    "GB open",
    "GB kept",
    "s to decode on a core",
    "cores for answers",
    "machines",
)
_TAIL = """
* **Door.** Reports one by one cost a request each; a relay that joins a thousand makes the store
  the limit.  Several processes write to PostgreSQL, or each to a collector of its own: tallies
  add.
* **Network.** Bytes of messages alone; headers and TLS of a request are several times as many
  where reports come one by one.
* **Disk.** An open round holds the index of report ids too.  Once sealed, histograms are answered
  from tallies; SQL needs the reports.
* **Answers.** Histograms read a tally of kilobytes, which is made once.  Only questions in SQL read
  reports again."""


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description="What a number of reports a day would need.")
    parser.add_argument("--rows", type=Path, help="rows of `sottovoce bench --json`")
    rows = parser.parse_args().rows
    print(page(json.loads(rows.read_text()) if rows else measured_rows()), end="")


if __name__ == "__main__":
    main()
