"""Arithmetic about a day of reports, from costs that pages of evidence state."""

from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.lab.experiments.daily_reports import BUSIEST_HOUR, LOAD, Costs, Needs, page

DOCS = Path(__file__).resolve().parents[3] / "docs"
DOOR = """# Reports at the door

| reports a request | workers | reports a processor second |
|---:|---:|---:|
| 1 | before | 1,000 |
| 1 | 1 | 5,000 |
| 1 | 2 | 4,000 |
| 1,000 | 1 | 100,000 |
"""
SCALE = """# Rounds of many sizes

## A histogram of 1,024 values

| reports | by | answer s | µs a report | store bytes a report | log bytes a report |
|---:|---:|---:|---:|---:|---:|
| 1,000 | store | 1.0 | 20.0 | 50.0 | 30.0 |
| 1,000 | http | 1.0 | 20.0 | 145.0 | 30.0 |
| 5,000 | store | 1.0 | 10.0 | 50.0 | 25.0 |

## A table of two columns

| reports | by | answer s |
|---:|---:|---:|
| 1,000,000 | store | 2.0 |
"""


def test_costs_are_read_from_the_pages_of_evidence():
    costs = Costs.of(DOOR, SCALE)
    assert (costs.alone_per_second, costs.relayed_per_second) == (5_000, 100_000)
    assert (costs.open_bytes, costs.sealed_bytes) == (145, 25)
    assert (costs.answer_microseconds, costs.measured_reports) == (10, 5_000)
    assert costs.query_microseconds == pytest.approx(2)
    assert costs.relayed_bytes < costs.alone_bytes, "headers are sent once"


def test_needs_follow_from_costs():
    costs = replace(Costs.of(DOOR, SCALE), alone_bytes=200)
    needs = Needs(10**9, costs)
    assert needs.busiest_second == pytest.approx(10**9 * BUSIEST_HOUR / 3600)
    assert needs.door_cores(5_000) == 9  # 22,222 a second, 2,500 of them for each
    assert needs.door_cores(100_000) == 1
    assert needs.megabits(200) == pytest.approx(8 * 200 * needs.busiest_second / 1e6)
    assert (needs.open_gigabytes, needs.kept_gigabytes) == pytest.approx((145, 750))
    assert needs.cores(10) == 1  # 10,000 seconds, of the 43,200 that are planned for
    assert needs.cores(200) == 5
    assert LOAD == 0.5
    assert needs.all_cores == 9 + 1 + 5
    assert needs.machines == 1


def test_the_page_has_a_line_for_every_number_of_devices():
    text = page(DOOR, SCALE)
    for devices in ("1,000,000 |", "100,000,000 |", "1,000,000,000 |"):
        assert f"| {devices}" in text
    assert "not a test with a billion devices" in text


def test_the_page_in_the_docs_has_the_figures_of_the_evidence():
    """Write it anew with ``python -m sottovoce.lab.experiments.daily_reports > docs/scale.md``."""
    door, scale = ((DOCS / "evidence" / name).read_text() for name in ("door.md", "scale.md"))
    assert (DOCS / "scale.md").read_text() == page(door, scale)
