"""Queries in SQL: time to an answer, whatever the condition, against hashing every cell; and joins.

Source: Xu 2020; docs/affine-response.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Reports
from sottovoce.engine.memory import MemoryCollected
from sottovoce.lab.bench.growth import LINEAR, exponent
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.counting import counts
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.scoring import layer_terms
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.table import Table
from sottovoce.sql.query import Column
from sottovoce.sql.reading import read
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task

EPSILON = 2.0
USERS = 1_000_000
REPEATS = 5
HASHED = 256
GROUPS = 1_000
COLUMNS = (2, 4, 6, 8)
ANSWERED = Goal("figure", "<=", 0.5)
JOINED = Goal("figure", "<=", 2.0)
FASTER = Goal("ratio", ">=", 20.0)
INDEPENDENT = Goal("figure", "<=", 0.1)
DECODED = Goal("ratio", "<=", 2.0)
COMBINED = Goal("ratio", "<=", 3.0)
RANGES = (
    "a BETWEEN 20 AND 70",
    "a BETWEEN 20 AND 70 AND b > 30",
    "a BETWEEN 20 AND 70 AND b > 30 AND c < 100",
)
COUNTED = f"SELECT COUNT(*) FROM people WHERE {RANGES[1]}"
SUMMED = "SELECT SUM(a) FROM people WHERE b > 30"
AVERAGED = (
    "SELECT AVG(sales.a) FROM sales JOIN users USING (uid) WHERE sales.b = 'x' AND users.a > 40"
)
SIX = "SELECT COUNT(*) FROM people WHERE a > 2 AND b < 4"
GROUPED = "SELECT a, COUNT(*) FROM people GROUP BY a"
PAIRED = "SELECT a, b, COUNT(*), AVG(c) FROM people GROUP BY a, b"
CONJUNCTION = "(a BETWEEN {low} AND {high} AND b > {least} AND c < {most})"
WIDER = (
    "a = 60",
    "a BETWEEN 59 AND 61",
    "a BETWEEN 55 AND 65",
    "a BETWEEN 40 AND 80",
    "a BETWEEN 2 AND 124",
)


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield queries over one table and two, the share of hashing every cell, and how times grow."""
    users = scaled(USERS, scale)
    table = QueryStudy(Table({name: range(1, 126) for name in "abcd"}), users)
    for count, condition in enumerate(RANGES, 1):
        name = f"COUNT, {count} range{'s' if count > 1 else ''}, 4 columns"
        yield _answered(table, name, f"SELECT COUNT(*) FROM people WHERE {condition}")
    yield _answered(table, "SUM, 1 range", SUMMED)
    yield _independent(table)
    yield _hashed(table, "BLUE", COUNTED)
    yield _hashed(table, "LIN", SUMMED)
    yield _either(table)
    groups = scaled(GROUPS, scale)
    yield _grouped(QueryStudy(Table({"a": range(1, groups + 1), "b": range(1, 126)}), users))
    side = int(groups**0.5)
    pairs = Table({"a": range(side), "b": range(side), "c": range(1, 126)})
    name = f"COUNT and AVG, GROUP BY {side**2:,} pairs"
    yield _answered(QueryStudy(pairs, users), name, PAIRED, None)
    values = 64 if scale == 1 else 4
    six = QueryStudy(Table({name: range(1, values + 1) for name in "abcdef"}), users)
    yield _answered(six, f"COUNT, 2 ranges, 6 columns of {values}", SIX, None)
    large = QueryStudy(Table({name: range(1, 626) for name in "abc"}), users)
    yield _answered(large, "COUNT, 2 ranges, cells by groups", COUNTED, None)
    shop = Joint({"users": {"columns": _columns()}, "sales": {"columns": _columns(), "most": 10}})
    yield _answered(QueryStudy(shop, users), "AVG over a join of 2 services", AVERAGED, JOINED)
    yield _grown_in_columns(users)
    yield _grown_in_groups(users, groups)
    yield _remembered(table)
    yield _grown([QueryStudy(table.plan, scaled(1 << 17, scale) << step) for step in range(4)])


def _columns() -> dict[str, Any]:
    return {"a": range(1, 126), "b": ["x", "y", "z"]}


