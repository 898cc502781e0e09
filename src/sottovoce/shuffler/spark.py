"""Mixing a batch beyond one machine, on Spark.

The inbox is read as Parquet files with a column ``sealed``.  Executors drop exact duplicates, open
their parts, and draw a random key of 128 bits for every message from their own operating system;
never with Spark's ``rand``, whose seed the driver knows.  Then Spark sorts by the keys, and the
driver writes the batch file.

A part that is computed again would get other keys, and Spark may then lose some rows and double
others.  So the keyed messages are kept where they were made, and if an executor dies the whole
mixing fails; nothing was sent, and it can begin again.  Executors write opened messages to their
disks while they sort: switch on ``spark.io.encryption.enabled``.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sottovoce.core.rng import SystemRng
from sottovoce.engine import tables
from sottovoce.engine.spark import frames
from sottovoce.engine.spark.frames import LogPaths
from sottovoce.shuffler.mixing import MixResult
from sottovoce.shuffler.opening import LayerKey, Opening
from sottovoce.shuffler.store.base import MixedBatch

_KEYED = "content binary, unreadable binary, high bigint, low bigint"


@dataclass(frozen=True)
class KeyedOpening:
    """The work of an executor: open the messages of its part and draw a key for each."""

    key: LayerKey

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield what is under the layers, or the hash of a message that does not open."""
        import pyarrow

        opening = Opening(self.key)
        for table in tables.tables(batches):
            sealed = table["sealed"].to_pylist()
            opened = opening.open(sealed)
            unreadable = [
                hashlib.sha256(message).digest() if content is None else None
                for message, content in zip(sealed, opened, strict=True)
            ]
            drawn = SystemRng().longs(2 * len(sealed)).view("<i8")
            columns = {
                "content": pyarrow.array(opened, pyarrow.binary()),
                "unreadable": pyarrow.array(unreadable, pyarrow.binary()),
                "high": pyarrow.array(drawn[: len(sealed)]),
                "low": pyarrow.array(drawn[len(sealed) :]),
            }
            yield from pyarrow.table(columns).to_batches()


def mix_on_spark(
    spark: Any, inbox: LogPaths, key: LayerKey, fakes: Sequence[bytes], path: Path
) -> MixResult:
    """Write the opened messages of an inbox and the fakes to a file, in a random order.

    ``fakes`` are sealed for the next hop already.
    """
    with frames.answering():
        listed = [inbox] if isinstance(inbox, str | PathLike) else list(inbox)
        sealed = spark.read.parquet(*map(str, listed)).select("sealed").dropDuplicates()
        keyed = frames.mapped(sealed, KeyedOpening(key), _KEYED).localCheckpoint()
        refused = keyed.filter("content is null").select("unreadable").collect()
        rows = keyed.filter("content is not null").select("content", "high", "low")
        if fakes:
            rows = rows.unionByName(spark.createDataFrame(_keyed_fakes(fakes), rows.schema))
        messages, digest = _write(rows.orderBy("high", "low").toLocalIterator(), path)
    unreadable = tuple(bytes(row["unreadable"]) for row in refused)
    return MixResult(MixedBatch(digest, messages, len(unreadable)), unreadable)


def _keyed_fakes(fakes: Sequence[bytes]) -> list[tuple[bytearray, int, int]]:
    drawn = SystemRng().longs(2 * len(fakes)).view("<i8").tolist()
    keys = zip(drawn[: len(fakes)], drawn[len(fakes) :], strict=True)
    return [(bytearray(fake), high, low) for fake, (high, low) in zip(fakes, keys, strict=True)]


def _write(rows: Iterable[Any], path: Path) -> tuple[int, bytes]:
    """Write the messages one after another; return their number and their hash."""
    hasher = hashlib.sha256()
    count = 0
    with path.open("wb") as file:
        for row in rows:
            content = bytes(row["content"])
            file.write(content)
            hasher.update(content)
            count += 1
    return count, hasher.digest()
