"""Dates in queries: literals, parts, truncation and intervals.

A date is the number of minutes from the beginning of 1970 to its own beginning, so that a month or
a day is compared like its first moment.  Everything here is about arrays of such numbers.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Ints

DAY = 24 * 60  # minutes

_LITERAL = re.compile(r"[1-9]\d{3}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d(\.0+)?)?)?)?)?)?", re.ASCII)
_AMOUNT = re.compile(r"\s*([+-]?\d{1,9})\s*([A-Za-z]+)\s*", re.ASCII)


@dataclass(frozen=True)
class Interval:
    """A span of time: months, whose lengths differ, and minutes."""

    months: int = 0
    minutes: int = 0

    def times(self, sign: int) -> "Interval":
        """Return the span forwards or backwards."""
        return Interval(sign * self.months, sign * self.minutes)

    def after(self, moments: Ints) -> Ints:
        """Return the moments that lie so much later; a month ends with its last day."""
        moved = moments
        if self.months:
            days = _days(moments)
            within = moments - days.astype(np.int64) * DAY
            month = days.astype("datetime64[M]")
            day = (days - month.astype("datetime64[D]")).astype(np.int64)
            wanted = month + self.months
            lengths = (wanted + 1).astype("datetime64[D]") - wanted.astype("datetime64[D]")
            kept = np.minimum(day, lengths.astype(np.int64) - 1)
            moved = (wanted.astype("datetime64[D]").astype(np.int64) + kept) * DAY + within
        return np.asarray(moved + self.minutes)


_SPANS = {
    "minute": Interval(minutes=1),
    "hour": Interval(minutes=60),
    "day": Interval(minutes=DAY),
    "week": Interval(minutes=7 * DAY),
    "month": Interval(months=1),
    "quarter": Interval(months=3),
    "year": Interval(months=12),
}
SPANS = tuple(_SPANS)


def moment(text: str) -> int | None:
    """Return the beginning of a date that is written as text; None if it is no date.

    >>> moment("1970-01-02"), moment("1970-01-01 00:30"), moment("1970-13-01")
    (1440, 30, None)
    """
    if not _LITERAL.fullmatch(text):
        return None
    try:
        return int(np.datetime64(text).astype("datetime64[m]").astype(np.int64))
    except ValueError:
        return None


def interval(text: str, amount: int | None = None) -> Interval | None:
    """Return a span such as ``7 days``, or so many of a unit; None if it is not one.

    >>> interval("2 weeks"), interval("MONTH", 3)
    (Interval(months=0, minutes=20160), Interval(months=3, minutes=0))
    """
    if amount is None:
        found = _AMOUNT.fullmatch(text)
        return interval(found.group(2), int(found.group(1))) if found else None
    unit = text.lower()
    span = _SPANS.get(unit) or _SPANS.get(unit.removesuffix("s"))
    return None if span is None else Interval(amount * span.months, amount * span.minutes)


def truncated(unit: str, moments: Ints) -> Ints | None:
    """Return the beginning of the unit that each moment is in; None for an unknown unit."""
    if unit in ("minute", "hour", "day"):
        width = _SPANS[unit].minutes
        return moments // width * width
    days = _days(moments)
    if unit == "week":
        days = days - _weekday(days)
    elif unit == "quarter":
        months = days.astype("datetime64[M]")
        days = (months - months.astype(np.int64) % 3).astype("datetime64[D]")
    elif unit in ("month", "year"):
        days = days.astype(f"datetime64[{unit[0].upper()}]").astype("datetime64[D]")
    else:
        return None
    return np.asarray(days.astype(np.int64) * DAY)


def part(name: str, moments: Ints) -> Ints | None:
    """Return a part of each moment as a number, such as its month; None for an unknown part."""
    function = PARTS.get(name)
    return None if function is None else np.asarray(function(moments))


def boundary(unit: str, moments: Ints) -> Ints | None:
    """Return how many units begin from 1970 up to each moment; None for an unknown unit, and for
    weeks, of which it depends on the other date where they begin.

    >>> boundary("month", np.array([0, 40 * DAY])).tolist()
    [0, 1]
    """
    if unit in ("minute", "hour", "day"):
        return np.asarray(moments) // _SPANS[unit].minutes
    if unit in ("month", "quarter", "year"):
        months = _days(moments).astype("datetime64[M]").astype(np.int64)
        return np.asarray(months // _SPANS[unit].months)
    return None


def text_of(moments: Ints) -> list[str]:
    """Return moments as text, without the time of day where all are midnight.

    >>> text_of(np.array([0, 1440])), text_of(np.array([90]))
    (['1970-01-01', '1970-01-02'], ['1970-01-01 01:30'])
    """
    if (moments % DAY == 0).all():
        return [str(text) for text in np.datetime_as_string(_days(moments))]
    texts = np.datetime_as_string(moments.astype("datetime64[m]"))
    return [str(text).replace("T", " ") for text in texts]


def _days(moments: Ints) -> Any:
    return np.asarray(np.asarray(moments) // DAY).astype("datetime64[D]")


def _weekday(days: Any) -> Ints:
    """Return the day of the week, Monday being 0: the first day of 1970 was a Thursday."""
    return np.asarray((days.astype(np.int64) + 3) % 7)


def _since(unit: str, of: str) -> Callable[[Ints], Ints]:
    """Return what counts units since the beginning of a longer one, from 1 on."""

    def count(moments: Ints) -> Ints:
        fine = _days(moments).astype(f"datetime64[{unit}]")
        return np.asarray((fine - fine.astype(f"datetime64[{of}]")).astype(np.int64) + 1)

    return count


def _iso_week(moments: Ints) -> Ints:
    """Return the ISO week: that of the Thursday of the same week."""
    days = _days(moments)
    thursday = days - _weekday(days) + 3
    year = thursday.astype("datetime64[Y]").astype("datetime64[D]")
    return np.asarray((thursday - year).astype(np.int64) // 7 + 1)


_month = _since("M", "Y")
PARTS: dict[str, Callable[[Ints], Any]] = {
    "year": lambda moments: _days(moments).astype("datetime64[Y]").astype(np.int64) + 1970,
    "quarter": lambda moments: (_month(moments) - 1) // 3 + 1,
    "month": _month,
    "week": _iso_week,
    "day": _since("D", "M"),
    "dayofmonth": _since("D", "M"),
    "dow": lambda moments: (_weekday(_days(moments)) + 1) % 7,
    "dayofweek": lambda moments: (_weekday(_days(moments)) + 1) % 7,
    "weekday": lambda moments: (_weekday(_days(moments)) + 1) % 7,
    "isodow": lambda moments: _weekday(_days(moments)) + 1,
    "doy": _since("D", "Y"),
    "dayofyear": _since("D", "Y"),
    "hour": lambda moments: np.asarray(moments) % DAY // 60,
    "minute": lambda moments: np.asarray(moments) % 60,
}
