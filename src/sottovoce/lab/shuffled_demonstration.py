"""The shuffled task of the demonstration: everybody's message passes two hops.

Both hops are real processes, started by their command.  Devices are many, so their messages are
made and sealed over arrays; each is what one device would send.
"""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sottovoce.answers.outcome import Outcome
from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import CollectorApi, ShufflerApi
from sottovoce.collector import key_files
from sottovoce.collector.collector import Collector
from sottovoce.core.base64url import text_of
from sottovoce.errors import MismatchError, StateError, UnavailableError
from sottovoce.lab import crowd
from sottovoce.lab.truth.compare import Comparison, compare
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.shuffled_settings import WantedShuffle, settle
from sottovoce.shuffler.run import opened_shuffler
from sottovoce.shuffler.settings import ShufflerSettings
from sottovoce.shuffler.signing_key import make_signing_key
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

NAME = "shuffled survey"
CENTRAL = 1.0  # what the collector alone may learn
DELTA = 1e-6
HOPS = 2
AT_ONCE = 1_000  # messages in one request
_PATIENCE = 120  # seconds until the batch must have passed both hops

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class ShuffledDemonstration:
    """The shuffled task, its answer beside the truth, and how long it took."""

    task: Task
    answer: Outcome
    compared: Comparison
    people: int
    seconds: float


@dataclass(frozen=True)
class HopPlace:
    """Where a hop of the demonstration keeps its data, and the port it listens on."""

    folder: Path
    port: int

    @property
    def hop(self) -> Hop:
        """Return the hop as a task names it."""
        key = text_of(make_signing_key(self.folder).public_key)
        return Hop(f"http://127.0.0.1:{self.port}", key)


def demonstrate_shuffled(
    url: str, collector: Collector, values: Sequence[str], progress: Progress
) -> ShuffledDemonstration:
    """Run a shuffled histogram of what people hold to its answer.

    ``url`` is the address of the collector's own process, which serves the same folder.
    """
    started = time.perf_counter()
    folder = collector.folder.parent / "hops"
    shutil.rmtree(folder, ignore_errors=True)
    places = [HopPlace(folder / str(number), _free_port()) for number in range(HOPS)]
    task = _task(collector, places, sorted(set(values)), len(values))
    with ExitStack() as stack:
        for place in places:
            stack.enter_context(_served(place))
        collector.create(codec.canonical(codec.document(task)), toml=False)
        for place in places:
            _add_task(place, task, url)
        _send(url, task, values, progress)
        answer = _answer(collector)
    seconds = time.perf_counter() - started
    compared = compare(task.plan, values, answer)
    return ShuffledDemonstration(task, answer, compared, len(values), seconds)


def _task(collector: Collector, places: Sequence[HopPlace], labels: list[str], people: int) -> Task:
    wanted = WantedShuffle(
        hops=tuple(place.hop for place in places),
        key=key_files.public_signing_key(collector.folder),
        users=people,
        delta=DELTA,
        central=CENTRAL,
    )
    settled = settle(Histogram(labels), None, wanted)
    collection = Collection(quota=people, minimum=min(50, people), grace=0)
    return Task(
        NAME,
        settled.plan,
        settled.epsilon,
        "One question, through two shufflers.",
        collection=collection,
        shuffle=settled.shuffle,
    )


@contextmanager
def _served(place: HopPlace) -> Iterator[None]:
    """Run a hop in a process of its own; it stops with the block."""
    options = ("--data", str(place.folder), "--port", str(place.port), "--rate", "0", "--json")
    command = [sys.executable, "-m", "sottovoce", "shuffle", "serve", *options]
    with (
        (place.folder / "hop.log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line or not json.loads(line)["url"]:
                raise UnavailableError(f"a hop did not start: see {place.folder / 'hop.log'}")
            yield
        finally:
            process.terminate()


def _add_task(place: HopPlace, task: Task, url: str) -> None:
    with opened_shuffler(ShufflerSettings(data=place.folder)) as shuffler:
        shuffler.add(codec.canonical(codec.document(task)), url)


def _send(url: str, task: Task, values: Sequence[str], progress: Progress) -> None:
    """Seal everybody's message and send it to the first hop."""
    notice = codec.publish(task)
    sealing = _sealing(CollectorApi(url), task)
    assert notice.shuffle is not None
    first_hop = ShufflerApi(notice.shuffle.hops[0].url)
    messages = crowd.messages(task, values)
    for start in range(0, len(messages), AT_ONCE):
        sealed = [sealing.seal(message, b"") for message in messages[start : start + AT_ONCE]]
        receipt = first_hop.send(notice.fingerprint, 0, sealed)
        if receipt.refused:
            raise UnavailableError("the first hop refused messages of the demonstration")
        progress(receipt.accepted)


def _sealing(api: CollectorApi, task: Task) -> Sealing:
    """Return what seals messages, once the hops have published their keys."""
    notice = codec.publish(task)
    for _ in range(10 * _PATIENCE):
        with suppress(StateError, MismatchError):
            keys = api.keys(task.name, 0, notice.digest)
            return Sealing(notice, notice.opening, keys)
        time.sleep(0.1)
    raise UnavailableError("the hops did not publish their keys in time")


def _answer(collector: Collector) -> Outcome:
    for _ in range(10 * _PATIENCE):
        collector.refresh()
        if collector.find(NAME).record.finished is not None:
            return collector.answer(NAME)
        time.sleep(0.1)
    raise UnavailableError("the batch did not pass the hops in time")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port: int = door.getsockname()[1]
    return port
