"""Arithmetic about a day of reports, from costs that are given."""

import pytest

from sottovoce.lab.experiments.daily_reports import BUSIEST_HOUR, LOAD, Costs, Needs, page

ROWS = [
    {"name": "1 per request: accepted and durable", "figure": 5_000.0},
    {"name": "1,000 per request: accepted and durable", "figure": 100_000.0},
    {"name": "disk while open, messages of 54 bytes", "figure": 145.0},
    {"name": "disk once sealed", "figure": 25.0},
    {"name": "decode 1,000,000 reports, size 2^10, k = 2", "figure": 4.0},
]


def test_costs_are_read_from_the_rows_of_benchmarks():
    costs = Costs.of(ROWS)
    assert (costs.alone_per_second, costs.relayed_per_second) == (5_000, 100_000)
    assert (costs.message_bytes, costs.open_bytes, costs.sealed_bytes) == (54, 145, 25)
    assert costs.decode_nanoseconds == 4


def test_needs_follow_from_costs():
    needs = Needs(10**9, Costs.of(ROWS))
    assert needs.busiest_second == pytest.approx(10**9 * BUSIEST_HOUR / 3600)
    assert needs.processes(5_000) == 9  # 22,222 a second, 2,500 of them for each
    assert needs.processes(100_000) == 1
    assert needs.megabits == pytest.approx(8 * 54 * needs.busiest_second / 1e6)
    assert (needs.open_gigabytes, needs.kept_gigabytes) == pytest.approx((145, 750))
    assert needs.decode_seconds == pytest.approx(4)
    assert LOAD == 0.5


def test_the_page_has_a_line_for_every_number_of_devices():
    text = page(ROWS)
    for devices in ("1,000,000 |", "100,000,000 |", "1,000,000,000 |"):
        assert f"| {devices}" in text
    assert "not a test with a billion devices" in text
