"""Columns of a CSV or Parquet file, as text; an empty cell is None."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sottovoce.errors import CodecError, MissingExtraError, NoDataError, ParameterError

Column = list[str | None]

_PARQUET = b"PAR1"


def read(path: Path, names: Sequence[str], separator: str = ";") -> dict[str, Column]:
    """Return the named columns of a CSV or Parquet file; lists become separated text."""
    with path.open("rb") as file:
        parquet = file.read(len(_PARQUET)) == _PARQUET
    rows = _parquet_rows(path, names, separator) if parquet else _csv_rows(path, names)
    columns = [list(column) for column in zip(*rows, strict=True)]
    if not columns:
        raise NoDataError("the file has no rows")
    return dict(zip(names, columns, strict=True))


def _csv_rows(path: Path, names: Sequence[str]) -> Iterator[Column]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader, [])
            positions = _positions(header, names)
            empty_lines = 0
            for row in reader:
                if not row:
                    empty_lines += 1
                    continue
                if len(header) == 1:
                    # An empty line is an empty cell of a single column, but for the last lines.
                    for _ in range(empty_lines):
                        yield [None]
                    empty_lines = 0
                yield _picked(row, positions, len(header), reader.line_num)
        except (csv.Error, UnicodeDecodeError):
            raise CodecError(
                f"line {reader.line_num + 1} of the file is not CSV in UTF-8"
            ) from None


def _picked(row: list[str], positions: list[int], width: int, line: int) -> Column:
    if len(row) != width:
        raise CodecError(
            f"line {line} of the file has {len(row)} cells, but its header has {width}"
        )
    return [row[position] or None for position in positions]


def _parquet_rows(path: Path, names: Sequence[str], separator: str) -> list[tuple[Any, ...]]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError(
            "duckdb is not installed: pip install 'sottovoce[server]'"
        ) from None
    with duckdb.connect() as book:
        try:
            whole = book.read_parquet(str(path))
            _positions(whole.columns, names)
            kinds = dict(zip(whole.columns, map(str, whole.types), strict=True))
            texts = ", ".join(
                f"nullif({_text(name, kinds[name], separator)}, '')" for name in names
            )
            rows: list[tuple[Any, ...]] = whole.project(texts).fetchall()
        except duckdb.Error:
            raise CodecError("the file cannot be read as Parquet") from None
    return rows


def _text(name: str, kind: str, separator: str) -> str:
    """Return the SQL that makes a cell text."""
    quoted = '"' + name.replace('"', '""') + '"'
    between = separator.replace("'", "''")
    listed = f"array_to_string(cast({quoted} as varchar[]), '{between}')"
    return listed if kind.endswith("[]") else f"cast({quoted} as varchar)"


def _positions(header: Sequence[str], names: Sequence[str]) -> list[int]:
    for name in names:
        if list(header).count(name) != 1:
            raise ParameterError(
                f"the file needs exactly one column {name!r}; it has: {', '.join(header)}"
            )
    return [list(header).index(name) for name in names]
