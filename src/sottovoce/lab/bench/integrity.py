"""Examining a sealed round: all tests of a million honest reports, against decoding them once.

The tests of a million reports over 1,024 values may take two seconds on two cores.
"""

from collections.abc import Iterator

import numpy as np

from sottovoce.domains.integers import Integers
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.integrity.examine import examine
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.populations.zipf import zipf
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task

USERS = 1_000_000
SIZE = 1024
SECONDS = 2.0  # on the wall of two cores
REPEATS = 3


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the time that the tests of one round take."""
    users = scaled(USERS, scale)
    mechanism = AffineResponse(epsilon=1.0, size=SIZE)
    task = Task("values", Histogram(Integers(0, SIZE - 1), "affine"), epsilon=1.0)
    asked = Round(0, Question(mechanism))
    values = np.repeat(np.arange(SIZE), zipf(SIZE, users, 1.3))
    reports = mechanism.privatize(values, SeededRng(1))

    def examined() -> None:
        batches = {Address(): ReportBatch(reports)}
        examine(task.plan, MemoryCollected(task).after(asked, batches), 0)

    tests, decoding = race(examined, lambda: mechanism.tally(reports), repeats=REPEATS)
    name = f"examine {users:,} reports, {SIZE:,} values"
    yield BenchmarkRow(
        "integrity", f"{name}, wall", tests.wall, "s", goal=Goal("figure", "<=", SECONDS)
    )
    yield BenchmarkRow(
        "integrity", name, tests.cpu, "CPU s", "one decoding", tests.cpu / decoding.cpu
    )
