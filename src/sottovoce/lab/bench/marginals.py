"""Joint tables: making the reports of a census, and every table of an order from them, by coefficients and by views.

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
from sottovoce.lab.bench.growth import LINEAR, exponent
from sottovoce.lab.bench.row import Goal, Row
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.plans.marginals.hadamard import Spectrum
from sottovoce.plans.marginals.marginals import Marginals, Tables
from sottovoce.tasks.task import Task

EPSILON, USERS, REPEATS, TABLES = 1.0, 1 << 18, 3, 100
BINARY = (2,) * 32
MIXED = (5, 7, 16, 7, 14, 6, 5, 2, 10, 8, 10, 2, 9, 3)  # cardinalities like those of a census extract
FASTER = Goal("ratio", ">=", 5.0)


def rows(scale: float) -> Iterator[Row]:
    """Yield whole collections, the transform against sums, and how decoding grows with users, attributes and order."""
    users = scaled(USERS, scale)
    for name, sizes, order in (("32 binary attributes", BINARY, 3), ("14 mixed attributes", MIXED, 2)):
        yield from _whole(Study("calm", sizes, order, max(users, 40_000)), name)
    yield _transformed(Study("inp_ht", (2,) * 16, 4, users))
    counts = [scaled(1 << 16, scale) << step for step in range(4)]
    yield _grown("inp_ht in users", counts, [Study("inp_ht", (2,) * 16, 3, count) for count in counts])
    yield _grown("calm in users", counts, [Study("calm", (2,) * 16, 3, count, USERS) for count in counts])
    wide = [8, 12, 16, 24]
    coefficients = [Study("inp_ht", (2,) * count, 3, users) for count in wide]
    yield _grown("inp_ht in coefficients", [len(one.family) for one in coefficients], coefficients)
    deep = [Study("inp_ht", (2,) * 12, order, users) for order in (1, 2, 3, 4)]
    yield _grown("inp_ht in coefficients, by order", [len(one.family) for one in deep], deep)


@dataclass(frozen=True, eq=False)
class Study:
    """People with attributes, and the task that asks about them."""

    method: str
    sizes: tuple[int, ...]
    order: int
    users: int
    expected: int = 0  # for whom views are chosen, if not for as many as there are

    @cached_property
    def task(self) -> Task:
        """Return the task."""
        domain: dict[str, Any] = {f"a{place}": range(size) for place, size in enumerate(self.sizes)}
        return Task("bench", Marginals(domain, self.expected or self.users, self.order, self.method), EPSILON)

    @property
    def family(self) -> Any:
        """Return the questions."""
        ask: Any = self.task.opening.ask
        return ask.members

    @cached_property
    def held(self) -> Ints:
        """Return everybody's record: attributes that follow one hidden inclination."""
        dice = np.random.default_rng(self.users)
        inclined = dice.random(self.users)
        drawn = [np.minimum((0.5 * inclined + 0.5 * dice.random(self.users)) * size, size - 1) for size in self.sizes]
        return np.stack(drawn, axis=1).astype(np.int64)

    @cached_property
    def collected(self) -> MemoryCollected:
        """Return everybody's report."""
        return self.collect()

    def collect(self) -> MemoryCollected:
        """Make everybody's report."""
        asked = self.task.opening
        return MemoryCollected(self.task).after(asked, report_batches(asked, self.held, SeededRng(self.users)))

    def read(self) -> Tables:
        """Return what the plan makes of the reports."""
        fresh = MemoryCollected(self.task, self.collected.rounds, self.collected.batches)
        tables = self.task.plan.step(fresh)
        assert isinstance(tables, Tables)
        return tables

    def table(self) -> None:
        """Read the reports and make one table."""
        model: Any = self.read().model
        view = tuple(range(self.order))
        model.fit(view) if self.method == "calm" else model.table(view)

    def tables(self) -> None:
        """Make many tables of the order, without errors where those are replicates."""
        model: Any = self.read().model
        for view in islice(combinations(range(len(self.sizes)), self.order), TABLES):
            model.fit(view) if self.method == "calm" else model.table(view)


def _whole(study: Study, name: str) -> Iterator[Row]:
    making, reading = race(study.collect, study.tables, repeats=REPEATS)
    label = f"CALM, {name}, order {study.order}, {study.users:,} users"
    per_report = 1e9 * making.cpu / study.users
    yield Row("marginals", f"{label}: making reports", per_report, "ns/report")
    yield Row("marginals", f"{label}: reading, agreeing, {TABLES} tables", reading.cpu, "s")


def _transformed(study: Study) -> Row:
    spectrum = Spectrum.read(study.collected)
    views = list(islice(combinations(range(len(study.sizes)), study.order), TABLES))
    ours, sums = race(
        lambda: [spectrum.table(view) for view in views], lambda: [_summed(spectrum, view) for view in views], repeats=3
    )
    name = f"{TABLES} tables of {study.order} attributes with covariance by one transform each"
    ratio = sums.cpu / ours.cpu
    return Row("marginals", name, 1e3 * ours.cpu / TABLES, "ms/table", "signed sums, cell by cell", ratio, FASTER)


def _summed(spectrum: Spectrum, view: Sequence[int]) -> tuple[Floats, Floats]:
    """Return shares and covariance by adding every coefficient to every cell, and to every pair of cells."""
    sizes = [spectrum.family.sizes[one] for one in view]
    length = prod(sizes)
    within = spectrum._within(tuple(view))
    shares, covariance = np.zeros(length), np.zeros((length, length))
    for cell in range(length):
        for other in range(length):
            signs = [1 - 2 * (((cell ^ other) & place).bit_count() % 2) for place in range(1, length)]
            covariance[cell, other] = np.dot(spectrum.variances[within], signs) / length**2
        own = [1 - 2 * ((cell & place).bit_count() % 2) for place in range(1, length)]
        shares[cell] = (1 + np.dot(spectrum.signs[within], own)) / length
    return shares, covariance


def _grown(name: str, points: Sequence[int], studies: Sequence[Study]) -> Row:
    assert all(study.collected for study in studies)  # made beforehand
    timings = race(*(study.table for study in studies), repeats=REPEATS)
    slope = exponent(points, [max(timing.cpu, 1e-9) for timing in timings])
    return Row("marginals", f"reading {name}", slope, "exponent", f"{min(points):,} to {max(points):,}", goal=LINEAR)
