"""What one hop costs as a process: its processor time beside bare decryption, and its memory.

Messages of people are sealed by other processes and sent to the hop over HTTP.  It stores, opens,
mixes, delivers and erases them; the collector is a real one.  Meanwhile this process opens messages
of the same length, again and again for a moment, so that both are timed under the same load.

    ratio = processor time of the hop from the first message to the erasing of the batch
            / (messages * processor time of opening one message)
"""

import multiprocessing
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from sottovoce.client.transport import CollectorApi, ShufflerApi
from sottovoce.core.rng import SystemRng
from sottovoce.errors import StateError
from sottovoce.lab import crowd
from sottovoce.lab.hop_processes import round_sealing
from sottovoce.lab.shuffle_chain import (
    AT_ONCE,
    SIZE,
    ChainSettings,
    RunningChain,
    running_chain,
)
from sottovoce.shuffler.store.base import BatchState
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.round_keys import new_round_key
from sottovoce.wire.seal import LayerOpener, SealContext, seal
from sottovoce.wire.shuffled_message import seal_context

_SENDERS = 2  # processes that seal and send
_OPENED_AT_ONCE = 300  # messages, before this process sleeps again
_PAUSE = 0.4  # seconds


@dataclass(frozen=True)
class HopCost:
    """The cost of one hop: processor seconds, those of bare decryption, and its largest size."""

    messages: int
    cpu_seconds: float
    bare_seconds: float
    peak_bytes: int

    @property
    def ratio(self) -> float:
        """Return the processor time as a multiple of that of opening each message once."""
        return self.cpu_seconds / self.bare_seconds


@dataclass(frozen=True)
class _Load:
    """The messages that one process sends."""

    url: str
    task: Task
    count: int


def hop_cost(messages: int, *hop_options: str) -> HopCost:
    """Return what so many messages cost one hop, started with further options of its command."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-hop-") as name:
        options = ("--mix-processes", "1", *hop_options)
        settings = ChainSettings(messages, hops=1, hop_options=options)
        with running_chain(Path(name), settings) as chain:
            return _measured(chain, messages)


def _measured(chain: RunningChain, messages: int) -> HopCost:
    [hop], [place] = chain.hops, chain.places
    round_sealing(chain.api, chain.task)  # the hop has started, and made its key
    before = hop.cpu_seconds
    bare = _BareOpening(chain.task)
    counts = [len(part) for part in np.array_split(np.arange(messages), _SENDERS)]
    loads = [_Load(chain.collector.url, chain.task, count) for count in counts]
    with multiprocessing.get_context("spawn").Pool(_SENDERS) as pool:
        sent = pool.map_async(_send, loads, chunksize=1)
        while not sent.ready():
            bare.open_some()
            time.sleep(_PAUSE)
        sent.get()
    while place.state(chain.task) != BatchState.ERASED:
        bare.open_some()
        time.sleep(_PAUSE)
    used = hop.cpu_seconds - before
    return HopCost(messages, used, messages * bare.seconds_each, hop.peak_bytes)


class _BareOpening:
    """Opens messages as long as those that the hop gets, with a key of its own."""

    def __init__(self, task: Task) -> None:
        notice = codec.publish(task)
        at_hop = seal_context(notice, notice.opening, notice.fingerprint)
        context = SealContext(notice.fingerprint, 0, 0, at_hop.sealed_bytes(1))
        keys = new_round_key()
        content = bytes(SystemRng().bytes(context.message_bytes))
        self._sealed = [seal(content, [keys.public_key], context) for _ in range(_OPENED_AT_ONCE)]
        self._opener = LayerOpener(keys.private_key, context, 0)
        self._seconds = 0.0
        self._opened = 0

    def open_some(self) -> None:
        """Open some messages and note the processor time."""
        started = process_time()
        for message in self._sealed:
            self._opener.open(message)
        self._seconds += process_time() - started
        self._opened += len(self._sealed)

    @property
    def seconds_each(self) -> float:
        """Return the mean processor time of opening one message."""
        return self._seconds / self._opened


def _send(load: _Load) -> None:
    """Seal and send messages of people, a thousand at once."""
    sealing = round_sealing(CollectorApi(load.url), load.task)
    notice = sealing.notice
    assert notice.shuffle is not None
    first_hop = ShufflerApi(notice.shuffle.hops[0].url)
    for start in range(0, load.count, AT_ONCE):
        count = min(AT_ONCE, load.count - start)
        messages = crowd.messages(load.task, np.arange(count) % SIZE)
        sealed = [sealing.seal(message, b"") for message in messages]
        if first_hop.send(notice.fingerprint, 0, sealed).accepted != count:
            raise StateError("the hop did not take all messages")
