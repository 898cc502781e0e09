"""The log of a sealed round: one Parquet file.

The file holds what the envelopes held and nothing else, sorted by report id, so that the order of
arrival is gone.  Its checksum is over that content, not over the bytes of the file, so that any
reader of Parquet can recompute it.  When reports must be erased, ``condense`` leaves their tallies
in a file beside the log.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from sottovoce.arrays import Bytes, Ints
from sottovoce.core.tally import Tally
from sottovoce.engine.base import by_address
from sottovoce.engine.files import replace_file
from sottovoce.engine.memory import ReportBatch
from sottovoce.errors import (
    CodecError,
    MismatchError,
    NoDataError,
    SottovoceError,
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
_BYTES = {bytes, bytearray}
_ENTRIES_AT_ONCE = 20_000  # Python objects made, joined or freed in one call


@dataclass(frozen=True)
class Log:
    """What a sealed file holds: how many reports, and the checksum of all of them."""

    count: int
    checksum: str


def write(path: Path, messages: Iterable[bytes], asked: Round) -> Log:
    """Write the log of a round; the file appears whole or not at all.

    The same reports give the same file, in whatever order they come.
    """
    groups = envelope.read(messages, asked.width)
    if not groups:
        raise NoDataError("a round without reports has no log")
    columns = _columns(groups)
    _write_parquet(path, columns)
    return Log(len(columns["id"]), _checksum(columns))


def read(path: Path, asked: Round, checksum: str) -> dict[Address, ReportBatch]:
    """Return the reports of a log by address; refuses a log that is not the sealed one.

    ``checksum`` is that of the seal.
    """
    columns = _packed(_read_parquet(path))
    if not _has_checksum(columns, checksum):
        raise MismatchError(f"the log of round {asked.number} is not the one that was sealed")
    batches = {}
    for address, chosen in by_address(asked.number, columns["member"], columns["slot"]):
        question = asked.question(address)
        payloads = _rows(columns["payload"][chosen], asked.width)[:, : question.width]
        batches[address] = ReportBatch(
            reports=question.mechanism.unpack(payloads.tobytes()),
            subjects=_rows(columns["subject"][chosen], ID_BYTES) if "subject" in columns else None,
            public=columns["public"][chosen] if "public" in columns else None,
        )
    return batches


def checksum_of(path: Path) -> str:
    """Return the checksum of what a log holds now, to compare it with that of the seal."""
    return _checksum(_packed(_read_parquet(path)))


def condense(path: Path, batches: Mapping[Address, ReportBatch], asked: Round) -> None:
    """Write the tally of every address that has one: what remains when the reports are erased."""
    arrays: dict[str, Ints] = {}
    index: list[list[Any]] = []
    for address, batch in batches.items():
        mechanism = asked.question(address).mechanism
        if not mechanism.has_tally:
            continue
        tally = mechanism.tally(batch.reports)
        arrays |= {_array_name(len(index), name): array for name, array in tally.counts.items()}
        index.append([address.member, address.slot, tally.users, sorted(tally.counts)])
    text = np.frombuffer(json.dumps(index).encode(), np.uint8)

    def save(new: Path) -> None:
        np.savez_compressed(new, index=text, **arrays)  # type: ignore[arg-type]

    replace_file(path, save)


def tallies(path: Path, asked: Round) -> dict[Address, Tally]:
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
def _loaded(path: Path) -> Iterator[Any]:
    if not path.exists():
        raise NoDataError("the log of this round is missing, and no sums were left of it")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            yield arrays
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise MismatchError("the sums of an erased round are damaged") from error


def _columns(groups: list[Envelopes]) -> dict[str, Any]:
    """Return the fields of all reports as columns, ordered by report id."""
    if len({group.flags & ~envelope.SLOT for group in groups}) > 1:
        raise CodecError("the reports of one round must carry the same fields")
    members = np.concatenate([group.members for group in groups])
    columns: dict[str, Any] = {
        "id": np.concatenate([_void(group.ids) for group in groups]),
        "member": members.astype(np.uint32),
        "slot": np.concatenate([_slots(group) for group in groups]),
        "payload": np.concatenate([_void(group.payloads) for group in groups]),
    }
    if groups[0].subjects is not None:
        subjects = [_void(np.asarray(group.subjects)) for group in groups]
        columns["subject"] = np.concatenate(subjects)
    if groups[0].public:
        public = [text for group in groups for text in group.public]
        columns["public"] = np.array(public, object)
    order = np.argsort(columns["id"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def _slots(group: Envelopes) -> Any:
    if group.slots is None:
        return np.zeros(len(group), np.uint16)
    return group.slots.astype(np.uint16)


def _void(rows: Bytes) -> Any:
    """Return rows of bytes as one array of opaque entries, which sorts."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()


