"""The answer to a question in SQL: rows of numbers, each with its error, and how they came about."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

from sottovoce.answers.export import optional
from sottovoce.errors import ParameterError
from sottovoce.maths.normal import quantile
from sottovoce.sql.query import PARTS


@dataclass(frozen=True)
class Figure:
    """One number with its variance; ``unstable`` if it is a ratio whose denominator may be nought."""

    value: float
    variance: float
    unstable: bool = False

    @property
    def error(self) -> float:
        """Return the standard error."""
        return sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the bounds of a normal interval."""
        reach = quantile(level) * self.error
        return self.value - reach, self.value + reach


@dataclass(frozen=True, eq=False)
class Result:
    """The rows of an answer: the values of the groups, and a figure under every name.

    ``explanation`` says how the question was answered, ``statement`` what the engine was given to do.
    """

    columns: tuple[str, ...]  # groups and numbers in the order in which they were selected
    keys: tuple[str, ...]
    names: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    figures: tuple[tuple[Figure, ...], ...]
    users: int
    epsilon: float
    level: float = 0.95
    notices: tuple[str, ...] = ()
    statement: str = ""
    explanation: Mapping[str, Any] = field(default_factory=dict)
    people: tuple[int, ...] = ()  # on how many each row rests: those in its groups of public columns

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def figure(self) -> Figure:
        """Return the only number there is."""
        if len(self.groups) != 1 or len(self.names) != 1:
            raise ParameterError("this answer has several numbers: look at its rows")
        return self.figures[0][0]

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per row: groups, and each number with its bounds, its error and whether it is unstable."""
        made = []
        for labels, figures in zip(self.groups, self.figures, strict=True):
            cells: dict[str, dict[str, Any]] = {name: {name: one} for name, one in zip(self.keys, labels, strict=True)}
            cells |= {name: self._cells(name, one) for name, one in zip(self.names, figures, strict=True)}
            made.append({name: cell for column in self.columns for name, cell in cells[column].items()})
        return made

    def _cells(self, name: str, figure: Figure) -> dict[str, Any]:
        low, high = figure.interval(self.level)
        bounds = {name: figure.value, f"{name}_low": low, f"{name}_high": high}
        return {**bounds, f"{name}_error": figure.error, f"{name}_unstable": figure.unstable}

    @property
    def about(self) -> dict[str, Any]:
        """Return what every number here rests on."""
        facts = {"users": self.users, "epsilon": self.epsilon, "level": self.level, "notices": list(self.notices)}
        return {**facts, "statement": self.statement, "plan": dict(self.explanation)}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; a number that does not exist is None."""
        found = {"groups": list(self.keys), "numbers": list(self.names), **self.about, "rows": self.rows()}
        return {name: _plain(value) for name, value in found.items()}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """Return the rows as CSV with a header."""
        parts = ("", *PARTS)
        header = [f"{column}{part}" for column in self.columns for part in (parts if column in self.names else ("",))]
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return text.getvalue()

    def frame(self, library: str = "pandas") -> Any:
        """Return the rows as a frame of pandas, polars or pyarrow."""
        if library not in ("pandas", "polars", "pyarrow"):
            raise ParameterError("a frame comes from pandas, polars or pyarrow")
        module, rows = optional(library, "frames"), self.rows()
        columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
        return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)

    def plot(self, path: str | Path | None = None, *, name: str = "", truth: Mapping[str, float] | None = None) -> Any:
        """Draw one of the numbers by group with its intervals; saves the figure if a path is given."""
        optional("matplotlib", "plot")
        from sottovoce.answers.chart import groups

        at = self.names.index(name) if name in self.names else 0
        bars = [
            (" / ".join(labels) or self.names[at], row[at])
            for labels, row in zip(self.groups, self.figures, strict=True)
        ]
        return groups(bars, self.names[at], self.level, path, truth)

    def __str__(self) -> str:
        percent = f"{100 * self.level:g} % interval"
        header = [
            part for column in self.columns for part in ((column, percent) if column in self.names else (column,))
        ]
        table = [header, *(self._shown(at) for at in range(len(self.groups)))]
        widths = [max(len(row[at]) for row in table) for at in range(len(header))]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in table]
        facts = f"{self.users:,} users, epsilon {self.epsilon:g}"
        return "\n".join([facts, "", *lines, *(f"Note: {notice}" for notice in self.notices)])

    def _shown(self, at: int) -> list[str]:
        cells: list[str] = []
        for column in self.columns:
            if column in self.keys:
                cells.append(self.groups[at][self.keys.index(column)])
                continue
            figure = self.figures[at][self.names.index(column)]
            low, high = figure.interval(self.level)
            cells += [f"{figure.value:,.6g}{' (unstable)' if figure.unstable else ''}", f"[{low:,.6g}, {high:,.6g}]"]
        return cells


@dataclass(frozen=True)
class Explanation:
    """How a question would be answered, and how good the answer would be; nothing is read for it."""

    facts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; a number that does not exist is None."""
        return {name: _plain(value) for name, value in self.facts.items()}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return "\n".join(_lines(self.facts))


def _lines(facts: Mapping[str, Any]) -> list[str]:
    """Return facts line by line, lists of records as small tables."""
    found: list[str] = []
    for name, fact in facts.items():
        if isinstance(fact, list) and fact and isinstance(fact[0], Mapping):
            found += [name, *_tabled(fact)]
        elif fact not in ([], False):
            found.append(f"{name}: {_text(fact)}")
    return found


def _tabled(rows: list[Mapping[str, Any]]) -> list[str]:
    header = list(dict.fromkeys(name for row in rows for name in row))
    table = [header, *([_text(row.get(name, "")) for name in header] for row in rows)]
    widths = [max(len(line[at]) for line in table) for at in range(len(header))]
    return ["  " + "  ".join(map(str.ljust, line, widths)).rstrip() for line in table]


def _text(fact: Any) -> str:
    if isinstance(fact, float):
        return f"{fact:,.4g}"
    return "; ".join(map(_text, fact)) if isinstance(fact, list) else f"{fact:,}" if type(fact) is int else str(fact)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
