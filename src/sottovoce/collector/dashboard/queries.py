"""Queries as data for a page: examples from the tables, the answer as rows and bars, its plan."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from sottovoce.collector.dashboard import formatting, svg
from sottovoce.collector.dashboard.results import LEVELS
from sottovoce.collector.queries import Released
from sottovoce.domains.categories import Categories
from sottovoce.domains.tables import ORDERED, Tables
from sottovoce.plans.tables.result import Explanation, Figure, Result, ResultRow
from sottovoce.sql.errors import QueryError

Facts = dict[str, Any]

_FEW = 12  # values of a column that is grouped by in an example
_DRAWN = 40  # rows of an answer that are drawn
_ROWS = 2_000  # that a page shows; a download has all
_NONE = "\N{EN DASH}"


def examples(domain: Tables) -> list[tuple[str, str]]:
    """Return a query of every kind that these tables can answer, with a few words about each."""
    table = domain.names[0]
    condition = _condition(domain, 0)
    listed = [("A count", f"SELECT COUNT(*) FROM {table} WHERE {condition}")]
    numbers = _columns(domain, ORDERED)
    if numbers:
        index, name = numbers[0]
        listed.append(("An average", f"SELECT AVG({name}) FROM {domain.names[index]}"))
    groups = [
        pair for pair in _columns(domain, (Categories, *ORDERED)) if _size(domain, *pair) <= _FEW
    ]
    if groups:
        index, name = groups[0]
        grouped = f"SELECT {name}, COUNT(*) AS number FROM {domain.names[index]} GROUP BY {name}"
        listed.append(("A number for every group", f"{grouped} ORDER BY number DESC"))
    if len(domain.names) > 1:
        other = domain.names[1]
        mean = next((f"AVG({other}.{name})" for index, name in numbers if index == 1), "COUNT(*)")
        joined = f"SELECT {mean} FROM {table} JOIN {other} USING (uid) WHERE {table}.{condition}"
        listed.append(("Two tables together", joined))
    listed.append(("How it would be answered", f"EXPLAIN {listed[0][1]}"))
    return listed


def columns(domain: Tables) -> list[tuple[str, str]]:
    """Return every table with the names of its columns, public ones marked."""
    lines = []
    for index, name in enumerate(domain.names):
        public = [f"{column} (public)" for column in domain.public_columns(index)]
        lines.append((name, ", ".join([*domain.records(index).names, *public])))
    return lines


def levels(chosen: float | None) -> list[tuple[str, str, bool]]:
    """Return the confidence levels that a form offers; without one the query says which."""
    listed = sorted({*LEVELS, *([] if chosen is None else [chosen])})
    stated = ("", "as the query says", chosen is None)
    return [stated, *((f"{one:g}", formatting.level(one), one == chosen) for one in listed)]


def shown(released: Released | Explanation) -> Facts:
    """Return an answer, or an explanation, for a template."""
    if isinstance(released, Explanation):
        return {"kind": "explained", "plan": str(released)}
    result = released.result
    suppressed = [", ".join(labels) or "the only row" for labels in released.suppressed]
    return {
        "kind": "answered",
        "headings": [(name, name in result.names) for name in result.columns],
        "rows": [_row(result, row) for row in result.table[:_ROWS]],
        "cut": len(result) > _ROWS,
        "hidden": suppressed,
        "minimum": formatting.count(released.minimum),
        "level": formatting.level(result.level),
        "drawing": _drawing(released),
        "number": result.names[0],
        "notices": list(result.notices),
        "facts": [("Users", formatting.count(result.users)), ("Epsilon", f"{result.epsilon:g}")],
        "plan": str(Explanation(result.explanation)),
        "statement": result.statement,
    }


def pointed(error: QueryError) -> Facts:
    """Return the line of a query that is refused, cut where the error is."""
    return {"line": error.line, "before": error.before, "after": error.after}


def _row(result: Result, row: ResultRow) -> list[Facts]:
    cells: list[Facts] = []
    for name in result.columns:
        if name in result.keys:
            cells.append({"number": False, "text": row.labels[result.keys.index(name)]})
        else:
            cells.append(
                {"number": True, **_written(row.figures[result.names.index(name)], result.level)}
            )
    return cells


def _written(figure: Figure, level: float) -> Facts:
    low, high = figure.interval(level)
    numbers = {"text": figure.value, "low": low, "high": high}
    texts: Facts = {key: _number(number, figure.error) for key, number in numbers.items()}
    return {**texts, "unstable": figure.unstable}


def _number(number: float, error: float) -> str:
    if not isfinite(number):
        return _NONE
    return formatting.figure(number, error) if isfinite(error) else f"{number:,.4g}"


def _drawing(released: Released) -> str:
    """Return bars of the first number of every group; nothing where there are no groups."""
    result = released.result
    drawn = [
        row
        for row in result.table
        if isfinite(row.figures[0].value) and isfinite(row.figures[0].error)
    ]
    if not result.keys or not drawn:
        return ""
    rows = [_bar(row.labels, row.figures[0], result.level) for row in drawn]
    rows += [{"value": " / ".join(labels), "suppressed": True} for labels in released.suppressed]
    level = formatting.level(result.level)
    title = f"{result.names[0]} by {', '.join(result.keys)} with {level} intervals"
    return svg.bars(rows[:_DRAWN], title, "sql", doubt="unstable", write=_figure)


def _bar(labels: Sequence[str], figure: Figure, level: float) -> svg.Row:
    low, high = figure.interval(level)
    numbers = {"estimate": figure.value, "low": low, "high": high, "error": figure.error}
    return {
        "value": " / ".join(labels),
        **numbers,
        "significant": not figure.unstable,
        "suppressed": False,
    }


def _figure(row: svg.Row, key: str) -> str:
    return formatting.figure(row[key], row["error"])


def _condition(domain: Tables, table: int) -> str:
    """Return a condition about the first column of a table."""
    name, kind = domain.records(table).names[0], domain.records(table).attributes[0]
    if isinstance(kind, Categories):
        label = kind.labels[0].replace("'", "''")
        return f"{name} = '{label}'"
    low, high = kind.low, kind.high  # type: ignore[attr-defined]
    middle = low + (high - low) // 2
    return f"{name} BETWEEN {low:.10g} AND {middle:.10g}"


def _columns(domain: Tables, kinds: tuple[type, ...]) -> list[tuple[int, str]]:
    """Return the private columns of some kinds, labels first where there are both."""
    listed = []
    for index in range(len(domain.names)):
        records = domain.records(index)
        for name, kind in zip(records.names, records.attributes, strict=True):
            if isinstance(kind, kinds):
                listed.append((isinstance(kind, ORDERED), index, name))
    return [(index, name) for _, index, name in sorted(listed, key=lambda entry: entry[0])]


def _size(domain: Tables, table: int, name: str) -> int:
    records = domain.records(table)
    return records.attributes[records.names.index(name)].size
