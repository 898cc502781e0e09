"""The answer to a query: rows of numbers, each with its error, and how they came about."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers import attacked, digits, export
from sottovoce.answers.guarantee import Guarantee, ShuffledReports
from sottovoce.answers.outcome import Outcome
from sottovoce.answers.plain_data import PlainData
from sottovoce.core.influence import Exposure
from sottovoce.errors import ParameterError
from sottovoce.maths.normal import quantile
from sottovoce.sql.dates import DAY, text_of
from sottovoce.sql.query import ATTACKED_PARTS, PARTS


@dataclass(frozen=True)
class Figure:
    """One number with its variance; ``unstable`` marks a ratio whose denominator may be 0.

    ``bounds`` returns the ends of the interval for a reach in standard errors; without it the
    interval is that of a normal number.  A ``dated`` number counts days from the beginning of 1970.
    """

    value: float
    variance: float
    unstable: bool = False
    bounds: Callable[[float], tuple[float, float]] | None = field(
        default=None, repr=False, compare=False
    )
    dated: bool = False

    @property
    def error(self) -> float:
        """Return the standard error."""
        return sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the bounds of the interval; infinite where there are none."""
        reach = quantile(level)
        if self.bounds is not None:
            return self.bounds(reach)
        return self.value - reach * self.error, self.value + reach * self.error

    def shown(self, number: float | None) -> Any:
        """Return the number, or a bound of it, as rows hold it: a date as text, None if there is
        none.
        """
        if not self.dated or number is None:
            return number
        return text_of(np.array([round(number * DAY)]))[0] if isfinite(number) else None

    def written(self, number: float) -> str:
        """Return the number, or a bound of it, as people read it."""
        if self.dated:
            return self.shown(number) or digits.NO_NUMBER
        return digits.figure(number, self.error)

    def attacked(
        self, exposure: Exposure | None, level: float, fakes: float
    ) -> tuple[float, float] | None:
        """Return the bounds if a share ``fakes`` of all messages may be false; None if unknown."""
        low, high = self.interval(level)
        if exposure is None or not isfinite(self.variance) or not isfinite(high - low):
            return None
        return exposure.attacked(low, high, fakes)


@dataclass(frozen=True)
class ResultRow:
    """One row: the values of its groups and its numbers.

    ``people`` is the crowd behind the row: how many people are in its public groups and meet a
    public condition of the query.  ``count`` estimates the records of the row, where that was asked
    for.  ``exposure`` returns how false messages move the number at an index; that takes time, so
    it is computed when somebody asks.
    """

    labels: tuple[str, ...]
    figures: tuple[Figure, ...]
    people: int
    count: float | None = None
    exposure: Callable[[int], Exposure | None] | None = field(
        default=None, repr=False, compare=False
    )

    def attacked(self, number: int, level: float, fakes: float) -> tuple[float, float] | None:
        """Return the bounds of a number if a share of all messages may be false."""
        exposure = None if self.exposure is None else self.exposure(number)
        return self.figures[number].attacked(exposure, level, fakes)


