"""Mixing: open all messages of a batch, add fakes, and draw a new order.

The order is that of 128-bit keys from the operating system, one per message: with n messages two
keys are equal with probability below n^2 / 2^129, and otherwise every order has the same
probability.

A batch may be larger than the memory.  Then the first bits of the keys are drawn for all messages
before anything is opened, and the inbox is read once for every value of these bits: each pass opens
the messages that belong to it, draws the rest of their keys, sorts and appends them.  The inbox is
read several times, but every message is opened once, and nothing that is opened is ever written to
the disk in another order than the final one.  The first bits themselves wait in a file without a
name, so that the memory in use does not grow with the batch.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sottovoce.core.rng import Rng
from sottovoce.shuffler.opening import LayerKey, Opening, opening
from sottovoce.shuffler.store.base import MixedBatch

MESSAGES_AT_ONCE = 8_192  # read from the inbox
_PASS_BYTES = 2  # of a key, which choose the pass
# Of one message in memory, beside its bytes: Python's object and its place in a list (41), its key
# (16), and its place in the order, as a number of NumPy while it is sorted (16) and of Python (40).
_OVERHEAD_BYTES = 113
_DRAWN_AT_ONCE = 1 << 16  # passes

Passes = npt.NDArray[np.uint16]


@dataclass(frozen=True)
class MixSource:
    """The messages to mix: ``pages`` reads the inbox from its beginning, always in the same order.

    ``make_fakes(first, count)`` returns ``count`` of the fakes, beginning with number ``first``.
    They have the length of an opened message.
    """

    pages: Callable[[], Iterator[list[bytes]]]
    message_count: int
    opened_bytes: int  # of one message
    key: LayerKey
    fake_count: int = 0
    make_fakes: Callable[[int, int], list[bytes]] = lambda start, count: []


@dataclass(frozen=True)
class MixLimits:
    """The memory for opened messages, in bytes, and the processes that open them.

    0 processes mean one per core.
    """

    mix_bytes: int = 1 << 28
    processes: int = 0

    def pass_count(self, source: MixSource) -> int:
        """Return how often the inbox is read: a power of two."""
        total = source.message_count + source.fake_count
        needed = total * (source.opened_bytes + _OVERHEAD_BYTES)
        passes = 1
        while passes * self.mix_bytes < needed and passes < 1 << 8 * _PASS_BYTES:
            passes *= 2
        return passes


@dataclass(frozen=True)
class MixResult:
    """The batch in the file, and the hashes of the messages that did not open."""

    batch: MixedBatch
    unreadable: tuple[bytes, ...]


def mix(source: MixSource, path: Path, limits: MixLimits, rng: Rng) -> MixResult:
    """Write the opened messages and the fakes to a new file in a random order."""
    passes = limits.pass_count(source)
    opened_by = opening(source.key, source.message_count, limits.processes)
    with path.open("wb") as file, _draws(source, path, passes, rng) as draws, opened_by as layer:
        writer = _Writer(file)
        mixer = _Mixer(source, draws, layer, rng)
        for number in range(passes):
            writer.write(mixer.mixed(number))
    batch = MixedBatch(writer.hash, writer.messages, len(mixer.unreadable))
    return MixResult(batch, tuple(mixer.unreadable))


def random_order(count: int, rng: Rng) -> list[int]:
    """Return the numbers below ``count`` in the order of random 128-bit keys."""
    keys = rng.longs(2 * count)
    order: list[int] = np.lexsort((keys[:count], keys[count:])).tolist()
    return order


class _PassDraws:
    """The pass that every message and every fake belongs to, each with one probability.

    The numbers are drawn once and kept in a file, which has no name and ends with this process.
    """

    def __init__(self, file: BinaryIO, passes: int) -> None:
        self._file = file
        self._mask = np.uint16(passes - 1)

    def draw(self, count: int, rng: Rng) -> None:
        """Draw the passes of ``count`` messages."""
        for start in range(0, count, _DRAWN_AT_ONCE):
            self._file.write(rng.bytes(_PASS_BYTES * min(_DRAWN_AT_ONCE, count - start)))

    def read(self, start: int, count: int) -> Passes:
        """Return the passes of so many messages, from a number on."""
        self._file.seek(_PASS_BYTES * start)
        return np.frombuffer(self._file.read(_PASS_BYTES * count), "<u2") & self._mask


@contextmanager
def _draws(source: MixSource, path: Path, passes: int, rng: Rng) -> Iterator[_PassDraws | None]:
    """Give the pass of every message while the block lasts; None if there is one pass."""
    if passes == 1:
        yield None
        return
    with tempfile.TemporaryFile(dir=path.parent) as file:  # beside the batch: not in memory
        draws = _PassDraws(file, passes)
        draws.draw(source.message_count + source.fake_count, rng)
        yield draws


@dataclass(frozen=True)
class _Mixer:
    """Opens, fakes and orders the messages of one pass after another."""

    source: MixSource
    draws: _PassDraws | None
    layer: Opening
    rng: Rng
    unreadable: list[bytes] = field(default_factory=list)

    def mixed(self, number: int) -> Iterator[bytes]:
        """Yield the messages and fakes of a pass in a random order, and keep none of them."""
        messages = self._open(number) + self._fakes(number)
        for index in random_order(len(messages), self.rng):
            yield messages[index]

    def _open(self, number: int) -> list[bytes]:
        """Return the opened messages of a pass; note the hash of each that cannot be opened."""
        opened: list[bytes] = []
        start = 0
        for page in self.source.pages():
            messages = page
            if self.draws is not None:
                chosen = np.flatnonzero(self.draws.read(start, len(page)) == number)
                messages = [page[index] for index in chosen]
            start += len(page)
            for sealed, content in zip(messages, self.layer.open(messages), strict=True):
                if content is None:
                    self.unreadable.append(hashlib.sha256(sealed).digest())
                else:
                    opened.append(content)
        if start != self.source.message_count:
            raise RuntimeError("the inbox has changed while its batch was mixed")
        return opened

    def _fakes(self, number: int) -> list[bytes]:
        """Return the fakes of a pass; they take the next numbers, whatever the pass is."""
        if self.draws is None:
            count = self.source.fake_count
            return self.source.make_fakes(0, count) if count else []
        before = 0
        count = 0
        for start in range(0, self.source.fake_count, _DRAWN_AT_ONCE):
            drawn_count = min(_DRAWN_AT_ONCE, self.source.fake_count - start)
            of_fakes = self.draws.read(self.source.message_count + start, drawn_count)
            before += int((of_fakes < number).sum())
            count += int((of_fakes == number).sum())
        return self.source.make_fakes(before, count) if count else []


class _Writer:
    """Writes messages one after another, counts them and hashes them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hasher = hashlib.sha256()
        self.messages = 0

    @property
    def hash(self) -> bytes:
        return self._hasher.digest()

    def write(self, messages: Iterator[bytes]) -> None:
        for message in messages:
            self._file.write(message)
            self._hasher.update(message)
            self.messages += 1
