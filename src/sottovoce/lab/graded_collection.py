"""Graded groups through a real collector: enrolled devices, some of them Byzantine, and a kill.

The collector is started by its command and killed in the middle of the round.  Half of the devices
have been heard by then; afterwards everybody sends, and what was acknowledged before is counted
once.  While the round is open, messages are tried that no honest device sends.  Messages of many
devices share a request.
"""

import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.client.transport import CollectorApi
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import UnavailableError
from sottovoce.lab import crowd
from sottovoce.lab.attacks.biased_numbers import BiasedNumbers
from sottovoce.lab.baselines.numbers.ostrich import ostrich
from sottovoce.lab.hop_processes import served
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.shuffle_chain import command
from sottovoce.lab.truth.metrics import jensen_shannon
from sottovoce.plans.numbers.distribution import Distribution, DistributionAnswer
from sottovoce.plans.numbers.graded_answer import groups_of
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.web import folder as folders
from sottovoce.wire import codec, envelope

NAME = "income"
ATTACK = BiasedNumbers(8, 2, chosen=(1, 6))  # Poi(8, 2), on both sides of the middle
AT_ONCE = 500  # messages in one request
_TIMEOUT = 120.0  # seconds for one request on a busy machine


@dataclass(frozen=True)
class GradedSettings:
    """How many devices there are, the ``byzantine`` share of them, and what they are asked."""

    devices: int = 10_000
    byzantine: float = 0.25
    epsilon: float = 2.0
    buckets: int = 64


@dataclass(frozen=True, eq=False)
class EnrolledDevices:
    """A task, and the messages and tokens of everybody; ``honest`` are the true shares."""

    task: Task
    messages: list[bytes]
    tokens: list[str]
    honest: Floats

    @cached_property
    def collected(self) -> MemoryCollected:
        """Return what a collector with these messages has."""
        opening = self.task.opening
        return MemoryCollected(self.task).after(
            opening, batches_of(self.task, opening, self.messages)
        )

    @cached_property
    def answer(self) -> DistributionAnswer:
        """Return the answer of these messages without a collector."""
        answer = self.task.plan.step(self.collected)
        assert isinstance(answer, DistributionAnswer)
        return answer

    def of_member(self, member: int, heard: int) -> int:
        """Return the first device of a group beyond those that were ``heard``."""
        places = range(heard, len(self.messages))
        return next(place for place in places if _member(self.messages[place]) == member)


def graded_task(settings: GradedSettings) -> Task:
    """Return the task that everybody is asked."""
    plan = Distribution(0, 1, settings.buckets, defence="graded")
    collection = Collection(quota=settings.devices, minimum=20, grace=0, enrolment=True)
    return Task(NAME, plan, settings.epsilon, collection=collection)


def enrolled_devices(settings: GradedSettings, tokens: Sequence[str]) -> EnrolledDevices:
    """Return the messages of devices with these tokens; honest people hold Beta(2, 5)."""
    rng = SeededRng(settings.devices)
    task = graded_task(settings)
    attackers = round(settings.byzantine * settings.devices)
    values = rng.generator.beta(2, 5, settings.devices - attackers)
    held = np.bincount(task.plan.domain.indices(values), minlength=settings.buckets)
    messages = [
        *crowd.false_messages(task, ATTACK.crafted, rng, tokens=tokens[:attackers]),
        *crowd.messages(task, values, rng=rng, tokens=tokens[attackers:]),
    ]
    order = rng.generator.permutation(settings.devices).tolist()
    return EnrolledDevices(
        task,
        [messages[place] for place in order],
        [tokens[place] for place in order],
        held / held.sum(),
    )


@dataclass(frozen=True)
class MessageRefusal:
    """What a dishonest device sent, the code that it must be refused with, and those it got."""

    sent: str
    expected: str
    codes: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Return whether everything was refused, for the right reason."""
        return bool(self.codes) and set(self.codes) == {self.expected}


@dataclass(frozen=True, eq=False)
class GradedRun:
    """What was seen: the devices, the collector's answer, and what it refused."""

    devices: EnrolledDevices
    answer: dict[str, Any]
    refusals: tuple[MessageRefusal, ...]
    starts: int
    seconds: float

    @property
    def is_same_answer(self) -> bool:
        """Return whether the collector's answer is that of the same messages without it."""
        expected = json.loads(self.devices.answer.to_json())
        kept = ("attack_seen", "false_share", "graded_groups", "remark", "steps", "measures")
        return self.answer["users"] == len(self.devices.messages) and all(
            self.answer[key] == expected[key] for key in kept
        )

    @property
    def divergences(self) -> dict[str, float]:
        """Return how far answers are from honest people: defended, and without the defence."""
        honest = self.devices.honest
        answer = self.devices.answer
        observed = [group.observed for group in groups_of(self.devices.collected)]
        return {
            "defended": jensen_shannon(answer.estimate.frequencies, honest),
            "plain EM": jensen_shannon(ostrich(observed)[0], honest),
            "EMS": jensen_shannon(answer.raw.estimate.frequencies, honest),
        }


