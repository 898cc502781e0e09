"""People with devices: tasks of every shape, honest messages for them, and messages made byte by
byte.
"""

import struct
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

import sottovoce as sv
from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import RoundRecord, State, TaskRecord
from sottovoce.core.estimate import Total
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.encodings.base import Encoding
from sottovoce.errors import NoDataError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

KINDS = (
    "affine",
    "affine_prefix",
    "blh",
    "bloom",
    "duchi",
    "grr",
    "hadamard",
    "hybrid",
    "olh",
    "oue",
    "piecewise",
    "rmp",
    "square_wave",
    "subset",
    "sue",
    "the",
)
SIZE = 16
SUBJECT, SLOT, PUBLIC = 1, 2, 4


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now=1_800_000_000):
        self.now = now

    def __call__(self):
        return float(self.now)

    def pass_(self, seconds):
        self.now += seconds


@dataclass(frozen=True)
class Once(Plan, kind="test_once"):
    """One round that asks anything; the answer is how many people answered."""

    domain: Integers
    ask: Question | Choice | Bundle

    def step(self, collected):
        if not collected.rounds:
            return Round(0, self.ask)
        users = collected.users(0)
        return NumberAnswer(
            "once", {"people": Total(float(users), 0.0)}, users, collected.epsilon, "test"
        )


