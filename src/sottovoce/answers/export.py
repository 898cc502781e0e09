"""Rows in formats of other programs: JSON, CSV, and frames of pandas, polars or pyarrow."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from math import isfinite
from typing import Any

from sottovoce.errors import MissingExtraError, ParameterError

Rows = Sequence[Mapping[str, Any]]

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")


def json_text(content: Any) -> str:
    """Return plain data as JSON."""
    return json.dumps(content, ensure_ascii=False)


def finite(content: Any) -> Any:
    """Return plain data with None in place of numbers that JSON does not have."""
    if isinstance(content, Mapping):
        return {name: finite(part) for name, part in content.items()}
    if isinstance(content, (list, tuple)):
        return [finite(part) for part in content]
    return None if isinstance(content, float) and not isfinite(content) else content


def csv_text(rows: Rows, names: Sequence[str] | None = None) -> str:
    """Return rows as CSV with a header; the columns are ``names``, or those of all rows as they
    first appear.

    Text that a spreadsheet would take for a formula is preceded by an apostrophe.
    """
    columns = list(names or column_names(rows))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_harmless(name) for name in columns])
    writer.writerows([_harmless(row.get(name, "")) for name in columns] for row in rows)
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    """Return a cell that no spreadsheet executes; numbers stay as they are.

    >>> [_harmless(cell) for cell in ("=A1", "-5", -5, "@SUM(A1)", "cat")]
    ["'=A1", '-5', -5, "'@SUM(A1)", 'cat']
    """
    if not isinstance(cell, str) or not cell.startswith(_FORMULA_STARTS) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not text.startswith(("\t", "\r", "\n"))


def frame_of(rows: Rows, library: str) -> Any:
    """Return rows as a frame of pandas or polars, or as a table of pyarrow."""
    if library not in FRAME_LIBRARIES:
        raise ParameterError(f"`library` must be one of {', '.join(FRAME_LIBRARIES)}")
    module = optional(library, "frames")
    columns = {name: [row.get(name) for row in rows] for name in column_names(rows)}
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def column_names(rows: Rows) -> list[str]:
    """Return the names of the columns of all rows, in the order they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def optional(library: str, extra: str) -> Any:
    """Return an optional library, or say which extra installs it."""
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtraError(
            f"{library} is not installed: pip install 'sottovoce[{extra}]'"
        ) from None
