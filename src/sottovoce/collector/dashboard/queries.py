"""Queries as data for a page: examples from the tables, the answer as rows and bars, its plan."""

from collections.abc import Sequence
from functools import partial
from math import isfinite, nan
from typing import Any

from sottovoce.answers.attacked import COLUMNS, sentence
from sottovoce.collector.dashboard import formatting, svg
from sottovoce.collector.dashboard.results import LEVELS
from sottovoce.collector.queries import Released
from sottovoce.domains.base import Domain
from sottovoce.domains.tables import Tables
from sottovoce.plans.tables.explain import schema_of
from sottovoce.plans.tables.result import Explanation, Figure, Result, ResultRow
from sottovoce.sql.errors import QueryError

Facts = dict[str, Any]

_FEW = 12  # values of a column that is grouped by in an example
_ACROSS = 8  # columns of a cross table
_DRAWN = 40  # rows of an answer that are drawn
_ROWS = 2_000  # that a page shows; a download has all


def examples(domain: Tables) -> list[tuple[str, str]]:
    """Return a query of every kind that these tables can answer, with a few words about each."""
    table = domain.names[0]
    condition = _condition(domain, 0)
    listed = [("A count", f"SELECT COUNT(*) FROM {table} WHERE {condition}")]
    columns = _columns(domain)
    numbers = [(index, name) for index, name, kind in columns if kind.ordered]
    if numbers:
        index, name = numbers[0]
        listed.append(("An average", f"SELECT AVG({name}) FROM {domain.names[index]}"))
    groups = [(index, name) for index, name, kind in columns if kind.size <= _FEW]
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


def columns(domain: Tables) -> list[Facts]:
    """Return every column with its table, type, values and protection."""
    known = {
        (domain.names[index], name): kind.ordered for index, name, kind in _columns(domain)
    } | dict(zip(map(_table_and_column, domain.public_names), _ordered_public(domain), strict=True))
    lines = []
    for column in schema_of(domain, "*")["columns"]:
        ordered = known[column["table"], column["column"]]
        lines.append(
            {
                **column,
                "type": "number" if ordered else "label",
                "count": formatting.count(column["count"]),
                "protection": "sent in clear" if column["is"] == "public" else "randomised",
            }
        )
    return lines


def _table_and_column(name: str) -> tuple[str, str]:
    table, _, column = name.partition(".")
    return table, column


def _ordered_public(domain: Tables) -> list[bool]:
    return [kind.ordered for kind in domain.public_kinds]


def levels(chosen: float | None) -> list[tuple[str, str, bool]]:
    """Return the confidence levels that a form offers; without one the query says which."""
    listed = sorted({*LEVELS, *([] if chosen is None else [chosen])})
    stated = ("", "as the query says", chosen is None)
    offered = [(f"{level:g}", formatting.level(level), level == chosen) for level in listed]
    return [stated, *offered]


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
        "attacked": "" if result.fakes is None else sentence(result.fakes),
        "drawing": _drawing(released),
        "cross": cross_table(result),
        "number": result.names[0],
        "notices": list(result.notices),
        "facts": [("Users", formatting.count(result.users)), ("Epsilon", f"{result.epsilon:g}")],
        "plan": str(Explanation(result.explanation)),
        "statement": result.statement,
    }


def cross_table(result: Result) -> Facts | None:
    """Return the first number of two attributes as a table with one of them across.

    The attribute with fewer values is across; nothing where it has too many, or where the answer
    is not about two attributes.
    """
    if len(result.keys) != 2 or not 1 < len(result.table) <= _ROWS:
        return None
    labels = [list(dict.fromkeys(row.labels[index] for row in result.table)) for index in (0, 1)]
    across = 0 if len(labels[0]) < len(labels[1]) else 1
    down = 1 - across
    if len(labels[across]) > _ACROSS:
        return None
    cells = {row.labels: _written(row.figures[0], result.level) for row in result.table}

    def cell(below: str, beside: str) -> Facts | None:
        return cells.get((below, beside) if down == 0 else (beside, below))

    return {
        "down": result.keys[down],
        "across": result.keys[across],
        "columns": labels[across],
        "rows": [
            (below, [cell(below, beside) for beside in labels[across]]) for below in labels[down]
        ],
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
            index = result.names.index(name)
            written = _written(row.figures[index], result.level)
            cells.append({"number": True, **written, **_attacked(result, row, index)})
    return cells


def _attacked(result: Result, row: ResultRow, index: int) -> Facts:
    """Return the bounds of a number that allow for false messages, if the answer has them."""
    if result.fakes is None:
        return {}
    bounds = row.attacked(index, result.level, result.fakes) or (nan, nan)
    error = row.figures[index].error
    texts = [_number(bound, error) for bound in bounds]
    return dict(zip(COLUMNS, texts, strict=True))


def _written(figure: Figure, level: float) -> Facts:
    low, high = figure.interval(level)
    numbers = {"text": figure.value, "low": low, "high": high}
    write = figure.written if figure.dated else partial(_number, error=figure.error)
    texts: Facts = {key: write(number) for key, number in numbers.items()}
    return {**texts, "unstable": figure.unstable}


def _number(number: float, error: float) -> str:
    return formatting.figure(number, error)


def _drawing(released: Released) -> str:
    """Return bars of the first number of every group; nothing where there are no groups."""
    result = released.result
    drawn = [
        row
        for row in result.table
        if isfinite(row.figures[0].value) and all(map(isfinite, _bounds(row, result.level)))
    ]
    if not result.keys or not drawn or drawn[0].figures[0].dated:
        return ""
    rows = [_bar(row.labels, row.figures[0], result.level) for row in drawn]
    rows += [{"value": " / ".join(labels), "suppressed": True} for labels in released.suppressed]
    level = formatting.level(result.level)
    title = f"{result.names[0]} by {', '.join(result.keys)} with {level} intervals"
    return svg.bars(rows[:_DRAWN], title, "sql", doubt="unstable", write=_figure)


def _bounds(row: ResultRow, level: float) -> tuple[float, float]:
    """Return the interval of the first number of a row."""
    return row.figures[0].interval(level)


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
    name = domain.records(table).names[0]
    kind = domain.records(table).attributes[0]
    if not kind.ordered:
        label = kind.labels[0].replace("'", "''")
        return f"{name} = '{label}'"
    low, high = kind.bounds
    middle = low + (high - low) // 2
    return f"{name} BETWEEN {low:.10g} AND {middle:.10g}"


def _columns(domain: Tables) -> list[tuple[int, str, Domain]]:
    """Return the private columns with table, name and domain, those of labels first."""
    columns = []
    for index in range(len(domain.names)):
        records = domain.records(index)
        for name, kind in zip(records.names, records.attributes, strict=True):
            columns.append((index, name, kind))
    return sorted(columns, key=lambda column: column[2].ordered)
