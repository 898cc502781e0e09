"""Queries in SQL on Spark: how the time to an answer grows with the reports.

One machine is measured beside it, in the same run.

Spark reads its log from files every time, one machine has the reports in memory: the ratio tells
what the way through files and processes costs where one machine would do.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.engine import parquet, spark
from sottovoce.engine.memory import MemoryCollected
from sottovoce.lab import crowd
from sottovoce.lab.bench.growth import LINEAR, exponent
from sottovoce.lab.bench.report import say
from sottovoce.lab.bench.row import BenchmarkRow
from sottovoce.lab.bench.timing import Side, Timing, race, scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.table import Table
from sottovoce.sql.reading import read
from sottovoce.tasks.task import Task

PLAN = Table({name: range(1, 126) for name in "abcd"})
QUESTION = "SELECT COUNT(*) FROM people WHERE a BETWEEN 20 AND 70 AND b > 30"
COUNTS = (1_000_000, 2_000_000, 4_000_000)
REPEATS = 3


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the times of both engines for logs of three sizes, and how they grow.

    Nothing is measured where there is no Spark.
    """
    missing = next(
        (name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None), None
    )
    if missing or shutil.which("java") is None:
        say(f"spark: left out, for there is no {missing or 'Java'} here")
        return
    with _session() as session, tempfile.TemporaryDirectory() as folder:
        counts = [scaled(count, scale) for count in COUNTS]
        study = SparkStudy.made(Path(folder), counts)
        sides = [study.asked(session, count) for count in counts]
        timings = race(*(side for pair in sides for side in pair), repeats=REPEATS)
    yield from _read(counts, timings[::2], timings[1::2])


def _read(
    users: Sequence[int], many: Sequence[Timing], local: Sequence[Timing]
) -> Iterator[BenchmarkRow]:
    for count, ours, theirs in zip(users, many, local, strict=True):
        name = f"COUNT, 2 ranges, 4 columns, {count:,} users"
        yield BenchmarkRow(
            "spark", name, ours.wall, "s", "one machine, reports in memory", ours.wall / theirs.wall
        )
    span = f"{min(users):,} to {max(users):,}"
    for name, timings, goal in (("Spark", many, LINEAR), ("one machine", local, None)):
        seconds = [timing.wall for timing in timings]
        further = 1e9 * float(np.polyfit(users, seconds, 1)[0])
        yield BenchmarkRow(
            "spark",
            f"an answer in users, {name}",
            exponent(users, seconds),
            "exponent",
            span,
            goal=goal,
        )
        yield BenchmarkRow("spark", f"every further report, {name}", further, "ns", span)


@dataclass(frozen=True, eq=False)
class SparkStudy:
    """Logs of several sizes, sealed in parts as a collector seals them."""

    task: Task
    logs: Mapping[int, Path]
    checksums: Mapping[int, str]

    @classmethod
    def made(cls, folder: Path, counts: Sequence[int]) -> "SparkStudy":
        """Return the study with a log of so many reports each; a smaller one begins a larger."""
        task = Task("bench", PLAN, 2.0)
        dice = np.random.default_rng(1)
        people = {name: dice.integers(1, 126, max(counts)) for name in "abcd"}
        messages = crowd.messages(task, people, rng=SeededRng(1))
        logs = {count: folder / str(count) for count in counts}
        checksums = {
            count: parquet.write(log, messages[:count], task.opening).checksum
            for count, log in logs.items()
        }
        return cls(task, logs, checksums)

    def asked(self, session: Any, count: int) -> tuple[Side, Side]:
        """Return the question to a log on Spark, and to one machine that has read it.

        Their answers have been compared and are equal.
        """
        log, checksum = self.logs[count], self.checksums[count]
        many = spark.answer(self.task, session, {0: log}, {0: checksum})
        reports = parquet.read(log, self.task.opening, checksum)
        here = self.task.plan.step(MemoryCollected(self.task).after(self.task.opening, reports))
        assert isinstance(many, Database)
        assert isinstance(here, Database)
        answers = [engine.answer(read(QUESTION, PLAN.domain)) for engine in (many, here)]
        assert [answer.users for answer in answers] == [count] * 2
        assert isclose(*(answer.figures[0][0].value for answer in answers), rel_tol=1e-9)
        return lambda: many.sql(QUESTION), lambda: here.sql(QUESTION)


@contextmanager
def _session() -> Iterator[Any]:
    """Yield a session on all cores of this machine."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[*]").appName("bench")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.pythonExec = sys.executable  # the workers' Python, which has the package
    try:
        yield session
    finally:
        session.stop()
