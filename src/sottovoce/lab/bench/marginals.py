"""Marginals: making the reports of a census, and all tables of an order from them.

Source: Cormode 2018; Wang 2021, chapter 6.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import prod
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.engine.memory import MemoryCollected
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.hadamard_spectrum import HadamardSpectrum
from sottovoce.lab.bench.growth import LINEAR, exponent
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.populations.records import record_domain
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.plans.marginals.marginal_answers import MarginalAnswers
from sottovoce.plans.marginals.marginal_table import View
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.plans.marginals.pooled_tables import PooledTables
from sottovoce.plans.marginals.view_planning import METHOD
from sottovoce.tasks.task import Task

EPSILON = 1.0
USERS = 1 << 18
REPEATS = 3
TABLES = 100
BINARY = (2,) * 32
MIXED = (5, 7, 16, 7, 14, 6, 5, 2, 10, 8, 10, 2, 9, 3)  # like a census extract
FASTER = Goal("ratio", ">=", 5.0)


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield whole collections, the transform against sums, and how decoding grows."""
    users = scaled(USERS, scale)
    for name, sizes, order in (
        ("32 binary attributes", BINARY, 3),
        ("14 mixed attributes", MIXED, 2),
    ):
        yield from _collection_rows(MarginalsStudy(METHOD, sizes, order, max(users, 40_000)), name)
    yield _transform_row(MarginalsStudy("inp_ht", (2,) * 16, 4, users))
    counts = [scaled(1 << 16, scale) << step for step in range(4)]
    sixteen = (2,) * 16
    by_users = [MarginalsStudy("inp_ht", sixteen, 3, count) for count in counts]
    yield _growth_row("inp_ht in users", counts, by_users)
    pooled = [MarginalsStudy(METHOD, sixteen, 3, count, USERS) for count in counts]
    yield _growth_row("pooled views in users", counts, pooled)
    wide = [MarginalsStudy("inp_ht", (2,) * count, 3, users) for count in (8, 12, 16, 24)]
    yield _growth_row("inp_ht in coefficients", [len(study.family) for study in wide], wide)
    deep = [MarginalsStudy("inp_ht", (2,) * 12, order, users) for order in (1, 2, 3, 4)]
    lengths = [len(study.family) for study in deep]
    yield _growth_row("inp_ht in coefficients, by order", lengths, deep)


@dataclass(frozen=True, eq=False)
class MarginalsStudy:
    """People with attributes, and the task that asks about them.

    Views are chosen for ``expected`` users, by default for as many as there are.
    """

    method: str
    sizes: tuple[int, ...]
    order: int
    users: int
    expected: int = 0

    @cached_property
    def task(self) -> Task:
        """Return the task."""
        domain: Any = record_domain(self.sizes)
        if self.method == METHOD:
            return Task(
                "bench", Marginals(domain, self.expected or self.users, self.order), EPSILON
            )
        return Task("bench", BaselineMarginals(domain, self.method, self.order), EPSILON)

    @property
    def family(self) -> Any:
        """Return the questions."""
        ask: Any = self.task.opening.ask
        return ask.members

    @cached_property
    def records(self) -> Ints:
        """Return everybody's record: attributes that follow one hidden inclination."""
        generator = np.random.default_rng(self.users)
        inclination = generator.random(self.users)
        columns = []
        for size in self.sizes:
            mixed = 0.5 * inclination + 0.5 * generator.random(self.users)
            columns.append(np.minimum(mixed * size, size - 1))
        return np.stack(columns, axis=1).astype(np.int64)

    @cached_property
    def collected(self) -> MemoryCollected:
        """Return everybody's report."""
        return self.collect()

    def collect(self) -> MemoryCollected:
        """Make everybody's report."""
        opening = self.task.opening
        batches = report_batches(opening, self.records, SeededRng(self.users))
        return MemoryCollected(self.task).after(opening, batches)

    def read(self) -> MarginalAnswers:
        """Return what the plan computes from the reports."""
        fresh = MemoryCollected(self.task, self.collected.rounds, self.collected.batches)
        answers = self.task.plan.step(fresh)
        assert isinstance(answers, MarginalAnswers)
        return answers

    def one_table(self) -> None:
        """Read the reports and compute one table."""
        self._compute([tuple(range(self.order))])

    def many_tables(self) -> None:
        """Compute many tables of the order, without errors where those come from replicates."""
        self._compute(self.views)

    @property
    def views(self) -> list[View]:
        """Return some sets of as many attributes as the order says."""
        return list(islice(combinations(range(len(self.sizes)), self.order), TABLES))

    def _compute(self, views: Sequence[View]) -> None:
        model = self.read().model
        for view in views:
            if isinstance(model, PooledTables):
                model.fit(view)
            else:
                model.table(view)


def _collection_rows(study: MarginalsStudy, name: str) -> Iterator[BenchmarkRow]:
    making, reading = race(study.collect, study.many_tables, repeats=REPEATS)
    label = f"pooled views, {name}, order {study.order}, {study.users:,} users"
    per_report = 1e9 * making.cpu / study.users
    yield BenchmarkRow("marginals", f"{label}: making reports", per_report, "ns/report")
    yield BenchmarkRow(
        "marginals", f"{label}: reading, agreeing, {TABLES} tables", reading.cpu, "s"
    )


def _transform_row(study: MarginalsStudy) -> BenchmarkRow:
    spectrum = HadamardSpectrum.read(study.collected)
    ours, sums = race(
        lambda: [spectrum.table(view) for view in study.views],
        lambda: [_signed_sums(spectrum, view) for view in study.views],
        repeats=3,
    )
    name = f"{TABLES} tables of {study.order} attributes with covariance by one transform each"
    ratio = sums.cpu / ours.cpu
    per_table = 1e3 * ours.cpu / TABLES
    against = "signed sums, cell by cell"
    return BenchmarkRow("marginals", name, per_table, "ms/table", against, ratio, FASTER)


def _signed_sums(spectrum: HadamardSpectrum, view: View) -> tuple[Floats, Floats]:
    """Return shares and covariance by adding every coefficient to every cell and pair of cells."""
    length = prod(spectrum.family.sizes[attribute] for attribute in view)
    within = spectrum.coefficients_within(view)
    shares = np.zeros(length)
    covariance = np.zeros((length, length))
    for cell in range(length):
        for second in range(length):
            parities = [((cell ^ second) & index).bit_count() % 2 for index in range(1, length)]
            signs = [1 - 2 * parity for parity in parities]
            covariance[cell, second] = np.dot(spectrum.variances[within], signs) / length**2
        own = [1 - 2 * ((cell & index).bit_count() % 2) for index in range(1, length)]
        shares[cell] = (1 + np.dot(spectrum.signs[within], own)) / length
    return shares, covariance


def _growth_row(
    name: str, points: Sequence[int], studies: Sequence[MarginalsStudy]
) -> BenchmarkRow:
    assert all(study.collected for study in studies)  # made before the clock starts
    timings = race(*(study.one_table for study in studies), repeats=REPEATS)
    slope = exponent(points, [max(timing.cpu, 1e-9) for timing in timings])
    span = f"{min(points):,} to {max(points):,}"
    return BenchmarkRow("marginals", f"reading {name}", slope, "exponent", span, goal=LINEAR)
