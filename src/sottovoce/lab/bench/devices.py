"""One answer on a device: the report of one person, beside an array of one person; and the whole
answer with its envelope and the ledger's durable commit, beside a bare commit.  The same reports
in JavaScript stand beside those in Python.
"""

import sqlite3
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.core.rng import SystemRng
from sottovoce.lab.bench.javascript import SpeedCase, microseconds
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled, timed
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.subset import SubsetSelection
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.task import Task

VALUE = 7
ANSWERS = 200
LARGE_CAP = 1e6
IN_JAVASCRIPT = Goal("ratio", "<=", 1.0)
DURABLE = Goal("ratio", "<=", 2.0)
# Each with the answers of one run, and the microseconds that one may take.
DEVICES: tuple[tuple[Mechanism, int, float], ...] = (
    (GRR(1.0, 1024), 20_000, 2.0),
    (OLH(1.0, 1024), 10_000, 4.0),
    (AffineResponse(1.0, 1024), 5_000, 10.0),
    (AffinePrefix(1.0, 1 << 160), 5_000, 20.0),
    (SubsetSelection(1.0, 1024), 200, 300.0),
)


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the microseconds of one answer for the mechanisms that devices use most."""
    python = []
    for mechanism, answers, limit in DEVICES:
        row = _answered(mechanism, scaled(answers, scale), limit)
        python.append(row.figure)
        yield row
    yield from _in_javascript(python, scale)
    yield _enveloped(scaled(ANSWERS, scale))
    yield _committed(scaled(ANSWERS, scale))


def _in_javascript(python: list[float], scale: float) -> Iterator[BenchmarkRow]:
    """Yield the reports of Node and of Chromium, as far as they are here."""
    cases = [SpeedCase(mechanism, scaled(answers, scale)) for mechanism, answers, _ in DEVICES]
    for platform, times in microseconds(cases).items():
        for case, time, in_python in zip(cases, times, python, strict=True):
            name = f"{_name(case.mechanism)}, {platform}"
            ratio = time / in_python
            yield BenchmarkRow("devices", name, time, "us", "Python", ratio, IN_JAVASCRIPT)


def _enveloped(answers: int) -> BenchmarkRow:
    """Return the time of a whole answer with a ledger in memory."""
    ledger = DiskLedger(":memory:", cap=LARGE_CAP)
    clients = _clients(answers, ledger)
    (first, *others) = clients
    first.answer(VALUE)
    timing = timed(lambda: [client.answer(VALUE) for client in others])
    each = 1e6 * timing.cpu / len(others)
    name = "answer() of a client, affine, 2^10 values, ledger in memory"
    return BenchmarkRow("devices", name, each, "us", goal=Goal("figure", "<=", 500.0))


def _committed(answers: int) -> BenchmarkRow:
    """Return the time of a whole answer that is on the disk, against that of one row."""
    with TemporaryDirectory() as folder:
        ledger = DiskLedger(Path(folder) / "ledger", cap=LARGE_CAP)
        clients = iter(_clients(2 * answers, ledger))
        bare = sqlite3.connect(Path(folder) / "bare", isolation_level=None)
        bare.execute("pragma journal_mode = delete")
        bare.execute("pragma synchronous = extra")
        bare.execute("create table message (task text primary key, message blob)")
        numbers = count()

        def commit() -> None:
            row = (f"task {next(numbers)}", bytes(60))
            bare.execute("insert into message values (?, ?)", row)

        ours, theirs = [
            min(timed(side).wall for _ in range(answers))
            for side in (lambda: next(clients).answer(VALUE), commit)
        ]
        bare.close()
        ledger.close()
    name = "answer() of a client with its durable commit"
    return BenchmarkRow(
        "devices", name, 1e6 * ours, "us", "a bare SQLite commit", ours / theirs, DURABLE
    )


def _clients(number: int, ledger: DiskLedger) -> list[Client]:
    """Return clients of different tasks that know their coin, as after the owner's consent."""
    tasks = (Task(f"bench {index}", Histogram(range(1024)), 1.0) for index in range(number))
    clients = [Client(task, ledger) for task in tasks]
    for client in clients:
        client.check()
    return clients


def _answered(mechanism: Mechanism, answers: int, limit: float) -> BenchmarkRow:
    rng = SystemRng()
    value = indices_of([VALUE], (mechanism.size - 1).bit_length())

    def alone() -> None:
        for _ in range(answers):
            mechanism.report(VALUE, rng)

    def as_array() -> None:
        for _ in range(max(1, answers // 10)):
            mechanism.pack(mechanism.privatize(np.asarray(value), rng))

    ours, array = race(alone, as_array)
    each = ours.cpu / answers
    each_array = array.cpu / max(1, answers // 10)
    goal = Goal("figure", "<=", limit)
    return BenchmarkRow(
        "devices", _name(mechanism), 1e6 * each, "us", "an array of one", each / each_array, goal
    )


def _name(mechanism: Mechanism) -> str:
    return f"one answer, {mechanism.kind}, 2^{(mechanism.size - 1).bit_length()} values"