@dataclass(frozen=True, eq=False)
class QueryStudy:
    """People with tables, and the task that asks about them."""

    plan: Any
    users: int

    @cached_property
    def task(self) -> Task:
        """Return the task."""
        plan: Plan = self.plan
        return Task("bench", plan, EPSILON)

    @cached_property
    def database(self) -> Database:
        """Return everybody's reports, ready to be asked."""
        dice = np.random.default_rng(self.users)
        values = self.plan.domain.indices(
            self._tables(dice) if len(self.plan.domain.names) > 1 else self._drawn(dice, 0)
        )
        opening = self.task.opening
        batches = report_batches(opening, values, SeededRng(self.users), subjects=True)
        database = self.plan.step(MemoryCollected(self.task).after(opening, batches))
        assert isinstance(database, Database)
        return database

    def ask(self, question: str) -> None:
        """Ask a question, and plan it anew."""
        self.database.answer(read(question, self.database.layout.tables))

    def _drawn(self, dice: Any, table: int, people: int = 0) -> dict[str, Any]:
        records = self.plan.domain.records(table)
        drawn = {}
        for name, kind in zip(records.names, records.attributes, strict=True):
            middle = dice.normal(kind.size / 2, kind.size / 4, people or self.users)
            indices = np.clip(middle.round(), 0, kind.size - 1).astype(np.int64)
            labels = getattr(kind, "low", None)
            drawn[name] = np.array(kind.labels)[indices] if labels is None else indices + labels
        return drawn

    def _tables(self, dice: Any) -> dict[str, Any]:
        owners = np.repeat(np.arange(self.users), dice.integers(0, 4, self.users))
        names = self.plan.domain.names
        return {
            names[0]: self._drawn(dice, 0),
            names[1]: {"uid": owners, **self._drawn(dice, 1, len(owners))},
        }


def _answered(
    study: QueryStudy, name: str, question: str, goal: Goal | None = ANSWERED
) -> BenchmarkRow:
    study.ask(question)
    (timing,) = race(lambda: study.ask(question), repeats=REPEATS)
    return BenchmarkRow("queries", f"{name}, {study.users:,} users", timing.wall, "s", goal=goal)


def _independent(study: QueryStudy) -> BenchmarkRow:
    questions = [f"SELECT COUNT(*) FROM people WHERE {condition}" for condition in WIDER]
    timings = race(
        *(lambda question=question: study.ask(question) for question in questions), repeats=REPEATS
    )
    slope = exponent([1, 3, 11, 41, 123], [timing.wall for timing in timings])
    return BenchmarkRow(
        "queries",
        "an answer in values of the condition",
        slope,
        "exponent",
        "1 to 123",
        goal=INDEPENDENT,
    )


def _grouped(study: QueryStudy) -> BenchmarkRow:
    """Return the time of a count for every value against that of the column's decoded counts."""
    collected = study.database.collected
    assert isinstance(collected, MemoryCollected)

    def decode() -> None:
        collected.tallied.clear()
        counts(study.database.layout, collected, Column(0, 0))

    study.ask(GROUPED)
    asked, decoded = race(lambda: study.ask(GROUPED), decode, repeats=REPEATS)
    ratio = asked.cpu / decoded.cpu
    values = study.plan.domain.records(0).attributes[0].size
    name = f"GROUP BY {values:,} values, {study.users:,} users"
    return BenchmarkRow("queries", name, asked.cpu, "s", "decoding the column", ratio, DECODED)


def _either(study: QueryStudy) -> BenchmarkRow:
    """Return the time of a condition of 16 conjunctions against that of one of them."""
    parts = [
        CONJUNCTION.format(low=7 * i + 1, high=7 * i + 7, least=4 * i + 10, most=6 * i + 20)
        for i in range(16)
    ]
    questions = [
        f"SELECT COUNT(*) FROM people WHERE {condition}"
        for condition in (" OR ".join(parts), parts[5])
    ]
    for question in questions:
        study.ask(question)
    all_of_them, single = race(
        *(lambda question=question: study.ask(question) for question in questions), repeats=REPEATS
    )
    ratio = all_of_them.cpu / single.cpu
    name = f"COUNT, 16 conjunctions in OR, {study.users:,} users"
    return BenchmarkRow("queries", name, all_of_them.cpu, "s", "one conjunction", ratio, COMBINED)


