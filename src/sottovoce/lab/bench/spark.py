"""Queries in SQL on Spark: how the time to an answer grows with the reports.

One machine is measured beside it, in the same run.

Spark reads its log from files every time, one machine has the reports in memory: the ratio tells
what the way through files and processes costs where one machine would do.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.arrays import Bytes
from sottovoce.engine import spark
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.lab.bench.growth import LINEAR, exponent
from sottovoce.lab.bench.report import say
from sottovoce.lab.bench.row import BenchmarkRow
from sottovoce.lab.bench.timing import Side, Timing, race, scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.table import Table
from sottovoce.sql.reading import read
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task
from sottovoce.wire.envelope import ID_BYTES

PLAN = Table({name: range(1, 126) for name in "abcd"})
QUESTION = "SELECT COUNT(*) FROM people WHERE a BETWEEN 20 AND 70 AND b > 30"
PART, PARTS = 250_000, (4, 8, 16)  # reports in a file, and files in a log
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
        study = SparkStudy.made(Path(folder), scaled(PART, scale))
        sides = [study.asked(session, count) for count in PARTS]
        timings = race(*(side for pair in sides for side in pair), repeats=REPEATS)
    yield from _read([study.part * count for count in PARTS], timings[::2], timings[1::2])


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
    """A log in files of so many people each: the same reports, of different people."""

    task: Task
    part: int
    batches: dict[Address, ReportBatch]
    files: Sequence[Path]

    @classmethod
    def made(cls, folder: Path, part: int) -> "SparkStudy":
        """Return the study, its files written."""
        task = Task("bench", PLAN, 2.0)
        dice = np.random.default_rng(part)
        values = PLAN.domain.indices({name: dice.integers(1, 126, part) for name in "abcd"})
        batches = report_batches(task.opening, values, SeededRng(part), subjects=True)
        files = [folder / f"part-{number}.parquet" for number in range(max(PARTS))]
        for file in files:
            _write(file, task, batches, dice)
        return cls(task, part, batches, files)

    def asked(self, session: Any, count: int) -> tuple[Side, Side]:
        """Return the question to so many files on Spark, and to one machine.

        Their answers have been compared and are equal.
        """
        files = self.files[:count]
        checksums = {0: spark.checksum(self.task, session, files)}
        many = spark.answer(self.task, session, {0: files}, checksums)
        here = self.task.plan.step(
            MemoryCollected(self.task).after(self.task.opening, self._repeated(count))
        )
        assert isinstance(many, Database)
        assert isinstance(here, Database)
        answers = [engine.answer(read(QUESTION, PLAN.domain)) for engine in (many, here)]
        assert [answer.users for answer in answers] == [self.part * count] * 2
        assert isclose(*(answer.figures[0][0].value for answer in answers), rel_tol=1e-9)
        return lambda: many.sql(QUESTION), lambda: here.sql(QUESTION)

    def _repeated(self, count: int) -> dict[Address, ReportBatch]:
        return {
            address: ReportBatch(
                np.concatenate([batch.reports] * count),
                np.concatenate(
                    [np.asarray(batch.subjects) + self.part * number for number in range(count)]
                ),
            )
            for address, batch in self.batches.items()
        }


def _write(
    file: Path, task: Task, batches: dict[Address, ReportBatch], dice: np.random.Generator
) -> None:
    import pyarrow
    from pyarrow import parquet

    payloads = []
    members = []
    for address, batch in batches.items():
        mechanism = task.opening.question(address).mechanism
        count = len(batch.reports)
        padded = np.zeros((count, task.opening.width), np.uint8)
        padded[:, : mechanism.width] = np.frombuffer(
            mechanism.pack(batch.reports), np.uint8
        ).reshape(count, -1)
        payloads.append(padded)
        members.append(np.full(count, address.member, np.uint32))
    whole = np.concatenate(members)
    columns = {
        "id": _binary(dice.integers(0, 256, (len(whole), ID_BYTES), np.uint8)),
        "member": whole,
        "slot": np.zeros(len(whole), np.uint16),
        "payload": _binary(np.concatenate(payloads)),
        "subject": _binary(dice.integers(0, 256, (len(whole), ID_BYTES), np.uint8)),
    }
    parquet.write_table(
        pyarrow.table(columns).take(dice.permutation(len(whole))), file, compression="zstd"
    )


def _binary(rows: Bytes) -> Any:
    import pyarrow

    kind = pyarrow.binary(rows.shape[1])
    data = pyarrow.py_buffer(np.ascontiguousarray(rows))
    return pyarrow.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, data]).cast(
        pyarrow.binary()
    )


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
