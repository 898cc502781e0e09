"""An answer that was written as JSON, read back: from a file, or from a collector over HTTP.

It holds what was released, no more: rows that are suppressed say so and have no numbers, and
post-processing is chosen when an answer is asked for, not here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sottovoce.answers import export
from sottovoce.answers.digits import figure, interval
from sottovoce.answers.folding import fold
from sottovoce.answers.plain_data import PlainRows
from sottovoce.errors import CodecError, NoDataError

Row = dict[str, Any]

_SHOWN = 25  # rows that print() shows
_DRAWN = 30  # rows of a plot


@dataclass(frozen=True)
class ExportedNumber:
    """One number of an exported row; ``unstable`` says that it is hardly more than noise."""

    value: float
    low: float
    high: float
    error: float
    unstable: bool

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval that was exported, which has the level of the whole answer."""
        return self.low, self.high


@dataclass(frozen=True, eq=False)
class ExportedAnswer(PlainRows):
    """An answer, a SQL answer or an explanation, as the JSON of a collector says it."""

    content: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.content, Mapping):
            raise CodecError("an exported answer must be a JSON object")

    @classmethod
    def load(cls, path: str | Path) -> "ExportedAnswer":
        """Return the answer in a JSON file: a download of the dashboard, or ``to_json()``."""
        try:
            return cls(json.loads(Path(path).read_text(encoding="utf-8")))
        except ValueError:
            raise CodecError("an exported answer must be JSON") from None

    @property
    def name(self) -> str:
        """Return the name of the task or of the question."""
        return str(self.content.get("name", "sql"))

    @property
    def users(self) -> int | None:
        """Return how many people answered, if the answer is about all of them together."""
        return self.content.get("users")

    @cached_property
    def _parts(self) -> "dict[str, ExportedAnswer]":
        answers = self.content.get("answers")
        if answers is None:
            return {self.name: self}
        return {name: ExportedAnswer(part) for name, part in answers.items()}

    def questions(self) -> "Mapping[str, ExportedAnswer]":
        """Return the parts by name; an answer of one part is its own."""
        return self._parts

    def rows(self) -> list[Row]:
        """Return one record per value; of several questions each has the name of its own."""
        if len(self._parts) == 1 and self in self._parts.values():
            return [dict(row) for row in self.content.get("rows", ())]
        return [
            {"question": name, **row} for name, part in self._parts.items() for row in part.rows()
        ]

    def measures(self) -> list[Row]:
        """Return the figures of a distribution: mean, variance and quantiles."""
        return [dict(row) for row in self.content.get("measures", ())]

    def to_dict(self) -> dict[str, Any]:
        return dict(self.content)

    def plot(self, path: str | Path | None = None, *, ax: Any = None, number: str = "") -> Any:
        """Draw the largest rows with their intervals; ``number`` chooses one of a SQL answer."""
        export.optional("matplotlib", "plot")
        from sottovoce.answers.chart import GroupedNumbers, groups

        if len(self._parts) > 1:
            raise NoDataError("draw the questions one by one: answer.questions()[name].plot()")
        wanted = number or self._numbers[0]
        labelled = self._labelled(self._main_rows)
        drawn = [(label, numbers[wanted]) for label, numbers in labelled if numbers]
        if not drawn:
            raise NoDataError("there is no row to draw: all of them are suppressed")
        drawn = sorted(drawn, key=lambda row: -row[1].value)[:_DRAWN]
        facts = f"{self.content['users']:,} users, epsilon {self.content['epsilon']:g}"
        title = self.name if wanted == "estimate" else wanted
        return groups(GroupedNumbers(title, drawn, self.content["level"], facts), path, ax=ax)

    @property
    def _numbers(self) -> Sequence[str]:
        """Return the names of the numbers in a row: those of a query, or the one of an answer."""
        return self.content.get("numbers") or ("estimate",)

    @property
    def _keys(self) -> Sequence[str]:
        """Return the columns that name a row; ``groups`` of a search are counted, not named."""
        keys: Sequence[str] = self.content["groups"] if "numbers" in self.content else ("value",)
        return keys

    @property
    def _main_rows(self) -> list[Row]:
        """Return the figures of a distribution, and otherwise the rows."""
        return self.measures() or [dict(row) for row in self.content.get("rows", ())]

    def _labelled(self, rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, ExportedNumber]]]:
        """Return the label of every row with its numbers; a suppressed row has none."""
        keys = self._keys
        for row in rows:
            label = " / ".join(str(row[key]) for key in keys) or self._numbers[0]
            numbers = {}
            if row.get("suppressed") is not True:
                numbers = {name: _number(row, name) for name in self._numbers}
            yield label, numbers

    def __str__(self) -> str:
        if len(self._parts) > 1:
            return "\n\n".join(map(str, self._parts.values()))
        if "users" not in self.content or "rows" not in self.content:
            return json.dumps(self.content, ensure_ascii=False, indent=2)
        folded = fold(self._main_rows, self.content)
        labelled = list(self._labelled(folded.rows))
        facts = f"{self.name}: {self.users:,} users, epsilon {self.content['epsilon']:g}"
        lines = [facts, "", *self._table_lines(labelled[:_SHOWN])]
        if len(labelled) > _SHOWN:
            lines.append(f"... and {len(labelled) - _SHOWN:,} more rows")
        if folded.remark:
            lines.append(folded.remark)
        return "\n".join(lines)

    def _table_lines(self, labelled: Sequence[tuple[str, dict[str, ExportedNumber]]]) -> list[str]:
        """Return rows as the lines of a table with headings."""
        keys = self._keys
        interval_heading = f"{100 * self.content['level']:g} % interval"
        header = [" / ".join(keys)]
        for name in self._numbers:
            header += [name, interval_heading]
        table = [header]
        for label, numbers in labelled:
            cells = [cell for number in numbers.values() for cell in _cells(number)]
            row = [label if keys else "", *(cells or ["suppressed"])]
            table.append([*row, *[""] * (len(header) - len(row))])
        first_width, *widths = (max(map(len, column)) for column in zip(*table, strict=True))
        lines = []
        for label, *cells in table:
            aligned = [label.ljust(first_width), *map(str.rjust, cells, widths)]
            lines.append("  ".join(aligned if keys else aligned[1:]).rstrip())
        return lines


def _number(row: Mapping[str, Any], name: str) -> ExportedNumber:
    """Return one number of a row; beside a number of SQL stand its name's further columns."""
    prefix = "" if name == "estimate" else f"{name}_"
    unstable = row.get(f"{prefix}unstable", not row.get("significant", True))
    entries = [row.get(key) for key in (name, f"{prefix}low", f"{prefix}high", f"{prefix}error")]
    value, low, high, error = (float("nan") if entry is None else entry for entry in entries)
    return ExportedNumber(value, low, high, error, bool(unstable))


def _cells(number: ExportedNumber) -> tuple[str, str]:
    """Return a number and its interval as text."""
    mark = " (within noise)" if number.unstable else ""
    bounds = interval(number.low, number.high, number.error)
    return f"{figure(number.value, number.error)}{mark}", bounds