@dataclass(frozen=True)
class Ladder(Plan, kind="test_ladder"):
    """Three rounds for three groups of people, each made from what the one before found."""

    takes_fakes = True
    domain: Integers

    def step(self, collected):
        half, whole, part = (
            exact.UNIT // 2,
            self._ask(collected.epsilon),
            self._ask(collected.epsilon / 2),
        )
        if not collected.rounds:
            return Round(0, whole, high=half)
        seen = 1 + int(np.argmax(collected.estimate(Address(0)).totals))
        if len(collected.rounds) == 1:
            return Round(
                1, Choice((whole, Bundle((part, part))), (seen, 1)), low=half, high=half + half // 2
            )
        if len(collected.rounds) == 2:
            return Round(2, Bundle((part, Choice((part, part), (1, seen)))), low=half + half // 2)
        places = {"first": Address(0), "second": Address(1, 0), "third": Address(2, 0, 0)}
        made = {
            name: Answer(name, self.domain.labels, collected.estimate(at), "grr").at(0.9)
            for name, at in places.items()
        }
        return Answers("ladder", made)

    def later_rounds(self, opening):
        return RoundLimits.of(3, [opening.ask])

    def _ask(self, epsilon):
        return Question(GRR(epsilon, self.domain.size))


@dataclass(frozen=True)
class Stumble(Plan, kind="test_stumble"):
    """Asks once and then cannot answer; ``dear`` asks for more than was paid instead."""

    domain: Integers
    dear: bool = False

    def step(self, collected):
        if not collected.rounds:
            return Round(0, Question(GRR(collected.epsilon, self.domain.size)))
        if self.dear:
            return Round(1, Question(GRR(2 * collected.epsilon, self.domain.size)))
        raise NoDataError("this plan never answers")


@dataclass(frozen=True)
class Early(Plan, kind="test_early"):
    """Says something before its two rounds are over, and something else at the end."""

    domain: Integers

    def step(self, collected):
        if len(collected.rounds) < 2:
            half = exact.UNIT // 2
            low, high = (half, exact.UNIT) if collected.rounds else (0, half)
            return Round(
                len(collected.rounds), Question(GRR(collected.epsilon, self.domain.size)), low, high
            )
        return self._said(collected, "at the end")

    def later_rounds(self, opening):
        return RoundLimits.of(2, [opening.ask])

    def so_far(self, collected):
        return self._said(collected, "so far")

    def _said(self, collected, figure):
        users = sum(collected.users(one.number) for one in collected.rounds)
        return NumberAnswer(
            "early", {figure: Total(float(users), 0.0)}, users, collected.epsilon, "grr"
        )


@dataclass(frozen=True)
class Modulo(Encoding, kind="test_modulo"):
    """A value's remainder, so that small questions fit a large domain."""

    by: int

    def __call__(self, values, rng):
        return values % self.by

    def outputs(self, domain):
        return self.by


@dataclass(frozen=True)
class Many(Family, kind="test_many"):
    """Questions too many to list."""

    count: int
    epsilon: float

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return Question(GRR(self.epsilon, 3), Modulo(3))


def question(kind="grr", epsilon=1.0, size=SIZE):
    """A question with a mechanism of this kind."""
    return Question(Mechanism.kinds[kind](epsilon=epsilon, size=size))


WIDE, NARROW, HALF, OTHER_HALF = (
    question("oue"),
    question(),
    question("sue", 0.5),
    question("grr", 0.5),
)
ASKS = {
    **{kind: question(kind) for kind in KINDS},
    "choice": Choice((NARROW, WIDE, question("hadamard")), (1, 2, 5)),
    "choice of a family": Choice(Many(20, 1.0)),
    "bundle": Bundle((HALF, OTHER_HALF)),
    "choice of bundles": Choice((Bundle((HALF, OTHER_HALF)), WIDE, Bundle((OTHER_HALF, HALF)))),
    "bundle of choices": Bundle(
        (Choice((HALF, OTHER_HALF)), Choice((OTHER_HALF, HALF, HALF), (1, 1, 3)))
    ),
}


def once(ask, name="once", **settings):
    """A task that asks one thing."""
    rest = {key: settings.pop(key) for key in ("declares", "distinct") if key in settings}
    made = Collection(**({"minimum": 2, "grace": 0} | settings))
    return Task(name, Once(Integers(0, SIZE - 1), ask), epsilon=1.0, collection=made, **rest)


def counting(name="count", size=256, **settings):
    """A task whose reports show the value they hold: a report counted twice is seen."""
    made = Collection(**({"minimum": 2, "grace": 0} | settings))
    return sv.Task(name, sv.Histogram(Integers(0, size - 1), "grr"), epsilon=1.0, collection=made)


def text(task):
    """A task as the file that publishes it."""
    return codec.canonical(codec.document(task))


def digest_of(task):
    return codec.digest_bytes(codec.document(task))


def published(task, *later, state=State.OPEN):
    """A task as a collector holds it, without a store."""
    document = codec.document(task)
    record = TaskRecord(task.name, codec.digest(document), codec.canonical(document), 0)
    rounds = [
        RoundRecord(record.digest, one.number, codec.canonical(codec.document(one)), state, 0, 0, 0)
        for one in (task.opening, *later)
    ]
    return Published.of(record, rounds)


def envelope(
    digest, payload, *, number=0, member=0, slot=None, subject=b"", public=b"", report=b"", **forged
):
    """One envelope, byte by byte; ``forged`` are a version, flags or a length that are not what
    they should be.
    """
    tail = subject + (b"" if slot is None else struct.pack("<H", slot)) + public + payload
    flags = forged.get(
        "flags", SUBJECT * bool(subject) | SLOT * (slot is not None) | PUBLIC * bool(public)
    )
    fixed = (forged.get("version", 1), flags, number, forged.get("length", 44 + len(tail)), member)
    return struct.pack("<BBHII", *fixed) + digest + (report or fresh()) + tail


_reports = iter(range(1 << 62))


def fresh():
    """A report id that no other report has."""
    return sha256(b"report %d" % next(_reports)).digest()[:16]


def honest(task, count, asked=None, seed=1, values=None):
    """Messages of so many devices, as their coins and mechanisms make them."""
    asked, rng, dice = asked or task.opening, SeededRng(seed), np.random.default_rng(seed)
    held = _anything(task.plan.domain, dice, count) if values is None else np.asarray(values)
    coins = dice.integers(0, 1 << 63, (count, 8)).astype(np.uint64) * np.uint64(2)
    return [_message(task, asked, held[one : one + 1], coins[one], rng) for one in range(count)]


def _anything(domain, dice, count):
    if isinstance(domain, Records):
        return np.stack([_anything(one, dice, count) for one in domain.attributes], axis=1)
    return dice.integers(0, domain.size, count)


def _message(task, asked, value, coins, rng):
    ask, member = asked.ask, 0
    if isinstance(ask, Choice):
        member = int(ask.pick(coins[:1])[0])
        ask = ask.members[member]
    pieces = []
    for slot, part in enumerate(ask.parts if isinstance(ask, Bundle) else (ask,)):
        chosen = int(part.pick(coins[slot : slot + 1])[0]) if isinstance(part, Choice) else member
        one = asked.question(Address(asked.number, chosen, slot))
        payload = one.mechanism.pack(one.privatize(value, rng)).ljust(asked.width, b"\0")
        place = {
            "number": asked.number,
            "member": chosen,
            "slot": slot if asked.slots > 1 else None,
        }
        extra = {
            key: made
            for key, made in (("subject", fresh()), ("public", b"{}"))
            if key in task.declares
        }
        pieces.append(envelope(digest_of(task), payload, **place, **extra))
    return b"".join(pieces)


def numbered(task, *values, report=b""):
    """Messages of the counting task that hold these values, one byte or two each."""
    width = task.opening.width
    return [
        envelope(digest_of(task), int(one).to_bytes(width, "little"), report=report)
        for one in values
    ]
