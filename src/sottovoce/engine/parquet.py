"""The log of a sealed round: one Parquet file, sorted by report id so that the order of arrival is gone.

The file holds what the envelopes held and nothing else.  Its checksum is over that content, not over its bytes, so
any reader can recompute it.  When reports must be erased, ``condense`` leaves their sums in a file beside it.
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
from sottovoce.errors import CodecError, MismatchError, NoDataError, UnavailableError
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.wire import envelope
from sottovoce.wire.envelope import ID_BYTES, Envelopes


@dataclass(frozen=True)
class Log:
    """What a sealed file holds: how many reports, and the checksum of all of them."""

    count: int
    checksum: str


def write(path: Path, messages: Iterable[bytes], asked: Round) -> Log:
    """Write the log of a round; the file appears whole or not at all, and the same reports give the same file."""
    groups = envelope.read(messages, asked.width)
    if not groups:
        raise NoDataError("a round without reports has no log")
    columns = _columns(groups)
    _write_parquet(path, columns)
    return Log(len(columns["id"]), _checksum(columns))


def read(path: Path, asked: Round, checksum: str = "") -> dict[Address, ReportBatch]:
    """Return the reports of a log by address; refuses a file that is not the one that was sealed."""
    columns = _read_parquet(path)
    if checksum and not _sealed(columns, checksum):
        raise MismatchError(f"the log of round {asked.number} is not the one that was sealed")
    found = {}
    for address, chosen in by_address(asked.number, columns["member"], columns["slot"]):
        question = asked.question(address)
        payloads = _rows(columns["payload"][chosen], asked.width)[:, : question.width]
        subjects = _rows(columns["subject"][chosen], ID_BYTES) if "subject" in columns else None
        public = columns["public"][chosen] if "public" in columns else None
        found[address] = ReportBatch(question.mechanism.unpack(payloads.tobytes()), subjects, public)
    return found


def condense(path: Path, batches: Mapping[Address, ReportBatch], asked: Round) -> None:
    """Write the tally of every address that has one: what remains of a round when its reports are erased."""
    arrays: dict[str, Ints] = {}
    index = []
    for address, batch in batches.items():
        if not asked.question(address).mechanism.has_tally:
            continue
        tally = asked.question(address).mechanism.tally(batch.reports)
        index.append([address.member, address.slot, tally.users, sorted(tally.counts)])
        arrays |= {f"{len(index) - 1}/{name}": array for name, array in tally.counts.items()}
    text = np.frombuffer(json.dumps(index).encode(), np.uint8)
    replace_file(path, lambda new: np.savez_compressed(new, index=text, **arrays))  # type: ignore[arg-type]


def tallies(path: Path, asked: Round) -> dict[Address, Tally]:
    """Return the tallies that were left of an erased round."""
    found = {}
    with _loaded(path) as arrays:
        for place, (member, slot, users, names) in enumerate(json.loads(arrays["index"].tobytes())):
            address = Address(asked.number, member, slot)
            counts = {name: arrays[f"{place}/{name}"] for name in names}
            found[address] = Tally(asked.question(address).mechanism.key, users, counts)
    return found


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
        raise CodecError("the reports of one round carry the same fields")
    ids = np.concatenate([_void(group.ids) for group in groups])
    order = np.argsort(ids, kind="stable")
    columns: dict[str, Any] = {
        "id": ids,
        "member": np.concatenate([group.members for group in groups]).astype(np.uint32),
        "slot": np.concatenate([_slots(group) for group in groups]),
        "payload": np.concatenate([_void(group.payloads) for group in groups]),
    }
    if groups[0].subjects is not None:
        columns["subject"] = np.concatenate([_void(np.asarray(group.subjects)) for group in groups])
    if groups[0].public:
        columns["public"] = np.array([one for group in groups for one in group.public], object)
    return {name: column[order] for name, column in columns.items()}


def _slots(group: Envelopes) -> Any:
    return np.zeros(len(group), np.uint16) if group.slots is None else group.slots.astype(np.uint16)


def _void(rows: Bytes) -> Any:
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()


def _rows(column: Any, width: int) -> Bytes:
    return np.frombuffer(b"".join(column.tolist()), np.uint8).reshape(-1, width)


def _sealed(columns: Mapping[str, Any], checksum: str) -> bool:
    try:
        return _checksum(columns) == checksum
    except (TypeError, ValueError):
        return False  # columns of other types than those of a log


def _checksum(columns: Mapping[str, Any]) -> str:
    """Return SHA-256 over every column by name: its length, and its numbers or the lengths and bytes of its entries."""
    total = hashlib.sha256()
    for name, column in sorted(columns.items()):
        total.update(f"{name}:{len(column)}:".encode())
        if column.dtype.kind not in "iu":
            entries = column.tolist()
            total.update(b"".join(entries))
            column = np.fromiter(map(len, entries), "<u4", len(entries))
        total.update(column.astype("<u4").tobytes())
    return total.hexdigest()


def _write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    import duckdb

    with duckdb.connect(":memory:", config={"preserve_insertion_order": True}) as engine:
        engine.register("reports", {name: _plain(column) for name, column in columns.items()})
        copy = f"copy (select {', '.join(columns)} from reports) to '{{}}' (format parquet, compression zstd)"
        try:
            replace_file(path, lambda new: engine.execute(copy.format(_quoted(new))))
        except duckdb.Error as error:
            raise UnavailableError("the log of a round cannot be written now") from error


def _plain(column: Any) -> Any:
    if column.dtype.kind != "V":
        return column
    made = np.empty(len(column), object)
    made[:] = column.tolist()
    return made


def _read_parquet(path: Path) -> dict[str, Any]:
    import duckdb

    if not path.exists():
        raise NoDataError("the log of this round has been erased or is missing")
    try:
        with duckdb.connect(":memory:", config={"preserve_insertion_order": True}) as engine:
            found: dict[str, Any] = engine.execute(f"select * from read_parquet('{_quoted(path)}')").fetchnumpy()
    except duckdb.Error as error:
        raise MismatchError("the log of a round is damaged: it cannot be read") from error
    return found


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
