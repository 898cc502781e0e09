"""Frames of pandas, polars or Arrow as the values of people: one row is one person.

A task about several attributes takes the columns of their names; others are left out.  A task
about one value takes a frame with one column.
"""

from collections.abc import Mapping
from typing import Any

from sottovoce.domains.base import Domain
from sottovoce.errors import ParameterError


def values_of(domain: Domain, values: Any) -> Any:
    """Return what people hold as a domain reads it; whatever is no frame stays as it is."""
    by_table = domain.file_columns
    if _names(values) is not None:
        (wanted,) = by_table.values() if len(by_table) == 1 else [()]
        return _columns(values, wanted)
    if isinstance(values, Mapping):
        return {
            name: _columns(table, by_table.get(name, ())) if _names(table) is not None else table
            for name, table in values.items()
        }
    return values


def _columns(frame: Any, wanted: tuple[str, ...]) -> Any:
    names = _names(frame) or []
    if not wanted:
        if len(names) != 1:
            raise ParameterError(
                f"this task asks for one value: a frame must have one column, not {len(names)}"
            )
        return _column(frame, names[0])
    missing = [name for name in wanted if name not in names]
    if missing:
        raise ParameterError(
            f"the frame lacks the columns {', '.join(missing)}; it has {', '.join(names)}"
        )
    return {name: _column(frame, name) for name in wanted}


def _names(values: Any) -> list[str] | None:
    """Return the names of the columns of a frame, None for anything else."""
    if isinstance(values, Mapping):
        return None
    names = getattr(values, "column_names", None)  # Arrow
    if names is None:
        names = getattr(values, "columns", None)  # pandas and polars
        if names is None or not hasattr(values, "shape"):
            return None
    return [str(name) for name in names]


def _column(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    read = getattr(column, "to_pylist", None) or column.to_list
    return list(read())
