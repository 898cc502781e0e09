"""Sums and scores of the reports in Arrow tables: what one process does with a part of a log.

The process reads a sealed log part by part, or is an executor of Spark; everything here is
picklable and does not depend on Spark.  Batches are joined before they are decoded: with hundreds
of members a kernel would be called for ten rows at a time, and only start and stop.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes, Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.engine.base import by_address, estimate_candidates
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.tasks.collected import Blocks, Scored
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

MAX_BYTES_AT_ONCE = 1 << 25
MAX_SCORES_AT_ONCE = 1 << 22
MAX_CELLS_AT_ONCE = 1 << 22  # of all tallies of a round that are made in one pass

Sums = dict[tuple[int, int], Tally]  # by member and slot


@dataclass(frozen=True)
class Summed:
    """One row for a whole part: its sums, pickled."""

    sums: Callable[[Any], Sums]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        yield _row(sums=pickle.dumps(added(map(self.sums, tables(batches)))))


@dataclass(frozen=True)
class Tallies:
    """The tallies of all members and slots in a table."""

    asked: Round

    def __call__(self, table: Any) -> Sums:
        sums = {}
        for address, _, reports in pieces(table, self.asked):
            mechanism = self.asked.question(address).mechanism
            sums[address.member, address.slot] = mechanism.tally(reports)
        return sums


@dataclass(frozen=True, eq=False)
class Supports:
    """How many reports in a table support each of some candidates."""

    asked: Round
    among: Values | Blocks

    def __call__(self, table: Any) -> Sums:
        sums = {}
        for address, _, reports in pieces(table, self.asked):
            mechanism = self.asked.question(address).mechanism.pure()
            counts = {"support": self._count(mechanism, reports)}
            sums[address.member, address.slot] = Tally(mechanism.key, len(reports), counts)
        return sums

    def _count(self, mechanism: PureMechanism, reports: Reports) -> Ints:
        if isinstance(self.among, Blocks):
            prefixes = self.among.prefixes
            return mechanism.count_blocks(reports, prefixes, self.among.extension).ravel()
        return mechanism.count(reports, self.among)


@dataclass(frozen=True)
class Added:
    """One row for many: the sum of their sums, pickled."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        yield _row(sums=pickle.dumps(added(parts(batch["sums"] for batch in batches))))


