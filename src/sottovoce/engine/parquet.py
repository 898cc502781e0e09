"""The log of a sealed round: one Parquet file, or a folder of them.

The log holds only the content of the envelopes, in an order that does not tell when a report
arrived.  Its checksum covers that content and not the bytes of the file, so that any reader of
Parquet can recompute it.  When reports must be erased, ``condense`` leaves their tallies in a file
beside the log.

Up to ``PART_BYTES`` of reports are one file, sorted by report id.  More become a folder of the same
name with a file for every part, sorted by member, slot and report id, so that the reports at one
address lie together.  The file ``_seal.json`` there lists the parts: their checksums, and the
number of reports at each address.  The checksum of such a log is that of this list.  The list is
written last, so that a log without it counts as missing.

A process reads and writes logs of any length in bounded memory: that of one part, and of sorting.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from sottovoce.arrays import Bytes, Ints
from sottovoce.core.tally import Tally
from sottovoce.engine import sorting, tables
from sottovoce.engine.base import by_address
from sottovoce.engine.files import folder_of, remove_folder, replace_file
from sottovoce.engine.memory import ReportBatch, joined
from sottovoce.engine.stored_path import AnyPath
from sottovoce.errors import (
    CodecError,
    MismatchError,
    NoDataError,
    UnavailableError,
)
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.wire import envelope
from sottovoce.wire.envelope import ID_BYTES, Envelopes

NOT_ENOUGH_MEMORY = (
    "there is not enough memory for the reports of a round: allow this process more; "
    "nothing is lost"
)
PART_BYTES = 32 << 20  # of the reports in one file
SEAL = "_seal.json"  # readers of Parquet folders leave out names that begin like this
DEFAULT_MEMORY = 1 << 30  # bytes
_RUN_SHARE = 16  # the part of the memory that a run may have: sorting holds it several times
_MESSAGE_BYTES_AT_ONCE = 16 << 20
_TEXTS_AT_ONCE = 20_000  # Python objects made in one call
_NEEDED = ("id", "member", "slot", "payload")
_OPTIONAL = ("subject", "public")


@dataclass(frozen=True)
class Log:
    """The number of reports in a sealed log, and the checksum of all of them."""

    count: int
    checksum: str


@dataclass(frozen=True)
class LogPart:
    """One file of a log: its checksum, and how many reports it has at which address."""

    name: str
    checksum: str
    counts: Mapping[Address, int]


@dataclass(frozen=True, eq=False)
class SealedLog:
    """A log that is read part by part; a part that is not the sealed one is refused."""

    path: AnyPath
    asked: Round
    parts: tuple[LogPart, ...]
    read: dict[str, Any] = field(default_factory=dict, repr=False)  # the part that was read last

    @cached_property
    def counts(self) -> dict[Address, int]:
        """Return how many reports there are at every address."""
        counts: dict[Address, int] = {}
        for part in self.parts:
            for address, count in part.counts.items():
                counts[address] = counts.get(address, 0) + count
        return dict(sorted(counts.items()))

    def tables(self, addresses: Iterable[Address] | None = None) -> Iterator[Any]:
        """Yield the reports in tables, a part at a time; of some addresses only, if they are named.

        Parts without reports at these addresses are not read.  Reports are ordered by address.
        """
        wanted = None if addresses is None else set(addresses)
        for part in self.parts:
            if wanted is None:
                yield self._table(part)
            elif not wanted.isdisjoint(part.counts):
                yield _joined(list(_slices(self._table(part), part.counts, wanted)))

    def _table(self, part: LogPart) -> Any:
        """Return the reports of a part; the last one that was read stays in memory."""
        if part.name not in self.read:
            with _enough_memory():
                self.read.clear()
                table = _read_parquet(self.path / part.name)
                if checksum_of_reports(table) != part.checksum:
                    raise _not_sealed(self.asked)
                self.read[part.name] = sorting.by_address(table)
        return self.read[part.name]


def _slices(table: Any, counts: Mapping[Address, int], wanted: set[Address]) -> Iterator[Any]:
    """Yield the reports at some addresses from a table that is ordered by address."""
    start = 0
    for address, count in counts.items():
        if address in wanted:
            yield table.slice(start, count)
        start += count


def write(
    path: AnyPath, messages: Iterable[bytes], asked: Round, memory: int = DEFAULT_MEMORY
) -> Log:
    """Write the log of a round; it appears whole or not at all.

    The same reports give the same log, in whatever order they come and whatever the memory.
    """
    with _enough_memory():
        reports = _tables(messages, asked.width)
        parts = _parts(sorting.sort(reports, folder_of(path), memory // _RUN_SHARE))
        first = next(parts, None)
        if first is None:
            raise NoDataError("a round without reports has no log")
        second = next(parts, None)
        if second is None:
            table = sorting.by_id(first)
            remove_folder(path)
            _write_parquet(path, table)
            return Log(len(table), checksum_of_reports(table))
        return _write_folder(path, chain([first, second], parts), asked)


def read(path: AnyPath, asked: Round, checksum: str) -> dict[Address, ReportBatch]:
    """Return all reports of a log by address; refuses a log that is not the sealed one.

    ``checksum`` is that of the seal.
    """
    batches: dict[Address, list[ReportBatch]] = {}
    with _enough_memory():
        for table in open_log(path, asked, checksum).tables():
            for address, chosen, reports in tables.pieces(table, asked):
                batch = ReportBatch(reports, *_people(table, chosen))
                batches.setdefault(address, []).append(batch)
        return {address: joined(parts) for address, parts in sorted(batches.items())}


def open_log(path: AnyPath, asked: Round, checksum: str) -> SealedLog:
    """Return a log that is read when its reports are needed; refuses another than the sealed one.

    Of a folder the list of parts is checked now, and every part whenever it is read.
    """
    if path.is_file():
        with _enough_memory():
            table = _read_parquet(path)
            if checksum_of_reports(table) != checksum:
                raise _not_sealed(asked)
            part = LogPart("", checksum, _counts(table, asked.number))
        return SealedLog(path, asked, (part,))
    return SealedLog(path, asked, listed_parts(_seal_text(path), asked, checksum))


def listed_parts(text: bytes, asked: Round, checksum: str) -> tuple[LogPart, ...]:
    """Return the parts that the list of a folder names; refuses any but the sealed list."""
    if hashlib.sha256(text).hexdigest() != checksum:
        raise _not_sealed(asked)
    parts = []
    for part in json.loads(text)["parts"]:
        counts = {
            Address(asked.number, member, slot): count for member, slot, count in part["reports"]
        }
        parts.append(LogPart(part["name"], part["checksum"], counts))
    return tuple(parts)


def exists(path: AnyPath) -> bool:
    """Return whether there is a log, and not only a part of one."""
    return path.is_file() or (path / SEAL).is_file()


def erase(path: AnyPath) -> None:
    """Erase a log."""
    (path / SEAL if path.is_dir() else path).unlink(missing_ok=True)
    remove_folder(path)


def checksum_of(path: AnyPath) -> str:
    """Return the checksum of the present content of a log, to compare it with the seal."""
    if path.is_dir():
        return hashlib.sha256(_seal_text(path)).hexdigest()
    with _enough_memory():
        return checksum_of_reports(_read_parquet(path))


def read_reports(source: Any) -> Any:
    """Return the reports in one Parquet file, a path or an open file, as a table.

    A file that has other columns than a log is refused.
    """
    import pyarrow
    from pyarrow import parquet

    damaged = MismatchError("the log of a round is damaged: it cannot be read")
    try:
        # One thread keeps both the data that is read at once and the memory of the allocator small.
        table = parquet.read_table(source, use_threads=False, partitioning=None)
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise damaged from error
    names = set(table.column_names)
    if not set(_NEEDED) <= names <= {*_NEEDED, *_OPTIONAL}:
        raise damaged
    if not all(_has_type_of_log(table[name], name) for name in names):
        raise damaged
    return table.combine_chunks()


def checksum_of_reports(table: Any) -> str:
    """Return SHA-256 over all columns, ordered by name.

    A column adds its name and length, and then its numbers, or the bytes of its entries and their
    lengths.
    """
    total = hashlib.sha256()
    for name in sorted(table.column_names):
        column = table[name]
        total.update(f"{name}:{len(column)}:".encode())
        if _is_number(column):
            numbers = tables.numbers(column)
        else:
            entries, numbers = tables.entries(column)
            total.update(entries)  # type: ignore[arg-type]
        total.update(numbers.astype("<u4").tobytes())
    return total.hexdigest()


def condense(path: AnyPath, tallied: Mapping[Address, Tally]) -> None:
    """Write the tallies of a round: what remains when its reports are erased."""
    arrays: dict[str, Ints] = {}
    index: list[list[Any]] = []
    for address, tally in tallied.items():
        arrays |= {_array_name(len(index), name): array for name, array in tally.counts.items()}
        index.append([address.member, address.slot, tally.users, sorted(tally.counts)])
    text = np.frombuffer(json.dumps(index).encode(), np.uint8)

    def save(new: Path) -> None:
        np.savez_compressed(new, index=text, **arrays)  # type: ignore[arg-type]

    replace_file(path, save)


def tallies(path: AnyPath, asked: Round) -> dict[Address, Tally]:
    """Return the tallies that were left of an erased round."""
    left = {}
    with _loaded(path) as arrays:
        index = json.loads(arrays["index"].tobytes())
        for number, (member, slot, users, names) in enumerate(index):
            address = Address(asked.number, member, slot)
            counts = {name: arrays[_array_name(number, name)] for name in names}
            left[address] = Tally(asked.question(address).mechanism.key, users, counts)
    return left


def _array_name(number: int, name: str) -> str:
    """Return under which name an array of a tally is stored."""
    return f"{number}/{name}"


@contextmanager
def _loaded(path: AnyPath) -> Iterator[Any]:
    if not path.exists():
        raise NoDataError("the log of this round is missing, and so are its sums")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            yield arrays
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise MismatchError("the sums of an erased round are damaged") from error


def _tables(messages: Iterable[bytes], width: int) -> Iterator[Any]:
    """Yield the reports in the messages as tables."""
    schema = None
    for group in _groups(messages, width):
        table = _table_of(group)
        schema = schema or table.schema
        if table.schema != schema:
            raise CodecError("the reports of one round must carry the same fields")
        yield table


def _groups(messages: Iterable[bytes], width: int) -> Iterator[Envelopes]:
    waiting: list[bytes] = []
    size = 0
    for message in messages:
        waiting.append(message)
        size += len(message)
        if size >= _MESSAGE_BYTES_AT_ONCE:
            yield from envelope.read(waiting, width)
            waiting = []
            size = 0
    yield from envelope.read(waiting, width)


def _table_of(group: Envelopes) -> Any:
    import pyarrow

    slots = np.zeros(len(group)) if group.slots is None else group.slots
    columns = {
        "id": _column(group.ids),
        "member": pyarrow.array(group.members.astype(np.uint32)),
        "slot": pyarrow.array(slots.astype(np.uint16)),
        "payload": _column(group.payloads),
    }
    if group.subjects is not None:
        columns["subject"] = _column(group.subjects)
    if group.public:
        columns["public"] = pyarrow.array(group.public, pyarrow.binary())
    return pyarrow.table(columns)


def _column(rows: Bytes) -> Any:
    """Return rows of bytes as a column."""
    import pyarrow

    content = pyarrow.py_buffer(np.ascontiguousarray(rows))
    kind = pyarrow.binary(rows.shape[1])
    return pyarrow.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, content])


def _parts(reports: Iterable[Any]) -> Iterator[Any]:
    """Yield sorted reports cut into parts, whatever tables they come in."""
    waiting: list[Any] = []
    room = PART_BYTES
    for table in reports:
        sizes = np.cumsum(_sizes(table))
        start = 0
        while start < len(table):
            before = sizes[start - 1] if start else 0
            end = int(np.searchsorted(sizes, before + room, side="right"))
            if end == start and not waiting:
                end += 1  # a report that is larger than a part is one by itself
            waiting.append(table.slice(start, end - start))
            if end < len(table):
                yield _joined(waiting)
                waiting = []
                room = PART_BYTES
            else:
                room -= int(sizes[-1] - before)
            start = end
    if sum(map(len, waiting)):
        yield _joined(waiting)


def _sizes(table: Any) -> Ints:
    """Return the bytes of every report."""
    sizes = np.zeros(len(table), np.int64)
    for name in table.column_names:
        kind = table.schema.field(name).type
        if name == "public":
            sizes += tables.entries(table[name])[1]
        else:
            sizes += kind.bit_width // 8
    return sizes


def _joined(parts: list[Any]) -> Any:
    import pyarrow

    return pyarrow.concat_tables(parts).combine_chunks()


def _write_folder(path: AnyPath, parts: Iterable[Any], asked: Round) -> Log:
    """Write the parts of a log, and last the list of them."""
    if path.is_file():
        path.unlink()  # a log of one file that was never sealed
    count = 0
    listed = []
    for number, table in enumerate(parts):
        name = f"part-{number:05d}.parquet"
        _write_parquet(path / name, table)
        counts = _counts(table, asked.number)
        addresses = [[address.member, address.slot, reports] for address, reports in counts.items()]
        listed.append({"name": name, "checksum": checksum_of_reports(table), "reports": addresses})
        count += len(table)
    text = json.dumps({"parts": listed}).encode()
    replace_file(path / SEAL, lambda new: new.write_bytes(text))
    return Log(count, hashlib.sha256(text).hexdigest())


def _seal_text(path: AnyPath) -> bytes:
    try:
        return (path / SEAL).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NoDataError("the log of this round has been erased or is missing") from None
    except OSError as error:
        raise UnavailableError("the log of a round cannot be read now") from error


def _counts(table: Any, round_number: int) -> dict[Address, int]:
    members, slots = tables.numbers(table["member"]), tables.numbers(table["slot"])
    addressed = by_address(round_number, members, slots)
    return {address: len(chosen) for address, chosen in addressed}


def _people(table: Any, chosen: Ints) -> tuple[Any, Any]:
    """Return the subjects and the public texts of some reports, None where there are none."""
    subjects = public = None
    if "subject" in table.column_names:
        subjects = tables.rows(table["subject"], ID_BYTES)[chosen]
    if "public" in table.column_names:
        public = _texts(table["public"].take(chosen))
    return subjects, public


def _texts(column: Any) -> Any:
    """Return a column of texts as Python's objects.

    Making millions of them in one call would hold the interpreter's lock for seconds, while a
    server answers nobody.
    """
    texts = np.empty(len(column), object)
    for start in range(0, len(column), _TEXTS_AT_ONCE):
        part = column.slice(start, _TEXTS_AT_ONCE)
        texts[start : start + len(part)] = part.to_pylist()
    return texts


def _is_number(column: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_integer(column.type))


def _not_sealed(asked: Round) -> MismatchError:
    return MismatchError(f"the log of round {asked.number} is not the one that was sealed")


def _write_parquet(path: AnyPath, table: Any) -> None:
    from pyarrow import parquet

    def save(new: Path) -> None:
        parquet.write_table(
            table,
            new,
            compression="zstd",
            use_dictionary=["member", "slot", "public"],
            write_statistics=["member", "slot"],
            store_schema=False,
        )

    replace_file(path, save)


def _read_parquet(path: AnyPath) -> Any:
    """Return the reports in one file."""
    if not path.exists():
        raise NoDataError("the log of this round has been erased or is missing")
    return read_reports(path if isinstance(path, Path) else path.open())


def _has_type_of_log(column: Any, name: str) -> bool:
    import pyarrow

    if name in ("member", "slot"):
        return _is_number(column)
    kind = column.type
    return bool(pyarrow.types.is_binary(kind) or pyarrow.types.is_fixed_size_binary(kind))


@contextmanager
def _enough_memory() -> Iterator[None]:
    """Turn a lack of memory into an error that callers can act on.

    A log that did not fit into memory must not be mistaken for a damaged one, which may be erased.
    """
    try:
        yield
    except MemoryError as error:
        raise UnavailableError(NOT_ENOUGH_MEMORY) from error
