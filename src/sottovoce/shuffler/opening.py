"""Opening the messages of a batch, on one core or on several.

The library holds the lock of the interpreter while it opens a message, so that threads take turns
and only processes work side by side.  They get the private key over a pipe, and end when the pipe
does: with the work, or with the process that started them, however that dies.
"""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.wire.seal import LayerOpener, SealContext

WORTH_PROCESSES = 20_000  # messages: opening as many takes as long as starting a process

Opened = list[bytes | None]  # the opened messages; None for a message that cannot be opened


@dataclass(frozen=True)
class LayerKey:
    """The key that opens the layer of one hop, as plain data that can be sent to a process."""

    private_key: bytes = field(repr=False)
    context: SealContext
    hop: int


class Opening:
    """Opens messages in this process."""

    def __init__(self, key: LayerKey) -> None:
        self._opener = LayerOpener(key.private_key, key.context, key.hop)

    def open(self, messages: Sequence[bytes]) -> Opened:
        """Return every message without the layer of this hop."""
        return [_opened(message, self._opener) for message in messages]


class ParallelOpening(Opening):
    """Opens messages in processes that wait at the other ends of these pipes."""

    def __init__(self, key: LayerKey, pipes: Sequence["Connection[object, object]"]) -> None:
        super().__init__(key)
        self._pipes = pipes

    def open(self, messages: Sequence[bytes]) -> Opened:
        size = -(-len(messages) // len(self._pipes)) or 1
        pieces = [messages[start : start + size] for start in range(0, len(messages), size)]
        opened: Opened = []
        try:
            for pipe, piece in zip(self._pipes, pieces, strict=False):
                pipe.send(piece)
            for pipe, _ in zip(self._pipes, pieces, strict=False):
                answer = pipe.recv()
                assert isinstance(answer, list)
                opened += answer
        except (EOFError, OSError) as error:
            raise UnavailableError("a process that opens messages has died") from error
        return opened


@contextmanager
def opening(key: LayerKey, message_count: int, processes: int) -> Iterator[Opening]:
    """Yield the opening for ``message_count`` messages; 0 ``processes`` mean one per core."""
    wanted = processes or os.cpu_count() or 1
    if wanted == 1 or message_count < WORTH_PROCESSES:
        yield Opening(key)
        return
    with ExitStack() as stack:
        pipes = [stack.enter_context(_process(key)) for _ in range(wanted)]
        yield ParallelOpening(key, pipes)


@contextmanager
def _process(key: LayerKey) -> Iterator["Connection[object, object]"]:
    """Run a process while the block lasts, and give the pipe to it."""
    context = multiprocessing.get_context("spawn")  # it has none of the files of this process
    ours, theirs = context.Pipe()
    process = context.Process(target=open_for, args=(key, theirs), name="opening", daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join()


def open_for(key: LayerKey, pipe: "Connection[object, object]") -> None:
    """Open the messages that come over a pipe, until it is closed at the other end."""
    here = Opening(key)
    while True:
        try:
            messages = pipe.recv()
            assert isinstance(messages, list)
            pipe.send(here.open(messages))
        except (EOFError, OSError):
            return


def _opened(sealed: bytes, opener: LayerOpener) -> bytes | None:
    try:
        return opener.open(sealed)
    except SottovoceError:
        return None