def _hashed(study: QueryStudy, name: str, query: str) -> BenchmarkRow:
    """Return the time of scoring all reports against that of hashing every cell of their layers.

    Hashing is compiled too, and timed for some reports of some layers.
    """
    jobs = _scoring_jobs(study, query)
    ours = [_job(mechanism, coefficients, count) for mechanism, coefficients, count in jobs]
    theirs = []
    for mechanism, coefficients, count in jobs:
        hashing = OLH(mechanism.epsilon, mechanism.size)
        theirs.append(_job(hashing, coefficients, min(HASHED, count)))
    mine, direct = race(lambda: _score(ours), lambda: _score(theirs), repeats=3)
    scale = sum(count for *_, count in jobs) / sum(min(HASHED, count) for *_, count in jobs)
    note = f"hashing every cell, compiled, of {HASHED} reports a layer, scaled by {scale:.3g}"
    ratio = direct.cpu * scale / mine.cpu
    return BenchmarkRow("queries", f"scoring {name} targets", mine.cpu, "s", note, ratio, FASTER)


def _scoring_jobs(study: QueryStudy, query: str) -> list[tuple[AffineResponse, Floats, int]]:
    """Return the mechanism, the coefficients and the number of reports of every eighth layer."""
    layout = study.database.layout
    (scoring,) = plan_query(read(query, layout.tables), Source(layout)).scorings.values()
    slot = scoring.factor.slots[0]
    count = max(1, study.users // len(slot.family))
    jobs = []
    for member in range(0, len(slot.family), 8):
        (term,) = layer_terms(slot, member, scoring.columns[0])
        mechanism = slot.mechanism(member)
        if isinstance(mechanism, AffineResponse) and not mechanism.groups:
            coefficients = term.weight * reduce(np.multiply.outer, term.factors).ravel()
            jobs.append((mechanism, coefficients, count))
    return jobs


def _job(mechanism: Any, coefficients: Floats, count: int) -> tuple[Any, Reports, Floats]:
    values = np.random.default_rng(count).integers(mechanism.size, size=count)
    return mechanism, mechanism.privatize(values, SeededRng(count)), coefficients


def _score(jobs: Sequence[tuple[Any, Reports, Floats]]) -> None:
    for mechanism, reports, coefficients in jobs:
        mechanism.score(reports, coefficients)


def _grown_in_columns(users: int) -> BenchmarkRow:
    """Return how an answer grows in columns, of which every further one has twice the layers."""
    studies = [
        QueryStudy(Table({name: ["x", "y"] for name in "abcdefgh"[:count]}), users)
        for count in COLUMNS
    ]
    question = "SELECT COUNT(*) FROM people WHERE a = 'x'"
    assert all(study.database.users for study in studies)
    timings = race(*(lambda study=study: study.ask(question) for study in studies), repeats=REPEATS)
    slope = exponent(COLUMNS, [timing.cpu for timing in timings])
    return BenchmarkRow("queries", "an answer in columns of 2 values", slope, "exponent", "2 to 8")


def _grown_in_groups(users: int, most: int) -> BenchmarkRow:
    """Return how an answer that is decoded grows in groups."""
    sizes = [most // 8, most // 4, most // 2, most]
    studies = [QueryStudy(Table({"a": range(size)}), users) for size in sizes]
    assert all(study.database.users for study in studies)
    timings = race(*(lambda study=study: study.ask(GROUPED) for study in studies), repeats=REPEATS)
    slope = exponent(sizes, [timing.cpu for timing in timings])
    name = "an answer in groups"
    return BenchmarkRow("queries", name, slope, "exponent", f"{sizes[0]:,} to {most:,}")


def _remembered(study: QueryStudy) -> BenchmarkRow:
    """Return the memory of a report of a table: the report itself, and whose it is."""
    collected = study.database.collected
    assert isinstance(collected, MemoryCollected)
    held = sum(
        batch.reports.nbytes + (0 if batch.subjects is None else batch.subjects.nbytes)
        for batch in collected.batches.values()
    )
    name = "reports of a table in memory"
    return BenchmarkRow("queries", name, held / study.users, "bytes a report")


def _grown(studies: Sequence[QueryStudy]) -> BenchmarkRow:
    assert all(study.database.users for study in studies)
    timings = race(*(lambda study=study: study.ask(COUNTED) for study in studies), repeats=REPEATS)
    points = [study.users for study in studies]
    slope = exponent(points, [timing.cpu for timing in timings])
    return BenchmarkRow(
        "queries",
        "an answer in users",
        slope,
        "exponent",
        f"{min(points):,} to {max(points):,}",
        goal=LINEAR,
    )
