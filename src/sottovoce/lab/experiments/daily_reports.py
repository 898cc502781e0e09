"""What a number of reports a day would need: cores, disk and network, from measured costs.

    python -m sottovoce.lab.experiments.daily_reports > docs/scale.md

The costs are read from two pages of evidence, ``door.md`` and ``scale.md``, which scripts write
from their measurements.  Everything else is arithmetic, and assumptions are listed.
"""

import argparse
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from sottovoce.lab.bench import collecting

DAY_SECONDS = 86_400
BUSIEST_HOUR = 0.08  # the share of a day's reports that come within its busiest hour
LOAD = 0.5  # the share of a core that is planned for, so that a lost machine is no outage
CORES = 16  # of one machine
KEPT_DAYS = 30  # until sealed reports are erased
QUESTIONS_A_DAY = 100  # in SQL, each of which reads every report of a day
RELAYED = 1_000  # reports that a relay joins to one request
DEVICES = (10**6, 10**8, 10**9)

_EVIDENCE = Path("docs/evidence")
_HISTOGRAM = "A histogram"
_TABLE = "A table"


@dataclass(frozen=True)
class Costs:
    """What one report costs at the collector."""

    alone_per_second: float  # reports that one core takes one by one
    relayed_per_second: float  # reports that one core takes in requests of a thousand
    alone_bytes: float  # of a request with one report
    relayed_bytes: float  # of a report in a request of a thousand
    open_bytes: float  # on the disk while its round is open
    sealed_bytes: float  # on the disk once it is sealed
    answer_microseconds: float  # to seal it, to test and step its round, and to answer
    measured_reports: float  # of the round that was answered
    query_microseconds: float  # to answer a question in SQL that reads it

    @classmethod
    def of(cls, door: str, scale: str) -> "Costs":
        """Return the costs that the pages of evidence state."""
        speeds = {
            number(row["reports a request"]): number(row["reports a processor second"])
            for row in table(door)
            if row["workers"] == "1"
        }
        histogram = table(scale, _HISTOGRAM)
        largest = max(histogram, key=lambda row: number(row["reports"]))
        over_http = [row for row in histogram if row["by"] == "http"]
        asked = max(table(scale, _TABLE), key=lambda row: number(row["reports"]))
        return cls(
            alone_per_second=speeds[1],
            relayed_per_second=speeds[RELAYED],
            alone_bytes=_request_bytes(1),
            relayed_bytes=_request_bytes(RELAYED) / RELAYED,
            open_bytes=number(over_http[-1]["store bytes a report"]),
            sealed_bytes=number(largest["log bytes a report"]),
            answer_microseconds=number(largest["µs a report"]),
            measured_reports=number(largest["reports"]),
            query_microseconds=1e6 * number(asked["answer s"]) / number(asked["reports"]),
        )


def _request_bytes(size: int) -> int:
    """Return the bytes of a request with so many reports, its headers included."""
    (request,) = collecting.requests(collecting.messages(size, seed=[1]), size)
    return len(request)


@dataclass(frozen=True)
class Needs:
    """What a number of devices needs that report once a day each."""

    devices: int
    costs: Costs

    @property
    def busiest_second(self) -> float:
        """Return the reports of a second of the busiest hour."""
        return self.devices * BUSIEST_HOUR / 3_600

    def door_cores(self, per_second: float) -> int:
        """Return the cores at the door that take so many reports a second each."""
        return ceil(self.busiest_second / (LOAD * per_second))

    def megabits(self, report_bytes: float) -> float:
        """Return the network of the busiest second if a report has so many bytes."""
        return 8e-6 * self.busiest_second * report_bytes

    def cores(self, microseconds: float) -> int:
        """Return the cores that spend so long on every report of a day."""
        return ceil(1e-6 * microseconds * self.devices / (LOAD * DAY_SECONDS))

    @property
    def open_gigabytes(self) -> float:
        """Return the disk of a day that is open."""
        return 1e-9 * self.devices * self.costs.open_bytes

    @property
    def kept_gigabytes(self) -> float:
        """Return the disk of all sealed days that are kept."""
        return 1e-9 * KEPT_DAYS * self.devices * self.costs.sealed_bytes

    @property
    def all_cores(self) -> int:
        """Return the cores for all of it, if devices report one by one."""
        questions = QUESTIONS_A_DAY * self.costs.query_microseconds
        return (
            self.door_cores(self.costs.alone_per_second)
            + self.cores(self.costs.answer_microseconds)
            + self.cores(questions)
        )

    @property
    def machines(self) -> int:
        """Return the machines with so many cores."""
        return ceil(self.all_cores / CORES)

    def row(self) -> list[str]:
        """Return what the page says about this number of devices."""
        costs = self.costs
        questions = QUESTIONS_A_DAY * costs.query_microseconds
        return [
            f"{self.devices:,}",
            f"{self.busiest_second:,.0f}",
            f"{self.door_cores(costs.alone_per_second):,}",
            f"{self.door_cores(costs.relayed_per_second):,}",
            f"{self.megabits(costs.alone_bytes):,.1f}",
            f"{self.megabits(costs.relayed_bytes):,.1f}",
            f"{self.open_gigabytes:,.1f}",
            f"{self.kept_gigabytes:,.0f}",
            f"{self.cores(costs.answer_microseconds):,}",
            f"{self.cores(questions):,}",
            f"{self.machines:,}",
        ]


