"""Dates: texts, dates and datetimes to indices, whatever the unit, and what is refused."""

from datetime import UTC, date, datetime

import numpy as np
import pytest

from sottovoce.domains.dates import MAX_SIZE, Dates
from sottovoce.errors import DomainError, ParameterError


@pytest.mark.parametrize(
    ("first", "last", "unit", "size"),
    [
        ("1999", "2024", "year", 26),
        ("2023-11", "2024-02", "month", 4),
        ("2024-02-28", "2024-03-01", "day", 3),
        ("2024-02-29T22", "2024-03-01T01", "hour", 4),
        ("2024-12-31T23:59", "2025-01-01T00:00", "minute", 2),
    ],
)
def test_the_text_of_the_bounds_says_how_fine_values_are(first, last, unit, size):
    dates = Dates(first, last)
    assert (dates.unit, dates.size) == (unit, size)
    assert (dates.labels[0], dates.labels[-1], len(dates.labels)) == (first, last, size)
    assert dates.indices(dates.labels).tolist() == list(range(size))
    assert dates.described == f"a {unit} from {first} to {last}"


@pytest.mark.parametrize("dates", [Dates("1999", "2024"), Dates("2024-02-28", "2024-03-01")])
def test_one_label_is_that_of_all_labels(dates):
    labels = [dates.label_at(index) for index in range(dates.size)]
    assert labels == list(dates.labels)
    assert [dates.value_at(index) for index in range(dates.size)] == labels


def test_one_value_of_a_long_range_lists_no_others():
    dates = Dates("1995-01-01T00:00", "2026-11-24T00:00")
    assert dates.size > MAX_SIZE * 0.99
    assert dates.value_at(dates.size - 1) == dates.public_value(dates.last) == dates.last
    assert "labels" not in vars(dates)  # which would take gigabytes on a device


def test_what_a_value_says_beyond_the_unit_is_left_out():
    months = Dates("2024-01", "2024-12")
    held = ["2024-03", "2024-03-31", "2024-03-31 23:59", date(2024, 3, 1), datetime(2024, 3, 9, 8)]
    held += [np.datetime64("2024-03-05"), "2024-03-05T01:02:03.456"]
    assert months.indices(held).tolist() == [2] * len(held)
    assert months.public_value("2024-03-31 23:59") == "2024-03"
    assert months.indices([]).tolist() == []


def test_values_begin_at_their_first_minute():
    assert Dates("1970-01", "1970-02").starts.tolist() == [0, 31 * 24 * 60]
    assert Dates("1970-01-01T01", "1970-01-01T02").starts.tolist() == [60, 120]


@pytest.mark.parametrize(
    "value",
    [
        "2023-12-31",
        "2025-01-01",
        "2024-02-30",
        "2024-05",
        "2024",
        "17.05.2024",
        "2024-05-17Z",
        "2024-05-17T24:00",
        "2024-05-17T10:61",
        "",
        None,
        20240517,
        True,
        np.datetime64("NaT"),
        datetime(2024, 5, 17, tzinfo=UTC),
    ],
)
def test_what_is_no_day_of_the_year_is_refused(value):
    days = Dates("2024-01-01", "2024-12-31")
    with pytest.raises(DomainError, match="a value must be a day from 2024-01-01 to 2024-12-31"):
        days.indices(["2024-05-17", value])


@pytest.mark.parametrize(
    ("first", "last", "rule"),
    [
        ("2024-13-01", "2025-01-01", "`first` must be a date"),
        ("2024-01-01", "2024-02-30", "`last` must be a date"),
        ("2024-01-01 10", "2024-01-01 12", "`first` must be a date"),
        ("2024-01-01T00:00:00", "2024-01-01T00:00:59", "`first` must end with"),
        (2024, "2025", "`first` must be a date"),
        ("2024-01", "2024-01-31", "the same unit"),
        ("2024-01-02", "2024-01-02", "`size`"),
        ("2024-01-02", "2024-01-01", "`size`"),
        ("1900-01-01T00:00", "2024-01-01T00:00", "`size`"),
    ],
)
def test_impossible_bounds_are_refused(first, last, rule):
    with pytest.raises(ParameterError, match=rule):
        Dates(first, last)
    assert MAX_SIZE == 1 << 24


def test_cells_of_a_file_are_texts():
    days = Dates("2024-01-01", "2024-12-31")
    assert days.from_cells("day", ["2024-05-17"]) == ["2024-05-17"]
    with pytest.raises(DomainError, match="1 empty cells"):
        days.from_cells("day", ["2024-05-17", None])