def _packed(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with byte strings of one width as opaque entries of that width.

    The byte strings are freed on the way.  Making, joining and freeing millions of Python objects
    in one call would hold the interpreter's lock for seconds, while a server answers nobody.
    """
    return {name: _entries(columns.pop(name)) for name in list(columns)}


def _entries(column: Any) -> Any:
    widths = {len(entry) for entry in column[:1] if type(entry) in _BYTES}
    if column.dtype != object or not _have_one_width(column, widths):
        return column
    entries = np.empty(len(column), np.dtype((np.void, widths.pop())))
    for part in _parts(len(column)):
        entries[part] = np.frombuffer(b"".join(column[part].tolist()), entries.dtype)
        column[part] = None  # freed here, a part at a time
    return entries


def _have_one_width(column: Any, widths: set[int]) -> bool:
    """Return whether all entries are byte strings, and of the only width in a set."""
    if len(widths) != 1 or 0 in widths:
        return False
    for part in _parts(len(column)):
        entries = column[part].tolist()
        if not set(map(type, entries)) <= _BYTES or set(map(len, entries)) != widths:
            return False
    return True


def _parts(count: int) -> Iterator[slice]:
    """Yield the parts of a column in which Python objects are handled."""
    for start in range(0, count, _ENTRIES_AT_ONCE):
        yield slice(start, start + _ENTRIES_AT_ONCE)


def _rows(column: Any, width: int) -> Bytes:
    """Return a column of byte strings of one width as the rows of an array."""
    whole = column.tobytes() if column.dtype.kind == "V" else b"".join(column.tolist())
    return np.frombuffer(whole, np.uint8).reshape(-1, width)


def _has_checksum(columns: Mapping[str, Any], checksum: str) -> bool:
    try:
        return _checksum(columns) == checksum
    except (TypeError, ValueError):
        return False  # columns of other types than those of a log


def _checksum(columns: Mapping[str, Any]) -> str:
    """Return SHA-256 over all columns, ordered by name.

    A column adds its name and length, and then its numbers, or the bytes of its entries and their
    lengths.
    """
    total = hashlib.sha256()
    for name, column in sorted(columns.items()):
        total.update(f"{name}:{len(column)}:".encode())
        if column.dtype.kind in "iu":
            numbers = column
        elif column.dtype.kind == "V":
            total.update(column.tobytes())
            numbers = np.full(len(column), column.dtype.itemsize)
        else:
            numbers = _add_entries(total, column)
        total.update(numbers.astype("<u4").tobytes())
    return total.hexdigest()


def _add_entries(total: Any, column: Any) -> Any:
    """Add byte strings to a hash, and return their lengths."""
    lengths = np.empty(len(column), "<u4")
    for part in _parts(len(column)):
        entries = column[part].tolist()
        total.update(b"".join(entries))
        lengths[part] = np.fromiter(map(len, entries), "<u4", len(entries))
    return lengths


def _write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    select = f"select {', '.join(columns)} from reports"
    copy = f"copy ({select}) to '{{}}' (format parquet, compression zstd)"
    with _engine(UnavailableError("the log of a round cannot be written now")) as engine:
        engine.register("reports", {name: _as_objects(column) for name, column in columns.items()})
        replace_file(path, lambda new: engine.execute(copy.format(_quoted(new))))


def _as_objects(column: Any) -> Any:
    """Return a column of opaque entries as one of byte strings; others as they are."""
    if column.dtype.kind != "V":
        return column
    objects = np.empty(len(column), object)
    for part in _parts(len(column)):
        objects[part] = column[part].tolist()
    return objects


def _read_parquet(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise NoDataError("the log of this round has been erased or is missing")
    select = f"select * from read_parquet('{_quoted(path)}')"
    with _engine(MismatchError("the log of a round is damaged: it cannot be read")) as engine:
        columns: dict[str, Any] = engine.execute(select).fetchnumpy()
    return columns


@contextmanager
def _engine(failure: SottovoceError) -> Iterator[Any]:
    """Give a DuckDB connection; its errors become ``failure``, unless memory was the reason.

    A log that did not fit into memory must not be taken for a damaged one, which may be erased.
    """
    import duckdb

    try:
        with duckdb.connect(":memory:", config={"preserve_insertion_order": True}) as engine:
            yield engine
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise UnavailableError(NOT_ENOUGH_MEMORY) from error
    except duckdb.Error as error:
        raise failure from error


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
