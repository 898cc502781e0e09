"""What one process of many does with its part of a sealed round: Arrow batches in, sums or scores out.

Everything here is picklable and knows nothing of who sends the batches.  Batches are put together before they are
decoded: with hundreds of members a kernel that is called for ten rows at a time only starts and stops.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes, Floats, Ints, Reports, Values
from sottovoce.core.tally import Tally
from sottovoce.engine.base import by_address
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.tasks.collected import Blocks, Scored
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

BYTES_AT_ONCE = 1 << 25
SCORES_AT_ONCE = 1 << 22

Sums = dict[tuple[int, int], Tally]  # by member and slot


@dataclass(frozen=True)
class Summed:
    """One row for a whole part: its sums."""

    sums: Callable[[Any], Sums]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        yield _row(sums=pickle.dumps(added(map(self.sums, tables(batches)))))


@dataclass(frozen=True)
class Tallies:
    """The tallies of all members and slots."""

    asked: Round

    def __call__(self, table: Any) -> Sums:
        found = {}
        for address, _, reports in pieces(table, self.asked):
            found[address.member, address.slot] = self.asked.question(address).mechanism.tally(reports)
        return found


@dataclass(frozen=True, eq=False)
class Supports:
    """How many reports support each of some candidates."""

    asked: Round
    among: Values | Blocks

    def __call__(self, table: Any) -> Sums:
        found = {}
        for address, _, reports in pieces(table, self.asked):
            mechanism = self.asked.question(address).mechanism
            counts = {"support": self._count(mechanism, reports)}
            found[address.member, address.slot] = Tally(mechanism.key, len(reports), counts)
        return found

    def _count(self, mechanism: Any, reports: Reports) -> Ints:
        if isinstance(self.among, Blocks):
            assert isinstance(mechanism, AffinePrefix)
            return mechanism.count_blocks(reports, self.among.prefixes, self.among.extension).ravel()
        assert isinstance(mechanism, PureMechanism)
        return mechanism.count(reports, self.among)


@dataclass(frozen=True)
class Added:
    """One row for many: the sum of their sums."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        yield _row(sums=pickle.dumps(added(parts(batch["sums"] for batch in batches))))


@dataclass(frozen=True)
class Scores:
    """A row for every report: the columns that say whose it is, and its scores s0, s1, ..."""

    asked: Round
    scored: Scored
    keys: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for table in tables(batches, SCORES_AT_ONCE // max(self.scored.width, 1)):
            columns = [pyarrow.array(column) for column in self._scores(table)]
            names = [f"s{at}" for at in range(len(columns))]
            own = [table[key].combine_chunks() for key in self.keys]
            yield pyarrow.RecordBatch.from_arrays([*own, *columns], names=[*self.keys, *names])

    def _scores(self, table: Any) -> Floats:
        found = np.empty((self.scored.width, len(table)))
        for address, places, reports in pieces(table, self.asked):
            found[:, places] = self.scored.score(address.slot, address.member, reports).T
        return found


@dataclass(frozen=True, eq=False)
class Vote:
    """The score of reports of one mechanism for one target."""

    mechanism: PureMechanism
    target: Floats

    def __call__(self, slot: int, member: int, reports: Reports) -> Floats:
        return self.mechanism.score(reports, self.target)[:, None]


@dataclass(frozen=True)
class Joined:
    """A few large rows for many small ones: every column's entries end to end, and their lengths, or its numbers.

    With a ``width`` all entries have it.
    """

    width: int = 0

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for table in tables(batches):
            made: dict[str, bytes] = {}
            for name in table.column_names:
                entries, lengths = self._parts(table[name])
                made |= {f"{name}_entries": entries.tobytes(), f"{name}_numbers": lengths.astype("<u4").tobytes()}
            yield _row(**made)

    def _parts(self, column: Any) -> tuple[Bytes, Ints]:
        if str(column.type).startswith("int"):
            return np.zeros(0, np.uint8), numbers(column)
        if self.width:
            rows(column, self.width)
        return _entries(column)


def parts(columns: Iterable[Any]) -> Iterator[Sums]:
    """Yield the sums in columns of them."""
    return (pickle.loads(entry) for column in columns for entry in column.to_pylist())


def added(many: Iterable[Sums]) -> Sums:
    """Return the sums of all parts."""
    total: Sums = {}
    for sums in many:
        for key, tally in sums.items():
            total[key] = total[key] + tally if key in total else tally
    return total


def tables(batches: Iterable[Any], most: int = BYTES_AT_ONCE) -> Iterator[Any]:
    """Yield batches put together to tables of about so many rows, or so many bytes, and never an empty one."""
    held, count, size = [], 0, 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            count, size = count + batch.num_rows, size + batch.nbytes
        if count >= most or size >= BYTES_AT_ONCE:
            yield _table(held)
            held, count, size = [], 0, 0
    if held:
        yield _table(held)


def pieces(table: Any, asked: Round) -> Iterator[tuple[Address, Ints, Reports]]:
    """Yield every address in a table with the places of its reports and the reports."""
    payloads = rows(table["payload"], asked.width)
    members = numbers(table["member"])
    slots = numbers(table["slot"])
    for address, places in by_address(asked.number, members, slots):
        with refusing(asked):
            question = asked.question(address)
            reports = question.mechanism.unpack(payloads[places, : question.width].tobytes())
        yield address, places, reports


def rows(column: Any, width: int) -> Bytes:
    """Return the entries of a column of bytes, all of one width, as the rows of a matrix."""
    data, lengths = _entries(column)
    if (lengths != width).any():
        raise MismatchError(f"the log of this round must have entries of {width} bytes here")
    return data.reshape(-1, width)


def numbers(column: Any) -> Ints:
    """Return a column of whole numbers, all of which must be there."""
    return np.asarray(_complete(column).to_numpy(), np.int64)


@contextmanager
def refusing(asked: Round) -> Iterator[None]:
    """Say of a report that its round cannot have that the log is not the round's."""
    try:
        yield
    except (CodecError, ParameterError) as error:
        raise MismatchError(f"the log of round {asked.number} holds reports that no device can have made") from error


def _entries(column: Any) -> tuple[Bytes, Ints]:
    """Return the entries of a column end to end, and how long they are."""
    import pyarrow

    array = _complete(column).cast(pyarrow.large_binary())
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    held = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return held[bounds[0] : bounds[-1]], np.diff(bounds)


def _complete(column: Any) -> Any:
    if column.null_count:
        raise MismatchError("the log of a round is damaged: a column has gaps")
    return column.combine_chunks()


def _table(batches: list[Any]) -> Any:
    import pyarrow

    return pyarrow.Table.from_batches(batches).combine_chunks()


def _row(**columns: Any) -> Any:
    import pyarrow

    return pyarrow.RecordBatch.from_pydict({name: [entry] for name, entry in columns.items()})
