"""Dates in queries: parts, truncation and intervals are those of DuckDB, day by day."""

import duckdb
import numpy as np
import pytest

from sottovoce.domains.dates import Dates
from sottovoce.sql import dates

HOURS = Dates("2023-12-01T00", "2024-03-31T23")
DAYS = Dates("2019-11-01", "2025-03-31")


@pytest.fixture(scope="module")
def plain():
    connection = duckdb.connect()
    for name, domain in (("hours", HOURS), ("days", DAYS)):
        texts = np.array([f"{label}:00" if "T" in label else label for label in domain.labels])
        connection.register("view", {"d": texts})
        connection.execute(f"CREATE TABLE {name} AS SELECT d::TIMESTAMP AS d FROM view")
    yield connection
    connection.close()


def column(plain, expression, table):
    return [row[0] for row in plain.execute(f"SELECT {expression} FROM {table}").fetchall()]


@pytest.mark.parametrize("name", dates.PARTS)
def test_parts_are_those_of_duckdb(plain, name):
    for table, domain in (("hours", HOURS), ("days", DAYS)):
        wanted = column(plain, f"DATE_PART('{name}', d)", table)
        assert dates.part(name, domain.starts).tolist() == wanted


@pytest.mark.parametrize("unit", dates.SPANS)
def test_truncation_and_intervals_are_those_of_duckdb(plain, unit):
    for table, domain in (("hours", HOURS), ("days", DAYS)):
        wanted = column(plain, f"EPOCH(DATE_TRUNC('{unit}', d))::BIGINT // 60", table)
        assert dates.truncated(unit, domain.starts).tolist() == wanted
    for amount in (-13, 1, 25):
        text = f"{amount} {unit}s"
        moved = column(plain, f"EPOCH(d + INTERVAL '{text}')::BIGINT // 60", "days")
        assert dates.interval(text).after(DAYS.starts).tolist() == moved


def test_what_is_no_date_part_or_interval_is_none():
    assert dates.part("century", DAYS.starts) is None
    assert dates.truncated("decade", DAYS.starts) is None
    for text in ("3 moons", "days", "", "1.5 days"):
        assert dates.interval(text) is None
    for text in ("2024-02-30", "5.5.2024", "now", "2024-05-17 25:00"):
        assert dates.moment(text) is None


@pytest.mark.parametrize("unit", ["minute", "hour", "day", "month", "quarter", "year"])
def test_differences_are_those_of_duckdb(plain, unit):
    for table, domain in (("hours", HOURS), ("days", DAYS)):
        wanted = column(plain, f"DATE_DIFF('{unit}', TIMESTAMP '1999-07-31', d)", table)
        start = np.array([dates.moment("1999-07-31")])
        found = dates.boundary(unit, domain.starts) - dates.boundary(unit, start)
        assert found.tolist() == wanted
    assert dates.boundary("week", DAYS.starts) is None
