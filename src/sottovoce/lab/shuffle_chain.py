"""A shuffled histogram through real processes: a collector, a chain of hops, and many devices.

Every server is started by its command.  Every device is a ``Client`` with a ledger of its own in
memory, and its message is sealed as on a phone; many devices share a process, a verified set of
keys and a request.  What each device put under the seal is kept, so that the answer can be compared
with that of the same reports without any shuffler.
"""

import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sottovoce.client.client import Client
from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import CollectorApi, ShufflerApi
from sottovoce.collector import key_files
from sottovoce.core.base64url import text_of
from sottovoce.engine import memory
from sottovoce.errors import StateError, UnavailableError
from sottovoce.lab.hop_processes import HopPlace, ServedProcess, round_sealing, served
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.shuffled_settings import WantedShuffle, settle
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.web import folder as folders
from sottovoce.wire import codec

NAME = "chain"
SIZE = 1024  # values of the histogram
LOCAL = 6.0
DELTA = 1e-9
AT_ONCE = 1_000  # messages in one request
_FINISHED = "finished"


@dataclass(frozen=True)
class ChainSettings:
    """How many people take part, through how many hops, each of which adds ``fakes``.

    ``hop_options`` are further options of the command of every hop.
    """

    people: int
    hops: int = 2
    fakes: int = 0
    has_tokens: bool = False
    hop_options: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunningChain:
    """A collector and its hops, which listen, and the task that they take part in."""

    task: Task
    folder: Path  # of the collector
    collector: ServedProcess
    hops: tuple[ServedProcess, ...]
    places: tuple[HopPlace, ...]
    enrolment_tokens: tuple[str, ...] = ()

    @cached_property
    def api(self) -> CollectorApi:
        """Return the interface of the collector."""
        return CollectorApi(self.collector.url)

    @property
    def is_finished(self) -> bool:
        """Return whether the batch has passed the hops and has been counted."""
        return self.api.round(NAME)[0] == _FINISHED

    def answer(self, patience: float) -> dict[str, Any]:
        """Return the collector's answer as its command prints it, once it is there."""
        deadline = time.monotonic() + patience
        while not self.is_finished:
            if time.monotonic() > deadline:
                raise UnavailableError("the batch did not pass the hops in time")
            time.sleep(0.2)
        printed = command("answer", NAME, "--data", str(self.folder), "--json")
        content: dict[str, Any] = json.loads(printed)
        return content


@contextmanager
def running_chain(folder: Path, settings: ChainSettings) -> Iterator[RunningChain]:
    """Run a collector and a chain of hops with a new task while the block lasts."""
    data = folder / "collector"
    folders.make(data)
    places = [HopPlace.new(folder / f"hop{number}") for number in range(settings.hops)]
    task = _task(data, places, settings)
    document = folder / "task.json"
    document.write_text(codec.canonical(codec.document(task)), encoding="utf-8")
    command("task", "create", str(document), "--data", str(data))
    enrolment_tokens: tuple[str, ...] = ()
    if settings.has_tokens:
        words = ("token", "create", "enrolment", "--count", str(settings.people))
        printed = command(*words, "--data", str(data), "--json")
        enrolment_tokens = tuple(json.loads(printed)["tokens"])
    with ExitStack() as stack:
        log = folder / "collector.log"
        collector = stack.enter_context(served(log, "serve", "--data", str(data), "--port", "0"))
        for place in places:
            place.add_task(task, collector.url)
        hops = [stack.enter_context(place.served(*settings.hop_options)) for place in places]
        yield RunningChain(task, data, collector, tuple(hops), tuple(places), enrolment_tokens)


def _task(data: Path, places: Sequence[HopPlace], settings: ChainSettings) -> Task:
    wanted = WantedShuffle(
        hops=tuple(place.hop for place in places),
        key=key_files.public_signing_key(data),
        users=settings.people,
        delta=DELTA,
        fakes=settings.fakes,
    )
    settled = settle(Histogram(range(SIZE)), LOCAL, wanted)
    issuer = None
    if settings.has_tokens:
        issuer = text_of(key_files.make_issuer(data).public_key.data)
    people = settings.people
    collection = Collection(quota=people, minimum=min(50, people), grace=0, issuer=issuer)
    return Task(NAME, settled.plan, LOCAL, collection=collection, shuffle=settled.shuffle)


def command(*words: str) -> str:
    """Return what a command of an operator prints."""
    line = [sys.executable, "-m", "sottovoce", *words]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


@dataclass(frozen=True)
class NotedSealing(Sealing):
    """A sealing that keeps what it seals: the reports that a collector without hops would get."""

    noted: list[bytes] = field(default_factory=list, compare=False)

    def seal(self, envelopes: bytes, token: bytes) -> bytes:
        """Return the sealed message, and keep the envelopes."""
        if envelopes:
            self.noted.append(envelopes)
        return super().seal(envelopes, token)


@dataclass(frozen=True)
class _Share:
    """The people whose devices share one process: their values, and their enrolment tokens."""

    url: str
    task: Task
    values: Sequence[int]
    enrolment_tokens: Sequence[str]


def answer_all(chain: RunningChain, values: Sequence[int], processes: int = 2) -> list[bytes]:
    """Let one device per value answer, and return the reports that they sealed.

    One process is this one; more are started for them.
    """
    shares = [
        _Share(
            chain.collector.url,
            chain.task,
            values[first::processes],
            chain.enrolment_tokens[first::processes],
        )
        for first in range(processes)
    ]
    if processes == 1:
        return _answer_share(shares[0])
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        noted = pool.map(_answer_share, shares, chunksize=1)
    return [report for reports in noted for report in reports]


def _answer_share(share: _Share) -> list[bytes]:
    """Answer for some people, and return the reports under the seals."""
    api = CollectorApi(share.url)
    notice = api.task(NAME)
    keys = round_sealing(api, share.task)
    sealing = NotedSealing(keys.notice, keys.asked, keys.keys)
    assert notice.shuffle is not None
    first_hop = ShufflerApi(notice.shuffle.hops[0].url)
    for start in range(0, len(share.values), AT_ONCE):
        sealed = []
        for number in range(start, min(start + AT_ONCE, len(share.values))):
            client = Client(notice, ":memory:")
            if client.blind_token.is_needed:
                _obtain_token(client, api, share.enrolment_tokens[number])
            sealed.append(client.answer(share.values[number], sealing=sealing))
            client.ledger.close()
        receipt = first_hop.send(notice.fingerprint, 0, sealed)
        if receipt.accepted != len(sealed):
            raise StateError("the first hop did not take all messages")
    return sealing.noted


def _obtain_token(client: Client, api: CollectorApi, enrolment_token: str) -> None:
    blinded = client.blind_token.blinded()
    client.blind_token.finish(api.blind_signature(NAME, enrolment_token, blinded))


def is_unshuffled_answer(task: Task, reports: Sequence[bytes], answer: dict[str, Any]) -> bool:
    """Return whether an answer is, bit for bit, that of the same reports without a shuffler."""
    expected: dict[str, Any] = json.loads(json.dumps(memory.answer(task, reports).to_dict()))
    rows = [
        {name: row[name] for name in fields}
        for row, fields in zip(answer["rows"], expected["rows"], strict=True)
    ]
    return bool(rows == expected["rows"] and answer["users"] == expected["users"])
