"""Plain data as HTML, for notebooks: facts by name, and records as tables.

The cells of a record that has an ``error`` get as many digits as it allows.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from sottovoce.answers import export
from sottovoce.answers.digits import NO_NUMBER, figure

MAX_ROWS = 25  # of a table
_NUMBERS = ("estimate", "low", "high", "truth", "low_attacked", "high_attacked")
_LEFT = ' style="text-align:left"'


def html_text(content: Mapping[str, Any], title: str = "") -> str:
    """Return plain data as HTML; every text in it is escaped.

    >>> html_text({"users": 1200, "rows": [{"value": "<b>", "estimate": 7.123, "error": 2.0}]})[:60]
    '<table><tr><th style="text-align:left">users</th><td style="'
    """
    heading = [f"<p><strong>{escape(title)}</strong></p>"] if title else []
    return "".join([*heading, *_blocks(content)])


def _blocks(content: Mapping[str, Any]) -> Iterator[str]:
    facts = {name: fact for name, fact in content.items() if not _is_nested(fact)}
    if facts:
        cells = (_fact_row(name, fact) for name, fact in facts.items())
        yield f"<table>{''.join(cells)}</table>"
    for name, entry in content.items():
        if not _is_nested(entry):
            continue
        if name not in ("rows", "answers"):
            yield f"<p>{escape(_term(name))}</p>"
        if isinstance(entry, Mapping):
            yield from _blocks(entry)
        else:
            yield _table(entry)


def _is_nested(entry: Any) -> bool:
    """Return whether an entry is a table, or further facts."""
    if isinstance(entry, Mapping):
        return True
    return isinstance(entry, (list, tuple)) and bool(entry) and isinstance(entry[0], Mapping)


def _fact_row(name: str, fact: Any) -> str:
    text = escape(_text(fact))
    return f"<tr><th{_LEFT}>{escape(_term(name))}</th><td{_LEFT}>{text}</td></tr>"


def _term(name: str) -> str:
    return str(name).replace("_", " ")


def _table(records: Sequence[Mapping[str, Any]]) -> str:
    names = export.column_names(records)
    head = "".join(f"<th>{escape(_term(name))}</th>" for name in names)
    body = "".join(_record(record, names) for record in records[:MAX_ROWS])
    left_out = len(records) - MAX_ROWS
    rest = f"<p>{left_out:,} more rows</p>" if left_out > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _record(record: Mapping[str, Any], names: Sequence[str]) -> str:
    cells = []
    for name in names:
        entry = record.get(name)
        if name in _NUMBERS and isinstance(entry, (int, float)) and "error" in record:
            cells.append(f"<td>{figure(entry, record['error'])}</td>")
        else:
            cells.append(f"<td>{escape(_text(entry))}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _text(fact: Any) -> str:
    if fact is None:
        return NO_NUMBER
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, int):
        return f"{fact:,}"
    if isinstance(fact, float):
        return f"{fact:,.4g}"
    if isinstance(fact, (list, tuple)):
        return ", ".join(map(_text, fact))
    return str(fact)