@dataclass(frozen=True)
class Scores:
    """A row for every report: some of its columns, and its scores s0, s1, ..."""

    asked: Round
    scored: Scored
    columns: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for table in tables(batches, MAX_SCORES_AT_ONCE // max(self.scored.width, 1)):
            kept_columns = [table[name].combine_chunks() for name in self.columns]
            scores = [pyarrow.array(column) for column in self._scores(table)]
            names = [f"s{number}" for number in range(len(scores))]
            yield pyarrow.RecordBatch.from_arrays(
                [*kept_columns, *scores], names=[*self.columns, *names]
            )

    def _scores(self, table: Any) -> Floats:
        """Return (targets, reports)."""
        scores = np.empty((self.scored.width, len(table)))
        by_address = {
            address: (chosen, reports) for address, chosen, reports in pieces(table, self.asked)
        }
        for group in self.scored.together(by_address):
            chosen, reports = zip(*(by_address[address] for address in group), strict=True)
            scores[:, np.concatenate(chosen)] = self.scored.scores(group, reports).T
        return scores


@dataclass(frozen=True, eq=False)
class Vote:
    """The score of reports of one mechanism for one target."""

    mechanism: PureMechanism
    target: Floats

    def __call__(self, slot: int, member: int | Ints, reports: Reports) -> Floats:
        return self.mechanism.score(reports, self.target)[:, None]


@dataclass(frozen=True)
class JoinedEntries:
    """A few large rows for many small ones.

    Of every column the entries end to end and their lengths, or of a column of numbers the numbers.
    With a ``width`` all entries must have it.
    """

    width: int = 0

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for table in tables(batches):
            row: dict[str, bytes] = {}
            for name in table.column_names:
                content, column_numbers = self._parts(table[name])
                row[f"{name}_entries"] = content.tobytes()
                row[f"{name}_numbers"] = column_numbers.astype("<u4").tobytes()
            yield _row(**row)

    def _parts(self, column: Any) -> tuple[Bytes, Ints]:
        if str(column.type).startswith("int"):
            return np.zeros(0, np.uint8), numbers(column)
        if self.width:
            rows(column, self.width)
        return entries(column)


@dataclass(frozen=True)
class PartChecksums:
    """A row for every part of a log: its name and checksum, from the path and bytes of a file."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        from sottovoce.engine.parquet import checksum_of_reports, read_reports

        for batch in batches:
            for path, content in zip(batch["path"], batch["content"], strict=True):
                reports = read_reports(pyarrow.BufferReader(content.as_buffer()))
                name = path.as_py().rpartition("/")[2]
                yield _row(name=name, checksum=checksum_of_reports(reports))


def estimate_of_supports(
    mechanism: PureMechanism, supports: Tally, report: Reports, among: Values | Blocks
) -> Estimate:
    """Return the estimate of some candidates from how many reports support each of them.

    ``report`` is any one report: the laws of the candidates do not depend on how many there are.
    """
    known = estimate_candidates(mechanism, report, among)
    estimate = mechanism.estimate_counts(supports["support"], supports.users)
    return replace(estimate, noise=known.noise, law=known.law)


def parts(columns: Iterable[Any]) -> Iterator[Sums]:
    """Yield the sums in columns of pickled sums."""
    for column in columns:
        for entry in column.to_pylist():
            yield pickle.loads(entry)


def added(many: Iterable[Sums]) -> Sums:
    """Return the sums of all parts."""
    total: Sums = {}
    for sums in many:
        for key, tally in sums.items():
            total[key] = total[key] + tally if key in total else tally
    return total


def tables(batches: Iterable[Any], max_rows: int = MAX_BYTES_AT_ONCE) -> Iterator[Any]:
    """Yield batches joined to tables of about ``max_rows`` rows or ``MAX_BYTES_AT_ONCE`` bytes.

    No table is empty.
    """
    waiting: list[Any] = []
    row_count = 0
    size = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            row_count += batch.num_rows
            size += batch.nbytes
        if row_count >= max_rows or size >= MAX_BYTES_AT_ONCE:
            yield _table(waiting)
            waiting = []
            row_count = 0
            size = 0
    if waiting:
        yield _table(waiting)


def pieces(table: Any, asked: Round) -> Iterator[tuple[Address, Ints, Reports]]:
    """Yield every address in a table with the indices of its rows and their reports."""
    payloads = rows(table["payload"], asked.width)
    members = numbers(table["member"])
    slots = numbers(table["slot"])
    for address, chosen in by_address(asked.number, members, slots):
        with refusing(asked):
            question = asked.question(address)
            reports = question.mechanism.unpack(payloads[chosen, : question.width].tobytes())
        yield address, chosen, reports


def rows(column: Any, width: int) -> Bytes:
    """Return the entries of a column of bytes, all of one width, as the rows of a matrix."""
    data, lengths = entries(column)
    if (lengths != width).any():
        raise MismatchError(f"the log of this round must have entries of {width} bytes here")
    return data.reshape(-1, width)


def entries(column: Any) -> tuple[Bytes, Ints]:
    """Return the entries of a column end to end, and their lengths."""
    import pyarrow

    array = _complete(column).cast(pyarrow.large_binary())
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    content = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return content[bounds[0] : bounds[-1]], np.diff(bounds)


def numbers(column: Any) -> Ints:
    """Return a column of whole numbers, none of which may be missing."""
    return np.asarray(_complete(column).to_numpy(), np.int64)


@contextmanager
def refusing(asked: Round) -> Iterator[None]:
    """Refuse a log because a report in it does not belong to the round."""
    try:
        yield
    except (CodecError, ParameterError) as error:
        raise MismatchError(
            f"the log of round {asked.number} holds reports that no device can have made"
        ) from error


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
