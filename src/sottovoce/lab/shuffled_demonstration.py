"""The shuffled task of the demonstration: everybody's message passes two hops.

Both hops are real processes, started by their command.  Devices are many, so their messages are
made and sealed over arrays; each is what one device would send.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from sottovoce.answers.outcome import Outcome
from sottovoce.client.transport import CollectorApi, ShufflerApi
from sottovoce.collector import key_files
from sottovoce.collector.collector import Collector
from sottovoce.errors import UnavailableError
from sottovoce.lab import crowd, demonstration_folder
from sottovoce.lab.hop_processes import HopPlace, round_sealing
from sottovoce.lab.patience import Patience
from sottovoce.lab.truth.compare import Comparison, compare
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.shuffled_settings import WantedShuffle, settle
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

NAME = "shuffled survey"
CENTRAL = 1.0  # what the collector alone may learn
DELTA = 1e-6
HOPS = 2
AT_ONCE = 1_000  # messages in one request

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class ShuffledDemonstration:
    """The shuffled task, its answer beside the truth, and how long it took."""

    task: Task
    answer: Outcome
    compared: Comparison
    people: int
    seconds: float


def demonstrate_shuffled(
    url: str, collector: Collector, values: Sequence[str], progress: Progress
) -> ShuffledDemonstration:
    """Run a shuffled histogram of what people hold to its answer.

    ``url`` is the address of the collector's own process, which serves the same folder.
    """
    started = time.perf_counter()
    folder = collector.folder.parent / demonstration_folder.HOPS
    places = [HopPlace.new(folder / str(number)) for number in range(HOPS)]
    task = _task(collector, places, sorted(set(values)), len(values))
    with ExitStack() as stack:
        for place in places:
            stack.enter_context(place.served())
        collector.create(codec.canonical(codec.document(task)), toml=False)
        for place in places:
            place.add_task(task, url)
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


def _send(url: str, task: Task, values: Sequence[str], progress: Progress) -> None:
    """Seal everybody's message and send it to the first hop."""
    notice = codec.publish(task)
    sealing = round_sealing(CollectorApi(url), task)
    assert notice.shuffle is not None
    first_hop = ShufflerApi(notice.shuffle.hops[0].url)
    messages = crowd.messages(task, values)
    for start in range(0, len(messages), AT_ONCE):
        sealed = [sealing.seal(message, b"") for message in messages[start : start + AT_ONCE]]
        receipt = first_hop.send(notice.fingerprint, 0, sealed)
        if receipt.refused:
            raise UnavailableError("the first hop refused messages of the demonstration")
        progress(receipt.accepted)


def _answer(collector: Collector) -> Outcome:
    def finished() -> int | None:
        collector.refresh()
        return collector.find(NAME).record.finished

    Patience().until(finished, "the batch did not pass the hops in time")
    return collector.answer(NAME)
