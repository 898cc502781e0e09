"""The whole path on invented people, with the truth beside the answers.

The collector is a real one, and real clients send over HTTP.  The survey comes first, and its
answer is there before the other collections begin.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats
from sottovoce.client.device import Device
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.remote_collector import RemoteCollector
from sottovoce.client.transport import CollectorApi
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.run import open_store
from sottovoce.core.rng import Rng
from sottovoce.errors import MismatchError, MissingExtraError, UnavailableError
from sottovoce.lab import browser, crowd
from sottovoce.lab.patience import Patience
from sottovoce.lab.populations import residents
from sottovoce.lab.shuffled_demonstration import ShuffledDemonstration, demonstrate_shuffled
from sottovoce.lab.truth.compare import Comparison, compare, rehearse
from sottovoce.plans.frequencies.survey import Survey
from sottovoce.plans.numbers.distribution import Distribution
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.web.settings import Settings, clock
from sottovoce.wire import codec

DEVICES, PAGE = 1_000, 1_000  # people with a Python device, and people in a browser
AT_ONCE = 1_000  # messages of the crowd in one request
SHUFFLED = 5_000  # people whose messages pass two shufflers


class Stages(Protocol):
    """Observes how a demonstration proceeds."""

    def begin(self, stage: str, count: int) -> None:
        """Note that a stage begins, in which so many steps are to be made."""

    def advance(self, count: int) -> None:
        """Note that some steps of the present stage are made."""


class UnobservedStages:
    """Notes nothing."""

    def begin(self, stage: str, count: int) -> None:
        """Ignore the stage."""

    def advance(self, count: int) -> None:
        """Ignore the steps."""


@dataclass(frozen=True)
class Hosted:
    """A collector in a process of its own, and a token for its dashboard."""

    url: str
    folder: Path
    token: str
    process: "subprocess.Popen[str]"


@dataclass(frozen=True)
class Invented:
    """How many people are invented, and what one answer may reveal at most."""

    people: int
    epsilon: float
    seed: int


@dataclass(frozen=True)
class Senders:
    """How many people answered the survey in which way, and the message of one of them."""

    message: bytes
    devices: int
    in_page: int
    crowd: int
    note: str

    @property
    def people(self) -> int:
        """Return how many people answered."""
        return self.devices + self.in_page + self.crowd


@dataclass(frozen=True, eq=False)
class DemonstratedSurvey:
    """The survey: who answered how, and every answer beside the truth."""

    task: Task
    answers: Outcome
    compared: Comparison
    senders: Senders
    seconds: float


@dataclass(frozen=True, eq=False)
class DemonstratedRest:
    """What follows the survey: how long everybody slept, and a question through two shufflers."""

    sleep: Task
    slept: Outcome
    hours: Floats
    shuffled: ShuffledDemonstration | None

    @property
    def sleep_compared(self) -> Comparison:
        """Return mean, variance and quantiles of the hours of sleep beside the truth."""
        return rehearse(self.sleep.plan, self.hours, self.slept)


@contextmanager
def hosted(folder: Path) -> Iterator[Hosted]:
    """Yield a collector on a free port, in a folder that does not exist yet.

    It stops with the block.
    """
    store = open_store(Settings(data=folder))
    token = access.issue(store, access.ANALYST, int(clock()), label="demonstration")[0]
    store.close()
    options = ("serve", "--data", str(folder), "--port", "0", "--rate", "0", "--json")
    command = [sys.executable, "-m", "sottovoce", *options]
    with (
        (folder / "collector.log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise UnavailableError(
                    f"the collector did not start: see {folder / 'collector.log'}"
                )
            yield Hosted(json.loads(line)["url"], folder, token, process)
        finally:
            process.terminate()


def demonstrate_survey(
    host: Hosted, invented: Invented, stages: Stages | None = None
) -> DemonstratedSurvey:
    """Run the survey to its answer."""
    stages = stages or UnobservedStages()
    values = residents.people(invented.people, invented.seed)
    task = Task(
        "survey",
        Survey(residents.QUESTIONS),
        invented.epsilon,
        "Four questions, one of them to each person.",
        collection=_collection(invented.people),
    )
    with _collector(host.folder) as collector:
        _publish(host, collector, task)
        started = time.perf_counter()
        senders = _survey(host, task, values, stages)
        answers = _answer(host, collector, task, stages)
        seconds = time.perf_counter() - started
    return DemonstratedSurvey(task, answers, compare(task.plan, values, answers), senders, seconds)


def demonstrate_rest(
    host: Hosted, invented: Invented, stages: Stages | None = None
) -> DemonstratedRest:
    """Run the other collections to their answers."""
    stages = stages or UnobservedStages()
    hours = residents.sleep(invented.people, invented.seed)
    browsers = residents.people(invented.people, invented.seed)["browser"]
    sleep = Task(
        "hours of sleep",
        Distribution(*residents.HOURS, 240),
        invented.epsilon,
        "How long did you sleep?",
        collection=_collection(invented.people),
    )
    with _collector(host.folder) as collector:
        _publish(host, collector, sleep)
        stages.begin("everybody sends how long they slept", invented.people)
        _crowd(host, crowd.messages(sleep, hours), sleep, stages)
        slept = _answer(host, collector, sleep, stages)
        shuffled = _shuffled(host, collector, browsers, stages)
    return DemonstratedRest(sleep, slept, hours, shuffled)


def answered(host: Hosted, task: Task, values: Any, rng: Rng | None = None) -> Outcome:
    """Publish a task, let as many people answer as its quota asks for, and return the answer."""
    with _collector(host.folder) as collector:
        _publish(host, collector, task)
        _crowd(host, crowd.messages(task, values, rng=rng), task, UnobservedStages())
        answer = _answer(host, collector, task, UnobservedStages())
    remote = RemoteCollector(host.url, host.token)

    def served() -> bool | None:
        return True if remote.status(task.name)["state"] == "finished" else None

    Patience().until(served, "the collector does not serve the answer")
    return answer


def _collection(people: int) -> Collection:
    return Collection(quota=people, grace=0, minimum=min(50, people))


def _shuffled(
    host: Hosted, collector: Collector, browsers: Sequence[str], stages: Stages
) -> ShuffledDemonstration | None:
    """Let some people answer through two hops; nothing without the library that seals messages."""
    try:
        import cryptography  # noqa: F401
    except ModuleNotFoundError:
        return None
    chosen = list(browsers[:SHUFFLED])
    stages.begin("some of them answer once more, through two shufflers", len(chosen))
    return demonstrate_shuffled(host.url, collector, chosen, stages.advance)


def _survey(host: Hosted, task: Task, values: dict[str, Any], stages: Stages) -> Senders:
    """Let everybody answer: some on devices, some in a page, the crowd all at once."""
    columns = [list(column) for column in values.values()]
    people = len(columns[0])
    devices = min(DEVICES, people // 10)
    page = min(PAGE, people // 10)
    records = [_record(values, index) for index in range(devices + page)]
    stages.begin("people with a device of their own answer the survey", devices)
    message = _devices(host, task.name, records[:devices], stages)
    note = ""
    stages.begin("people in a web page answer it", page)
    try:
        in_page = browser.answer(host.url, task.name, records[devices:])
        stages.advance(in_page)
    except (MissingExtraError, UnavailableError) as error:
        in_page = 0
        note = f"nobody answered in a browser: {error}"
    first = devices + in_page
    others = {name: column[first:] for name, column in zip(values, columns, strict=True)}
    stages.begin("the crowd answers it", people - first)
    _crowd(host, crowd.messages(task, others), task, stages)
    return Senders(message, devices, in_page, people - first, note)


def _record(values: dict[str, Any], index: int) -> dict[str, Any]:
    return {
        name: column[index].item() if hasattr(column, "dtype") else column[index]
        for name, column in values.items()
    }


def _devices(host: Hosted, name: str, records: Sequence[dict[str, Any]], stages: Stages) -> bytes:
    """Let each person's own device fetch the task, answer and send; returns one of the messages."""
    message = b""
    for record in records:
        ledger = DiskLedger(":memory:")
        device = Device(host.url, ledger, delay=0.0)
        message = device.answer(name, record)
        device.flush()
        ledger.close()
        stages.advance(1)
    return message