@dataclass(frozen=True, eq=False)
class Result(Outcome):
    """The rows of an answer, with a figure under every name.

    ``explanation`` says how the query was answered, ``statement`` what the engine was given to do.
    ``suppressed`` are the groups of rows that may not be shown.
    """

    counts_people = False

    columns: tuple[str, ...]  # groups and numbers in the order in which they were selected
    keys: tuple[str, ...]
    names: tuple[str, ...]
    table: tuple[ResultRow, ...]
    user_count: int
    people_count: int  # of those, how many meet a public condition of the query
    epsilon: float
    level: float = 0.95
    notices: tuple[str, ...] = ()
    statement: str = ""
    explanation: Mapping[str, Any] = field(default_factory=dict)
    name: str = "sql"
    fakes: float | None = None
    shuffled: ShuffledReports | None = None
    suppressed: tuple[tuple[str, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.shuffled)

    @property
    def users(self) -> int:
        return self.user_count

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of every row."""
        return tuple(row.labels for row in self.table)

    @property
    def figures(self) -> tuple[tuple[Figure, ...], ...]:
        """Return the numbers of every row."""
        return tuple(row.figures for row in self.table)

    @property
    def people(self) -> tuple[int, ...]:
        """Return the crowd behind every row."""
        return tuple(row.people for row in self.table)

    @property
    def figure(self) -> Figure:
        """Return the only number there is."""
        if len(self.table) != 1:
            raise ParameterError("this answer does not have exactly one row: look at its rows")
        if len(self.names) != 1:
            raise ParameterError("this answer has several numbers in a row: look at its rows")
        return self.table[0].figures[0]

    def at(self, level: float, *, fakes: float | None = None) -> "Result":
        return replace(self, level=level, fakes=attacked.checked_fakes(fakes))

    def only(self, rows: Sequence[ResultRow]) -> "Result":
        """Return the result with some of its rows."""
        return replace(self, table=tuple(rows))

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per row: groups, and each number with its bounds, its error and whether
        it is unstable.
        """
        return [self._record(row) for row in self.table]

    def rows_to_show(self, most: int) -> list[dict[str, Any]]:
        return [self._record(row) for row in self.table[:most]]

    def _record(self, row: ResultRow) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for column in self.columns:
            if column in self.keys:
                record[column] = row.labels[self.keys.index(column)]
            else:
                record |= self._entries(column, row)
        return record

    def _entries(self, name: str, row: ResultRow) -> dict[str, Any]:
        index = self.names.index(name)
        figure = row.figures[index]
        low, high = figure.interval(self.level)
        shown = (figure.shown(low), figure.shown(high), figure.error, figure.unstable)
        beside = zip(PARTS, shown, strict=True)
        entries: dict[str, Any] = {
            name: figure.shown(figure.value),
            **{f"{name}{part}": entry for part, entry in beside},
        }
        if self.fakes is not None:
            bounds = row.attacked(index, self.level, self.fakes) or (None, None)
            entries |= {
                f"{name}{part}": figure.shown(bound)
                for part, bound in zip(ATTACKED_PARTS, bounds, strict=True)
            }
        return entries

    @property
    def about(self) -> dict[str, Any]:
        return {
            "groups": list(self.keys),
            "numbers": list(self.names),
            "users": self.users,
            "epsilon": self.epsilon,
            "level": self.level,
            "notices": list(self.notices),
            "statement": self.statement,
            "plan": dict(self.explanation),
            **({} if self.fakes is None else {"fakes": self.fakes}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; a number that does not exist is None."""
        content: dict[str, Any] = export.finite(super().to_dict())
        return content

    def to_csv(self) -> str:
        """Return the rows as CSV; the header is complete even if there are no rows."""
        names = [f"{column}{part}" for column in self.columns for part in self._parts(column)]
        return export.csv_text(self.rows(), names)

    def _parts(self, column: str) -> tuple[str, ...]:
        if column not in self.names:
            return ("",)
        return ("", *PARTS) if self.fakes is None else ("", *PARTS, *ATTACKED_PARTS)

    def plot(
        self,
        path: str | Path | None = None,
        *,
        truth: Mapping[str, float] | None = None,
        ax: Any = None,
        name: str = "",
    ) -> Any:
        """Draw one of the numbers by group with its intervals; saves the figure to ``path``."""
        export.optional("matplotlib", "plot")
        from sottovoce.answers.chart import GroupedNumbers, groups

        index = self.names.index(name) if name in self.names else 0
        bars = [
            (" / ".join(row.labels) or self.names[index], row.figures[index]) for row in self.table
        ]
        facts = f"{self.users:,} users, epsilon {self.epsilon:g}"
        return groups(GroupedNumbers(self.names[index], bars, self.level, facts), path, truth, ax)

    def __str__(self) -> str:
        interval = f"{100 * self.level:g} % interval"
        header: list[str] = []
        extra = [] if self.fakes is None else [attacked.sentence(self.fakes)]
        for column in self.columns:
            header += [column, interval, *extra] if column in self.names else [column]
        table = [header, *(self._texts(row) for row in self.table)]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = ["  ".join(map(str.rjust, cells, widths)) for cells in table]
        facts = f"{self.users:,} users, epsilon {self.epsilon:g}"
        notices = [f"Note: {notice}" for notice in self.notices]
        return "\n".join([facts, "", *lines, *notices, *self.guarantee.lines()])

    def _texts(self, row: ResultRow) -> list[str]:
        cells: list[str] = []
        for column in self.columns:
            if column in self.keys:
                cells.append(row.labels[self.keys.index(column)])
                continue
            index = self.names.index(column)
            figure = row.figures[index]
            mark = " (unstable)" if figure.unstable else ""
            value = figure.written(figure.value)
            cells += [f"{value}{mark}", _interval(figure, figure.interval(self.level))]
            if self.fakes is not None:
                attacked_bounds = row.attacked(index, self.level, self.fakes)
                cells.append(_interval(figure, attacked_bounds))
        return cells


def _interval(figure: Figure, bounds: tuple[float, float] | None) -> str:
    if figure.dated and bounds is not None:
        return f"[{figure.written(bounds[0])}, {figure.written(bounds[1])}]"
    low, high = bounds or (None, None)
    return digits.interval(low, high, figure.error)


@dataclass(frozen=True)
class Explanation(PlainData):
    """How a query would be answered, and how good the answer would be; nothing is read for it."""

    facts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; a number that does not exist is None."""
        content: dict[str, Any] = export.finite(dict(self.facts))
        return content

    def __str__(self) -> str:
        return "\n".join(_lines(self.facts))


def _lines(facts: Mapping[str, Any]) -> list[str]:
    """Return facts line by line, lists of records as small tables."""
    lines: list[str] = []
    for name, fact in facts.items():
        if isinstance(fact, list) and fact and isinstance(fact[0], Mapping):
            lines += [name, *_table_lines(fact)]
        elif fact not in ([], False):
            lines.append(f"{name}: {_text(fact)}")
    return lines


def _table_lines(records: Sequence[Mapping[str, Any]]) -> list[str]:
    header = export.column_names(records)
    table = [header, *([_text(record.get(name, "")) for name in header] for record in records)]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    return ["  " + "  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]


def _text(fact: Any) -> str:
    if isinstance(fact, float):
        return f"{fact:,.4g}"
    if isinstance(fact, list):
        return "; ".join(map(_text, fact))
    return f"{fact:,}" if type(fact) is int else str(fact)