def table(page: str, heading: str = "") -> list[dict[str, str]]:
    """Return the rows of the first table below a heading that begins like this.

    >>> table("# Sizes\\n\\n| reports | load |\\n|---:|---:|\\n| 1,000 | 2 |\\n", "Sizes")
    [{'reports': '1,000', 'load': '2'}]
    """
    lines = page.splitlines()
    start = 0
    if heading:
        start = next(
            index for index, line in enumerate(lines) if line.lstrip("# ").startswith(heading)
        )
    first = next(index for index in range(start, len(lines)) if lines[index].startswith("|"))
    names = _cells(lines[first])
    rows = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(names, _cells(line), strict=True)))
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(cell: str) -> float:
    """Return the number in a cell.

    >>> number("1,000 MB")
    1000.0
    """
    return float(cell.replace(",", "").split()[0])


def page(door: str, scale: str) -> str:
    """Return the page, from two pages of evidence."""
    costs = Costs.of(door, scale)
    head = _HEAD.format(**vars(costs), **_ASSUMED)
    lines = [f"{head}| {' | '.join(_COLUMNS)} |", "|---:" * len(_COLUMNS) + "|"]
    lines += [f"| {' | '.join(Needs(devices, costs).row())} |" for devices in DEVICES]
    return "\n".join([*lines, _TAIL, ""])


_ASSUMED = {
    "busiest": f"{BUSIEST_HOUR:.0%}",
    "load": f"{LOAD:.0%}",
    "cores": CORES,
    "days": KEPT_DAYS,
    "questions": f"{QUESTIONS_A_DAY:,}",
}
_HEAD = """# A billion devices a day

Printed by `python -m sottovoce.lab.experiments.daily_reports` from the figures that stand in
[reports at the door](evidence/door.md) and [rounds of many sizes](evidence/scale.md) now; a test
compares.  This is arithmetic with measured costs, not a test with a billion devices.

| measured | |
|---|---:|
| durable reports a second of one core, one a request | {alone_per_second:,.0f} |
| durable reports a second of one core, a thousand a request | {relayed_per_second:,.0f} |
| bytes of a request with one report | {alone_bytes:,.0f} |
| bytes of a report in a request of a thousand | {relayed_bytes:,.0f} |
| bytes on disk while its round is open | {open_bytes:,.1f} |
| bytes on disk once sealed | {sealed_bytes:,.1f} |
| microseconds to seal, test and answer | {answer_microseconds:,.1f} |
| reports of the round that this was measured on | {measured_reports:,.0f} |
| microseconds of a question in SQL for each report | {query_microseconds:,.1f} |

Assumed: every device reports once a day; {busiest} of a day's reports come within its busiest
hour; a core is planned for {load} of what it can do; a machine has {cores} cores; sealed reports
are kept for {days} days; {questions} questions a day read every report of a day; what a report
costs does not grow beyond the largest round that was measured.

"""
_COLUMNS = (
    "devices",
    "reports a second, busiest",
    "cores at the door",
    "behind relays",
    "Mbit/s",
    "behind relays",
    "GB open",
    "GB kept",
    "cores to seal and answer",
    "cores for SQL",
    "machines",
)
_TAIL = """
* **Door.** Reports one by one cost a request each; a relay that joins a thousand makes the store
  the limit.  Several machines write to one PostgreSQL, or each to a collector of its own: tallies
  add.
* **Network.** Bytes of requests with the headers of the load generator; TLS, and headers that a
  browser adds, come on top.
* **Disk.** An open round holds the index of report ids too.  Once sealed, histograms are answered
  from tallies; SQL needs the reports.
* **Answers.** Histograms read a tally of kilobytes, which is made once.  Only questions in SQL read
  reports again.  Rounds of one day may be several tasks, so that several machines seal them."""


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description="What a number of reports a day would need.")
    parser.add_argument("--door", type=Path, default=_EVIDENCE / "door.md")
    parser.add_argument("--scale", type=Path, default=_EVIDENCE / "scale.md")
    given = parser.parse_args()
    door, scale = (path.read_text(encoding="utf-8") for path in (given.door, given.scale))
    print(page(door, scale), end="")


if __name__ == "__main__":
    main()
