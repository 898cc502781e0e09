"""Questions in SQL as data for a page: examples made from the tables, the answer as rows and bars, its plan."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from sottovoce.collector.dashboard import formatting, svg
from sottovoce.collector.dashboard.results import LEVELS
from sottovoce.collector.queries import Released
from sottovoce.domains.categories import Categories
from sottovoce.domains.tables import ORDERED, Services
from sottovoce.plans.tables.result import Explanation, Figure, Result
from sottovoce.sql.errors import QueryError

Facts = dict[str, Any]

_FEW = 12  # values of a column that is grouped by in an example
_DRAWN = 40  # rows of an answer that are drawn
_ROWS = 2_000  # that a page shows; a download has all
_NONE = "\N{EN DASH}"


def examples(services: Services) -> list[tuple[str, str]]:
    """Return a question of every kind that these tables can answer, with a few words about each."""
    table, condition = services.names[0], _condition(services, 0)
    found = [("A count", f"SELECT COUNT(*) FROM {table} WHERE {condition}")]
    numbers = _columns(services, ORDERED)
    if numbers:
        place, name = numbers[0]
        found.append(("An average", f"SELECT AVG({name}) FROM {services.names[place]}"))
    groups = [pair for pair in _columns(services, (Categories, *ORDERED)) if _size(services, *pair) <= _FEW]
    if groups:
        place, name = groups[0]
        grouped = f"SELECT {name}, COUNT(*) AS number FROM {services.names[place]} GROUP BY {name}"
        found.append(("A number for every group", f"{grouped} ORDER BY number DESC"))
    if len(services.names) > 1:
        other = services.names[1]
        mean = next((f"AVG({other}.{name})" for place, name in numbers if place == 1), "COUNT(*)")
        joined = f"SELECT {mean} FROM {table} JOIN {other} USING (uid) WHERE {table}.{condition}"
        found.append(("Two tables together", joined))
    found.append(("How it would be answered", f"EXPLAIN {found[0][1]}"))
    return found


def columns(services: Services) -> list[tuple[str, str]]:
    """Return every table with the names of its columns, those that everybody may see marked as public."""
    public = services.public.names if services.public else ()
    lines = []
    for place, name in enumerate(services.names):
        seen = [f"{one.partition('.')[2]} (public)" for one in public if one.partition(".")[0] == name]
        lines.append((name, ", ".join([*services.records(place).names, *seen])))
    return lines


def levels(chosen: float | None) -> list[tuple[str, str, bool]]:
    """Return the confidence levels that a form offers; without one the question says which."""
    listed = sorted({*LEVELS, *([] if chosen is None else [chosen])})
    stated = ("", "as the question says", chosen is None)
    return [stated, *((f"{one:g}", formatting.level(one), one == chosen) for one in listed)]


def shown(found: Released | Explanation) -> Facts:
    """Return an answer, or an explanation, for a template."""
    if isinstance(found, Explanation):
        return {"kind": "explained", "plan": str(found)}
    result = found.result
    hidden = [", ".join(labels) or "the only row" for labels in found.suppressed]
    return {
        "kind": "answered",
        "headings": [(name, name in result.names) for name in result.columns],
        "rows": [_row(result, place) for place in range(min(len(result), _ROWS))],
        "cut": len(result) > _ROWS,
        "hidden": hidden,
        "minimum": formatting.count(found.minimum),
        "level": formatting.level(result.level),
        "drawing": _drawing(found),
        "number": result.names[0],
        "notices": list(result.notices),
        "facts": [("Users", formatting.count(result.users)), ("Epsilon", f"{result.epsilon:g}")],
        "plan": str(Explanation(result.explanation)),
        "statement": result.statement,
    }


def pointed(question: str, error: QueryError) -> Facts:
    """Return the line of a question that is refused, cut where the error is."""
    line = [*question.split("\n"), ""][error.line - 1]
    return {"line": error.line, "before": line[: error.column - 1], "after": line[error.column - 1 :]}


def _row(result: Result, place: int) -> list[Facts]:
    cells = []
    for name in result.columns:
        if name in result.keys:
            cells.append({"number": False, "text": result.groups[place][result.keys.index(name)]})
        else:
            cells.append({"number": True, **_written(result.figures[place][result.names.index(name)], result.level)})
    return cells


def _written(figure: Figure, level: float) -> Facts:
    low, high = figure.interval(level)
    numbers = {"text": figure.value, "low": low, "high": high}
    return {key: _number(one, figure.error) for key, one in numbers.items()} | {"unstable": figure.unstable}


def _number(number: float, error: float) -> str:
    if not isfinite(number):
        return _NONE
    return formatting.figure(number, error) if isfinite(error) else f"{number:,.4g}"


def _drawing(found: Released) -> str:
    """Return bars of the first number of every group, nothing where there are none."""
    result = found.result
    pairs = zip(result.groups, (row[0] for row in result.figures), strict=True)
    rows = [_bar(labels, one, result.level) for labels, one in pairs if isfinite(one.value) and isfinite(one.error)]
    if not result.keys or not rows:
        return ""
    rows += [{"value": " / ".join(labels), "suppressed": True} for labels in found.suppressed]
    title = f"{result.names[0]} by {', '.join(result.keys)} with {formatting.level(result.level)} intervals"
    return svg.bars(rows[:_DRAWN], title, "sql", doubt="unstable", write=_figure)


def _bar(labels: Sequence[str], figure: Figure, level: float) -> svg.Row:
    low, high = figure.interval(level)
    numbers = {"estimate": figure.value, "low": low, "high": high, "error": figure.error}
    return {"value": " / ".join(labels), **numbers, "significant": not figure.unstable, "suppressed": False}


def _figure(row: svg.Row, key: str) -> str:
    return formatting.figure(row[key], row["error"])


def _condition(services: Services, place: int) -> str:
    """Return a condition about the first column of a table."""
    name, kind = services.records(place).names[0], services.records(place).attributes[0]
    if isinstance(kind, Categories):
        label = kind.labels[0].replace("'", "''")
        return f"{name} = '{label}'"
    low, high = kind.low, kind.high  # type: ignore[attr-defined]
    middle = low + (high - low) // 2
    return f"{name} BETWEEN {low:.10g} AND {middle:.10g}"


def _columns(services: Services, kinds: tuple[type, ...]) -> list[tuple[int, str]]:
    """Return the columns of some kinds that people keep to themselves, labels first where there are both."""
    found = [
        (isinstance(kind, ORDERED), place, name)
        for place in range(len(services.names))
        for name, kind in zip(services.records(place).names, services.records(place).attributes, strict=True)
        if isinstance(kind, kinds)
    ]
    return [(place, name) for _, place, name in sorted(found, key=lambda one: one[:2])]


def _size(services: Services, place: int, name: str) -> int:
    records = services.records(place)
    return records.attributes[records.names.index(name)].size