def graded_run(settings: GradedSettings) -> GradedRun:
    """Collect from everybody; the collector is killed when half of them have been heard."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sottovoce-graded-") as place:
        data = Path(place) / "collector"
        folders.make(data)
        document = Path(place) / "task.json"
        document.write_text(codec.canonical(codec.document(graded_task(settings))))
        command("task", "create", str(document), "--data", str(data))
        words = ("token", "create", "enrolment", "--count", str(settings.devices))
        tokens = json.loads(command(*words, "--data", str(data), "--json"))["tokens"]
        devices = enrolled_devices(settings, tokens)
        half = settings.devices // 2
        with _killed_collector(data) as api:
            _send(api, devices.messages[:half], devices.tokens[:half])
        with served(Path(place) / "second.log", *_serve(data)) as process:
            api = CollectorApi(process.url, _TIMEOUT)
            refusals = tuple(_refusals(api, devices, half))
            _send(api, devices.messages, devices.tokens)
            _await_end(api)
        answer = json.loads(command("answer", NAME, "--data", str(data), "--json"))
    return GradedRun(devices, answer, refusals, 2, time.monotonic() - started)


def _serve(data: Path) -> tuple[str, ...]:
    return ("serve", "--data", str(data), "--port", "0")


@contextmanager
def _killed_collector(data: Path) -> Iterator[CollectorApi]:
    """Run a collector that is killed at once when the block is over."""
    with served(data.parent / "first.log", *_serve(data)) as process:
        yield CollectorApi(process.url, _TIMEOUT)
        os.kill(process.pid, signal.SIGKILL)


def _send(api: CollectorApi, messages: Sequence[bytes], tokens: Sequence[str]) -> None:
    """Send messages, some at a time; all must be taken, or have been taken before."""
    for start in range(0, len(messages), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        receipt = api.send(NAME, messages[part], tokens[part])
        if receipt.refused:
            raise UnavailableError(f"the collector refused {len(receipt.refused)} messages")


def _refusals(api: CollectorApi, devices: EnrolledDevices, heard: int) -> Iterator[MessageRefusal]:
    """Send what no honest device sends, while the round is open."""
    ask = devices.task.opening.ask
    last = ask.member_count - 1
    reports = ask.slots_of(last)
    probe, single = devices.of_member(last, heard), devices.of_member(0, heard)
    message, token = devices.messages[probe], devices.tokens[probe]
    length = len(message) // reports
    too_many = f"{reports + 1} reports where a person of the probe has {reports}"
    other_group = "the reports of another group than the token's"

    def codes(sent: Sequence[bytes], paid: Sequence[str]) -> tuple[str, ...]:
        return tuple(refused.code for refused in api.send(NAME, sent, paid).refused)

    yield MessageRefusal(too_many, "incomplete", codes([message + message[-length:]], [token]))
    yield MessageRefusal("one report too few", "incomplete", codes([message[:-length]], [token]))
    swapped = [devices.messages[single], message]
    paid = [token, devices.tokens[single]]
    yield MessageRefusal(other_group, "not-asked", codes(swapped, paid))
    again = devices.of_member(_member(devices.messages[0]), heard)
    spent = codes([devices.messages[again]], [devices.tokens[0]])
    yield MessageRefusal("a second message with a spent token", "token-spent", spent)


def _member(message: bytes) -> int:
    """Return the group that a message is for."""
    return envelope.header(message).version.read_number("member", message)


def _await_end(api: CollectorApi, patience: float = 600.0) -> None:
    """Wait until the round, whose quota is reached, has been sealed and answered."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        with suppress(UnavailableError):
            if api.round(NAME)[0] == "finished":
                return
        time.sleep(0.2)
    raise UnavailableError("the round did not end in time")