def _crowd(host: Hosted, messages: Sequence[bytes], task: Task, stages: Stages) -> None:
    remote = CollectorApi(host.url)
    for start in range(0, len(messages), AT_ONCE):
        receipt = remote.send(task.name, messages[start : start + AT_ONCE])
        if receipt.refused:
            raise UnavailableError("the collector refused messages of the demonstration")
        stages.advance(receipt.accepted)


def _publish(host: Hosted, collector: Collector, task: Task) -> None:
    """Publish a task and wait until the process of the collector has seen it, twice a second."""
    collector.create(codec.canonical(codec.document(task)), toml=False)

    def seen() -> Task | None:
        with suppress(MismatchError):
            CollectorApi(host.url).task(task.name)
            return task
        return None

    Patience().until(seen, "the collector does not publish its tasks")


def _answer(host: Hosted, collector: Collector, task: Task, stages: Stages) -> Outcome:
    """Return the answer once the collector has sealed the round and finished."""
    stages.begin("the collector seals and decodes", 1)

    def finished() -> int | None:
        if host.process.poll() is not None:
            raise UnavailableError(f"the collector ended: see {host.folder / 'collector.log'}")
        collector.refresh()
        return collector.find(task.name).record.finished

    Patience().until(finished, "the collector did not finish in time")
    stages.advance(1)
    return collector.answer(task.name)


@contextmanager
def _collector(folder: Path) -> Iterator[Collector]:
    """Yield the collector's data, beside the process that serves it."""
    store = open_store(Settings(data=folder))
    try:
        yield Collector(store, folder, clock)
    finally:
        store.close()
