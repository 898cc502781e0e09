"""One hop of a shuffled task against the bare opening of its messages.

Taking includes the durable inbox, mixing the new order and the batch file.  The last rows are those
of a real process (``lab/hop_cost.py``), which takes its messages over HTTP, delivers and erases
them.  ``scripts/shuffle_chain.py`` measures the same with a million messages.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sottovoce.core.rng import SystemRng
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import Timing, scaled, timed
from sottovoce.lab.hop_cost import HopCost, hop_cost
from sottovoce.shuffler.batch_file import BatchFiles
from sottovoce.shuffler.mixing import MESSAGES_AT_ONCE, MixLimits, MixSource, mix
from sottovoce.shuffler.opening import LayerKey
from sottovoce.shuffler.store.base import HopTask, NewRound, SealedOffer
from sottovoce.shuffler.store.sqlite import SqliteHopStore
from sottovoce.web.group_commit import MESSAGES_AT_ONCE as MESSAGES_IN_COMMIT
from sottovoce.wire.round_keys import KeyPair, new_round_key
from sottovoce.wire.seal import LayerOpener, SealContext, seal

MESSAGES = 100_000
AGAINST = "opening each message once (HPKE)"
CONTENT_BYTES = 102  # a sealed message of an affine report at the collector
_TASK = hashlib.sha256(b"benchmark").digest()
_CONTEXT = SealContext(_TASK, 0, 0, CONTENT_BYTES)  # the layer of one hop, whatever is under it


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the cost of taking, of mixing, and of both together as a multiple of bare HPKE."""
    count = scaled(MESSAGES, scale)
    keys = new_round_key()
    messages = _sealed(count, keys)
    key = LayerKey(keys.private_key, _CONTEXT, 0)
    opener = LayerOpener(key.private_key, _CONTEXT, 0)
    bare = timed(lambda: [opener.open(message) for message in messages])
    with tempfile.TemporaryDirectory(prefix="sottovoce-bench-") as name:
        store = _store(Path(name), keys)
        take = timed(lambda: _take(store, messages))
        mixing = timed(lambda: _mix(store, Path(name), key))
        store.close()
    both = Timing(take.cpu + mixing.cpu, take.wall + mixing.wall)
    yield _row(f"take {count:,} messages", take, bare, count)
    yield _row(f"mix {count:,} messages", mixing, bare, count)
    yield _row(f"take and mix {count:,} messages", both, bare, count)
    yield from _process_rows(hop_cost(count))


def _row(name: str, ours: Timing, bare: Timing, count: int) -> BenchmarkRow:
    figure = 1e6 * ours.cpu / count
    return BenchmarkRow("shuffling", name, figure, "us/message", AGAINST, ours.cpu / bare.cpu)


def _process_rows(cost: HopCost) -> Iterator[BenchmarkRow]:
    name = f"one hop as a process, {cost.messages:,} messages over HTTP"
    figure = 1e6 * cost.cpu_seconds / cost.messages
    goal = Goal("ratio", "<=", 2)
    yield BenchmarkRow("shuffling", name, figure, "us/message", AGAINST, cost.ratio, goal)
    yield BenchmarkRow("shuffling", "its largest size", cost.peak_bytes / 1e6, "MB")


def _sealed(count: int, keys: KeyPair) -> list[bytes]:
    contents = SystemRng().bytes(count * CONTENT_BYTES)
    starts = range(0, len(contents), CONTENT_BYTES)
    pieces = (bytes(contents[start : start + CONTENT_BYTES]) for start in starts)
    return [seal(piece, [keys.public_key], _CONTEXT) for piece in pieces]


def _store(folder: Path, keys: KeyPair) -> SqliteHopStore:
    store = SqliteHopStore(folder / "shuffler.db")
    store.add_task(HopTask(_TASK, "", "https://collector.example.org"))
    store.open_round(NewRound(_TASK, 0, "", 0, keys, bytes(64)))
    return store


def _take(store: SqliteHopStore, messages: list[bytes]) -> None:
    for start in range(0, len(messages), MESSAGES_IN_COMMIT):
        group = messages[start : start + MESSAGES_IN_COMMIT]
        store.take([SealedOffer(_TASK, 0, group)])
    store.close_inbox(_TASK, 0, len(messages))


def _mix(store: SqliteHopStore, folder: Path, key: LayerKey) -> None:
    source = MixSource(
        pages=lambda: store.inbox(_TASK, 0, MESSAGES_AT_ONCE),
        message_count=store.count_inbox(_TASK, 0),
        opened_bytes=CONTENT_BYTES,
        key=key,
    )
    limits = MixLimits(processes=1)
    files = BatchFiles(folder, _TASK)
    result = files.write(0, lambda path: mix(source, path, limits, SystemRng()))
    store.note_mixed(_TASK, 0, result.batch)
