"""Dates: years, months, days, hours or minutes between two bounds.

The text of the bounds says how fine values are, as in ISO 8601:

    2024    2024-05    2024-05-17    2024-05-17T09    2024-05-17T09:30

A value is a text, a ``date`` or a ``datetime``; what it says beyond that unit is left out, so that
2024-05-17 is the month 2024-05.  There are no time zones: a device says what its calendar and its
clock show.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core import settings
from sottovoce.domains.base import (
    DECLINED,
    Cells,
    Domain,
    NumberCells,
    ValueType,
    refuse_empty_cells,
)
from sottovoce.errors import DomainError, ParameterError

# By the length of the text of a value: the code of the unit in NumPy, and its name.
UNITS = {4: ("Y", "year"), 7: ("M", "month"), 10: ("D", "day"), 13: ("h", "hour")}
UNITS |= {16: ("m", "minute")}
MAX_SIZE = 1 << 24

_MINUTES_OF_DAY = 24 * 60

_TIME = r"([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d{1,9})?)?)?"
_TEXT = re.compile(rf"[1-9]\d{{3}}(-\d\d(-\d\d([T ]{_TIME})?)?)?", re.ASCII)


@dataclass(frozen=True)
class Dates(Domain, kind="dates"):
    """The years, months, days, hours or minutes from ``first`` to ``last``, both included.

    >>> Dates("2024-01", "2024-12").indices(["2024-01-31", "2024-03"])
    array([0, 2])
    """

    first: str
    last: str

    def __post_init__(self) -> None:
        for name, text in (("first", self.first), ("last", self.last)):
            if not isinstance(text, str) or " " in text or _moment(text) is None:
                raise ParameterError(
                    f"`{name}` must be a date such as '2024', '2024-05', '2024-05-17', "
                    "'2024-05-17T09' or '2024-05-17T09:30'"
                )
            if len(text) not in UNITS:
                raise ParameterError(f"`{name}` must end with a year, month, day, hour or minute")
        if len(self.first) != len(self.last):
            raise ParameterError("`first` and `last` must be of the same unit, such as two days")
        settings.whole("size", self.size, 2, MAX_SIZE)

    @property
    def unit(self) -> str:
        """Return the unit of a value: year, month, day, hour or minute."""
        return UNITS[len(self.first)][1]

    @cached_property
    def _low(self) -> Any:
        return np.datetime64(self.first)

    @cached_property
    def size(self) -> int:
        return int((np.datetime64(self.last) - self._low).astype(np.int64)) + 1

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return every value as text."""
        return tuple(np.datetime_as_string(self._low + np.arange(self.size)).tolist())

    @property
    def starts(self) -> Ints:
        """Return when each value begins, in minutes from the beginning of 1970."""
        starts = (self._low + np.arange(self.size)).astype("datetime64[m]")
        return np.asarray(starts.astype(np.int64))

    def indices(self, values: Iterable[Any]) -> Ints:
        texts = [self._text(value) for value in values]
        if not texts:
            return np.array([], np.int64)
        known = [None if text is None else _moment(text) for text in texts]
        if any(moment is None for moment in known):
            self._refuse()
        indices = (np.array(known) - self._low).astype(np.int64)
        if indices.min() < 0 or indices.max() >= self.size:
            self._refuse()
        return np.asarray(indices)

    def _text(self, value: Any) -> str | None:
        """Return the text of a value up to the unit; None if it is no date, or too coarse."""
        if isinstance(value, np.datetime64):
            value = str(value)
        elif isinstance(value, datetime):
            value = None if value.tzinfo else value.isoformat(timespec="minutes")
        elif isinstance(value, date):
            value = value.isoformat()
        if not isinstance(value, str) or _moment(value) is None:
            return None
        text = value[: len(self.first)].replace(" ", "T")
        return text if len(text) == len(self.first) else None

    def _refuse(self) -> None:
        raise DomainError(
            f"a value must be a {self.unit} from {self.first} to {self.last}, written like these"
        )

    listed = True
    short_forms = (frozenset({"first", "last"}),)

    @property
    def described(self) -> str:
        return f"a {self.unit} from {self.first} to {self.last}"

    @property
    def value_type(self) -> ValueType:
        return "date"

    def number_cells(self) -> NumberCells:
        days = self.starts / _MINUTES_OF_DAY
        return NumberCells(days, days, days)

    def compared_values(self) -> Ints:
        return self.starts

    @property
    def values_in_short(self) -> str:
        return f"{self.first} to {self.last}"

    @property
    def max_public_bytes(self) -> int:
        return len(self.last) + 2  # in quotation marks

    def label_at(self, index: int) -> str:
        return str(np.datetime_as_string(self._low + index))

    def public_value(self, value: Any) -> str:
        return self.label_at(int(self.indices([value])[0]))

    def statement_facts(self) -> dict[str, Any]:
        return {"unit": self.unit, "first": self.first, "last": self.last}

    def from_cells(self, name: str, cells: Cells, separator: str = ";") -> list[Any]:
        refuse_empty_cells(
            name, cells, f"leave out these people, or count them as {DECLINED!r} (--decline)"
        )
        return list(cells)


def _moment(text: str) -> Any:
    """Return a text as a moment; None if no calendar has it, or if it has another form."""
    if not _TEXT.fullmatch(text):
        return None
    try:
        return np.datetime64(text)
    except ValueError:
        return None
