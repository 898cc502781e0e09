"""Sorting more reports than fit into memory: sorted runs in temporary files, and one merge.

Reports come as Arrow tables and are ordered by member, slot and report id.  A run is as many of
them as may be in memory together.  The merge holds one batch of every run: what is not above the
least of their last keys comes next.  The files of runs have no name, so that a process that is
killed leaves no reports behind.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from sottovoce.arrays import Ints, Values
from sottovoce.engine import tables
from sottovoce.wire.envelope import ID_BYTES

BATCH_BYTES = 1 << 20  # of a run that the merge holds
_MEMBER_BYTES = 4
_SLOT_BYTES = 2


def sort(reports: Iterable[Any], folder: Path, max_bytes: int) -> Iterator[Any]:
    """Yield the reports of all tables in order, in tables of moderate size.

    Runs of ``max_bytes`` are sorted in memory, and wait in files of the folder if there are
    several.
    """
    with ExitStack() as stack:
        runs: list[_Run] = []
        waiting: list[Any] = []
        size = 0
        for table in reports:
            waiting.append(table)
            size += table.nbytes
            if size >= max_bytes:
                file = stack.enter_context(TemporaryFile(dir=folder))
                runs.append(_Run(_ordered(waiting), file))
                waiting = []
                size = 0
        if waiting and not runs:
            yield _ordered(waiting)
            return
        if waiting:
            runs.append(_Run(_ordered(waiting), stack.enter_context(TemporaryFile(dir=folder))))
        yield from _merged(runs)


def by_id(table: Any) -> Any:
    """Return the reports of a table ordered by their ids alone."""
    ids = tables.rows(table["id"], ID_BYTES)
    order = np.argsort(_beginnings(ids))
    if _has_ties(_beginnings(ids)[order]):
        order = np.argsort(_entries(ids), kind="stable")
    return table.take(order)


def by_address(table: Any) -> Any:
    """Return the reports of a table ordered by member and slot; at one address nothing moves."""
    addresses = _addresses(table)
    if (addresses[1:] >= addresses[:-1]).all():
        return table
    return table.take(np.argsort(addresses, kind="stable"))


class _Run:
    """A sorted run in a file: the batch at hand, and the keys of its reports."""

    def __init__(self, table: Any, file: IO[bytes]) -> None:
        import pyarrow

        rows_at_once = max(1, BATCH_BYTES * len(table) // max(table.nbytes, 1))
        with pyarrow.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows_at_once)
        file.seek(0)
        self._batches = iter(pyarrow.ipc.open_stream(file))
        self._load()

    def _load(self) -> None:
        import pyarrow

        batch = next(self._batches, None)
        self.is_over = batch is None
        if batch is not None:
            self._table = pyarrow.Table.from_batches([batch])
            self._keys = _keys(self._table)

    @property
    def last_key(self) -> bytes:
        return bytes(self._keys[-1])

    def take(self, last_key: bytes) -> Any:
        """Return the next reports up to a key, as far as they are in memory."""
        count = int(np.searchsorted(self._keys, last_key, side="right"))
        taken = self._table.slice(0, count)
        if count == len(self._keys):
            self._load()
        else:
            self._table = self._table.slice(count)
            self._keys = self._keys[count:]
        return taken


def _merged(runs: list[_Run]) -> Iterator[Any]:
    while runs:
        last_key = min(run.last_key for run in runs)
        yield _ordered([run.take(last_key) for run in runs])
        runs = [run for run in runs if not run.is_over]


def _ordered(parts: list[Any]) -> Any:
    import pyarrow

    table = pyarrow.concat_tables(parts).combine_chunks()
    return table.take(_order(table))


def _order(table: Any) -> Ints:
    """Return the order of the reports of a table by member, slot and id.

    The first half of a random id nearly always decides.  As a number it is compared many times
    faster than a whole key.
    """
    addresses = _addresses(table)
    beginnings = _beginnings(tables.rows(table["id"], ID_BYTES))
    if (addresses == addresses[:1]).all():
        order = np.argsort(beginnings)
        tied = _has_ties(beginnings[order])
    else:
        order = np.lexsort((beginnings, addresses))
        same_address = np.diff(addresses[order]) == 0
        tied = bool((same_address & (np.diff(beginnings[order]) == 0)).any())
    return np.argsort(_keys(table), kind="stable") if tied else order


def _addresses(table: Any) -> Ints:
    """Return member and slot of every report as one number."""
    return tables.numbers(table["member"]) << 8 * _SLOT_BYTES | tables.numbers(table["slot"])


def _beginnings(ids: Values) -> Values:
    """Return the first half of every id as a number that compares as its bytes do."""
    halves = np.ascontiguousarray(ids[:, :8]).view(">u8").ravel()
    return halves.astype(np.uint64)


def _has_ties(ordered: Values) -> bool:
    return bool((ordered[1:] == ordered[:-1]).any())


def _keys(table: Any) -> Values:
    """Return member, slot and id of every report as one sortable entry."""
    members = tables.numbers(table["member"]).astype(f">u{_MEMBER_BYTES}")
    slots = tables.numbers(table["slot"]).astype(f">u{_SLOT_BYTES}")
    columns = [_as_bytes(members), _as_bytes(slots), tables.rows(table["id"], ID_BYTES)]
    return _entries(np.concatenate(columns, axis=1))


def _as_bytes(numbers: Ints) -> Values:
    return np.asarray(numbers.view(np.uint8).reshape(len(numbers), -1))


def _entries(rows: Values) -> Values:
    """Return rows of bytes as entries, which NumPy compares byte by byte.

    NumPy leaves out zeros at the end of an entry.  That changes no order among entries of one
    width.
    """
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel()
