"""Twenty standard questions in SQL: our variance beside that of the best published method, with and
without a workload.

``python -m sottovoce.lab.experiments.sql_workloads`` prints the page that is kept in
``docs/evidence/sql-workloads.md``.  Predicted variances are exact for people who are spread evenly
over all values; one collection of such people by each way says whether they are right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.domains.buckets import Buckets
from sottovoce.errors import SottovoceError
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.lab.simulate import simulate
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.result import Result
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.table import Table
from sottovoce.plans.tables.table_plan import BALANCED, RECORD_EPSILON, TablePlan, Workload
from sottovoce.plans.tables.workload import balanced_weights
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task

EPSILONS = (1.0, 2.0, 4.0)
PRINTED = 2.0  # the epsilon of the table that is printed
JOIN_FACTOR = 2.5  # a join shares its budget among its tables
PEOPLE = 20_000
GOAL = 1.2
WAYS = 5  # of ours: default, balanced, workload, tuned, alone
TUNING = 20  # steps in which the weights of questions are tuned
TOLERATED = (1.0, 1.5, 2.0, 4.0, 8.0)  # of points over every column, on the frontier
SINGLE_METHODS = ("hio", "hi", "mg", "sc", "sc_sampled", "ahio", "ehio", "sc_join")
JOIN_METHODS = ("hio", "ahio", "ehio")


def _labels(name: str, count: int) -> list[str]:
    return [f"{name}{value}" for value in range(1, count + 1)]


SIX = {name: _labels(name, size) for name, size in zip("abcdef", (3, 4, 5, 6, 8, 2), strict=True)}
MIXED = {"age": range(16, 80), "income": Buckets(0, 100_000, 25), "region": _labels("r", 5)}
WIDE = {
    **{name: range(25) for name in "abc"},
    **{name: _labels(name, 5) for name in "def"},
}
ORDERS = {"amount": range(1, 65), "kind": _labels("k", 4)}
TABLES: Mapping[str, TablePlan] = {
    "three labels": Table({name: SIX[name] for name in "abc"}),
    "six labels": Table(SIX),
    "six mixed": Table(WIDE),
    "customers": Table(MIXED),
    "two numbers": Table({"a": range(1, 126), "b": range(1, 126)}),
    "customers and orders": Joint({"people": Table(MIXED), "orders": Table(ORDERS, most=4)}),
}

_JOINED = "FROM orders JOIN people USING (uid) WHERE"
_EVERY_LABEL = " AND ".join(f"{name} = '{name}1'" for name in SIX)
QUESTIONS = (
    ("three labels", "COUNT(*) FROM people WHERE a = 'a1' AND b = 'b2' AND c = 'c3'"),
    ("three labels", "COUNT(*) FROM people WHERE b = 'b2'"),
    ("six labels", "COUNT(*) FROM people WHERE a = 'a1'"),
    ("six labels", "COUNT(*) FROM people WHERE a = 'a1' AND d = 'd2'"),
    ("six labels", f"COUNT(*) FROM people WHERE {_EVERY_LABEL}"),
    ("six mixed", "COUNT(*) FROM people WHERE d = 'd1'"),
    ("six mixed", "COUNT(*) FROM people WHERE a BETWEEN 5 AND 16"),
    ("customers", "COUNT(*) FROM people WHERE age BETWEEN 20 AND 39"),
    ("customers", "COUNT(*) FROM people WHERE age BETWEEN 20 AND 39 AND region = 'r1'"),
    ("customers", "COUNT(*) FROM people WHERE age = 33 AND income = 50000 AND region = 'r1'"),
    ("customers", "COUNT(*) FROM people WHERE region = 'r1'"),
    ("customers", "SUM(income) FROM people WHERE age >= 40"),
    ("customers", "AVG(income) FROM people WHERE age BETWEEN 30 AND 49 AND region = 'r2'"),
    ("customers", "AVG(age) FROM people"),
    ("two numbers", "COUNT(*) FROM people WHERE a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69"),
    ("two numbers", "COUNT(*) FROM people WHERE a = 31"),
    ("two numbers", "SUM(b) FROM people WHERE a BETWEEN 41 AND 59"),
    ("two numbers", "COUNT(*) FROM people WHERE a = 31 AND b = 40"),
    ("customers and orders", f"COUNT(*) {_JOINED} kind = 'k1' AND age BETWEEN 20 AND 40"),
    ("customers and orders", f"SUM(amount) {_JOINED} region = 'r1'"),
)


POINT_QUESTIONS = tuple(QUESTIONS[index] for index in (0, 4, 9, 17))  # fix every column
# Asked of nobody while the weights of balanced layers were chosen.
HELD_OUT = (
    ("three labels", "COUNT(*) FROM people WHERE a = 'a1' AND c = 'c2'"),
    ("six labels", "COUNT(*) FROM people WHERE a = 'a1' AND c = 'c2' AND e = 'e3'"),
    ("six labels", "COUNT(*) FROM people WHERE b <> 'b1' AND c = 'c2' AND d = 'd1' AND e = 'e1'"),
    ("six mixed", "COUNT(*) FROM people WHERE a < 12 AND b BETWEEN 4 AND 19 AND e = 'e2'"),
    ("six mixed", "SUM(c) FROM people WHERE f = 'f1'"),
    ("customers", "SUM(income) FROM people WHERE region = 'r3'"),
    ("customers", "AVG(age) FROM people WHERE income < 30000"),
    ("customers", "STDDEV(income) FROM people"),
    ("customers", "COUNT(*) FROM people WHERE age >= 50 AND income > 60000 AND region <> 'r1'"),
    ("two numbers", "AVG(b) FROM people WHERE a < 50"),
    ("two numbers", "COUNT(*) FROM people WHERE a < 30 OR b > 100"),
    ("customers and orders", f"AVG(amount) {_JOINED} kind <> 'k1' AND age >= 50"),
)


@dataclass(frozen=True)
class Standing:
    """The variances of one question: by the best published method, by ours without a workload,
    balanced over any query, with all questions about the table as its workload, with these tuned
    against the published methods, and with this question alone.
    """

    table: str
    question: str
    epsilon: float
    method: str
    options: str
    published: float
    default: float
    balanced: float
    shared: float
    tuned: float
    alone: float

    @property
    def ratios(self) -> tuple[float, ...]:
        """Return our variances over the published one."""
        ours = (self.default, self.balanced, self.shared, self.tuned, self.alone)
        return tuple(variance / self.published for variance in ours)


@dataclass(frozen=True)
class PublishedBest:
    """The best published method for a question, and its variance."""

    variance: float
    method: str
    options: str


def standing(table: str, question: str, epsilon: float) -> Standing:
    """Return how our ways stand beside the best published method for one question."""
    spent = budget(table, epsilon)
    best = best_published(table, question, epsilon)
    plans = (
        TABLES[table],
        weighted(table, BALANCED),
        shared_plan(table),
        tuned_plan(table, epsilon),
        weighted(table, [f"SELECT {question}"]),
    )
    ours = [predicted(plan, f"SELECT {question}", spent) for plan in plans]
    return Standing(table, question, spent, best.method, best.options, best.variance, *ours)


def budget(table: str, epsilon: float) -> float:
    """Return the epsilon that is spent on a table or a join."""
    return epsilon * JOIN_FACTOR if isinstance(TABLES[table], Joint) else epsilon


@cache
def best_published(table: str, question: str, epsilon: float) -> PublishedBest:
    """Return the published method with the least variance."""
    found = []
    for method in JOIN_METHODS if isinstance(TABLES[table], Joint) else SINGLE_METHODS:
        for options in ("", " WITH (METHOD = RDC)"):
            plan = PublishedTables(TABLES[table], method)
            text = f"SELECT {question}{options}"
            found.append(
                PublishedBest(predicted(plan, text, budget(table, epsilon)), method, options)
            )
    return min(found, key=lambda each: each.variance)


def predicted(plan: TablePlan, text: str, epsilon: float) -> float:
    """Return the variance of the first number; infinite where a method cannot answer."""
    try:
        source = Source(plan.layout(epsilon))
        planned = plan_query(read(text, source), source)
        row = planned.rows[0]
        return planned.prediction.number(row, row.numbers[0], PEOPLE).error ** 2
    except SottovoceError:
        return inf


@cache
def shared_plan(table: str) -> TablePlan:
    """Return the plan whose workload is all questions about a table."""
    return weighted(table, [f"SELECT {each}" for each in _questions(table)])


@cache
def tuned_plan(table: str, epsilon: float) -> TablePlan:
    """Return the plan whose workload weighs these questions so that none loses much.

    Questions with a large ratio to the best published method get more weight, step by step.
    """
    questions = _questions(table)
    published = np.array([best_published(table, each, epsilon).variance for each in questions])
    weights = np.ones(len(questions))
    plans = []
    for _ in range(TUNING):
        pairs = zip(questions, weights.tolist(), strict=True)
        plan = weighted(table, [(f"SELECT {each}", weight) for each, weight in pairs])
        spent = budget(table, epsilon)
        ours = np.array([predicted(plan, f"SELECT {each}", spent) for each in questions])
        plans.append((float((ours / published).max()), plan))
        weights = np.maximum(weights * (ours / published) ** 0.7, 1e-9)
        weights = weights / weights.sum()
    return min(plans, key=lambda each: each[0])[1]


def _questions(table: str) -> list[str]:
    return [each for name, each in QUESTIONS if name == table]


def weighted(table: str, queries: Workload) -> TablePlan:
    """Return the plan of a table for a workload."""
    plan = TABLES[table]
    return _changed(plan, workload=queries)


def _changed(plan: TablePlan, **settings: Any) -> TablePlan:
    given: dict[str, Any] = {"domain": plan.domain, "rows": plan.rows, **settings}
    return Joint(**given) if isinstance(plan, Joint) else Table(**given)


@cache
def plan_tolerating(table: str, points: float) -> TablePlan:
    """Return the plan with balanced layers where points over every column may be so many times
    noisier; for 0 with even layers.
    """
    plan = TABLES[table]
    if not points:
        return plan
    layout = plan.layout(RECORD_EPSILON * sum(plan.rows))
    return _changed(plan, weights=balanced_weights(layout, points))


@dataclass(frozen=True)
class FrontierPoint:
    """Balanced layers for one tolerance: the largest ratio to the best published method over the
    twenty questions, and variances over those of even layers.
    """

    points: float
    losing: int
    largest: float
    others: Floats  # the questions that do not fix every column
    held_out: Floats


def frontier(points: float, epsilons: Sequence[float]) -> FrontierPoint:
    """Return what it costs other questions that points may only be so much noisier."""
    published = []
    for table, question in QUESTIONS:
        ratios = [
            _variance(table, question, points, epsilon)
            / best_published(table, question, epsilon).variance
            for epsilon in epsilons
        ]
        published.append(max(ratios))
    others = [each for each in QUESTIONS if each not in POINT_QUESTIONS]
    compared = [
        np.array(
            [_variance(*each, points, PRINTED) / _variance(*each, 0.0, PRINTED) for each in some]
        )
        for some in (others, HELD_OUT)
    ]
    losing = sum(ratio > GOAL for ratio in published)
    return FrontierPoint(points, losing, max(published), *compared)


def _variance(table: str, question: str, points: float, epsilon: float) -> float:
    return predicted(plan_tolerating(table, points), f"SELECT {question}", budget(table, epsilon))


def frontier_lines(epsilons: Sequence[float]) -> list[str]:
    """Return the frontier as the rows of a table."""
    lines = []
    for points in (0.0, *TOLERATED):
        each = frontier(points, epsilons)
        name = f"{points:g}" if points else "even layers"
        spread = [
            f"{np.exp(np.log(some).mean()):.2f} | {some.max():.3g}"
            for some in (each.others, each.held_out)
        ]
        lines.append(f"| {name} | {each.losing} | {each.largest:.3g} | {' | '.join(spread)} |")
    return lines


def even_people(plan: TablePlan, seed: int) -> dict[str, Any]:
    """Return people spread evenly over all values; half of the records of a list are held."""
    dice = np.random.default_rng(seed)
    tables: dict[str, Any] = {}
    for place, name in enumerate(plan.domain.names):
        records, most = plan.domain.records(place), plan.domain.most(place)
        owners = np.arange(PEOPLE)
        if most:
            owners = np.repeat(owners, dice.binomial(most, 0.5, PEOPLE))
        columns: dict[str, Any] = {"uid": owners}
        for column, kind in zip(records.names, records.attributes, strict=True):
            values = np.array([_value_of(kind, index) for index in range(kind.size)])
            columns[column] = values[dice.integers(0, kind.size, len(owners))]
        tables[name] = columns
    return tables if len(tables) > 1 else next(iter(tables.values()))


def _value_of(kind: Any, index: int) -> Any:
    if not kind.ordered:
        return kind.labels[index]
    if isinstance(kind, Buckets):
        return kind.low + (kind.high - kind.low) * (index + 0.5) / kind.size
    return kind.low + index


def measured(plan: TablePlan, text: str, epsilon: float, seed: int) -> float:
    """Return the variance that the reports of one collection tell."""
    assert isinstance(plan, Plan)
    database = simulate(Task("standard", plan, epsilon), even_people(plan, seed), seed=seed)
    assert isinstance(database, Database)
    result = database.sql(text)
    assert isinstance(result, Result)
    return result.figures[0][0].variance


def page(epsilons: tuple[float, ...] = EPSILONS, *, checked: bool = True) -> str:
    """Return the page of evidence."""
    lines = [_HEAD.format(people=PEOPLE, epsilon=PRINTED, joined=PRINTED * JOIN_FACTOR)]
    every: dict[float, list[Standing]] = {
        epsilon: [standing(*question, epsilon) for question in QUESTIONS] for epsilon in epsilons
    }
    for each in every[PRINTED]:
        shown = " | ".join(f"{ratio:.3g}" for ratio in each.ratios)
        checks = f" {_checks(each)} |" if checked else ""
        way = each.method + (", RDC" if each.options else "")
        lines.append(f"| {each.table} | `{each.question}` | {way} | {shown} |{checks}")
    lines.append(_SUMMARY_HEAD)
    for epsilon, standings in every.items():
        losing = [[each.ratios[way] > GOAL for each in standings] for way in range(WAYS)]
        worst = [max(each.ratios[way] for each in standings) for way in range(WAYS)]
        pairs = zip(losing, worst, strict=True)
        cells = " | ".join(f"{sum(lost)} | {most:.3g}" for lost, most in pairs)
        lines.append(f"| {epsilon:g} | {cells} |")
    lines += [_FOOT, _FRONTIER_HEAD, *frontier_lines(epsilons)]
    return "\n".join([*lines, _FRONTIER_FOOT])


def _checks(each: Standing) -> str:
    """Return the measured variance over the predicted one, published and with the workload."""
    text = f"SELECT {each.question}"
    published = PublishedTables(TABLES[each.table], each.method)
    theirs = measured(published, text + each.options, each.epsilon, 1) / each.published
    ours = measured(shared_plan(each.table), text, each.epsilon, 2) / each.shared
    return f"{theirs:.2f} | {ours:.2f}"


_HEAD = """# Twenty standard questions in SQL, beside the published methods

Printed by `python -m sottovoce.lab.experiments.sql_workloads`.

The variance of our answer over that of the best published method for the same question, at the
same epsilon ({epsilon:g}, and {joined:g} for joins): below 1 we need fewer people.  Published are
HIO, HI, MG, SC (also with a level sampled), AHIO, EHIO and SC-JOIN with local hashing, each with
disjoint nodes and with RDC; the best of them is chosen for every question apart.  *default*: no
workload, all layers alike.  *balanced*: `Table(workload="balanced")`, by a rule from the columns
alone.  *workload*: `Table(workload=[...])` with all questions about that table in the list, each of
equal weight.  *tuned*: the same with weights that make the largest ratio of the table small.
*alone*: a workload of this question only.  Variances are predicted, exactly for
people spread evenly over all values.  The last two columns compare that with
what one collection of {people:,} such people tells: its stated variance over the predicted one, of
the published method and of ours with the workload.  Averages of few people are ratios of noisy
numbers, of which one collection tells little.

| table | question | published | default | balanced | workload | tuned | alone | theirs | ours |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|"""

_SUMMARY_HEAD = f"""
How many of the twenty lose by more than {GOAL}, and the largest ratio:

| epsilon | default lose | max | balanced | max | workload | max | tuned | max | alone | max |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""

_FOOT = """
What loses by default: conditions that fix **every** column of a table to one value, against MG,
which asks everybody about the finest layer and nothing else, while ours asks one in as many people
as there are layers.  And at epsilon 1 one label of a table with several columns of numbers, against
SC: every further column of numbers divides the people among its levels.  A workload mends both.
With equal weights it makes every question better that it can make better cheaply, so that points
over every column still lose; who wants them gives them more weight.  *balanced* and *tuned* show
that one collection can answer all questions about a table without losing to the best published
method of each, which no published collection can."""

_FRONTIER_HEAD = f"""
## What points over every column cost other questions

Balanced layers have the least largest loss: of a point over every column against asking everybody
about the finest layer, in units of the first column; of every single column, as a value and as a
range, and of every pair against even layers, in units that were fitted to the questions above.
How many of the twenty lose to the best published method by more than {GOAL}, and the largest
ratio, over all epsilons above; then variances over those of even layers, the default, at epsilon
{PRINTED:g}: of the sixteen questions that do not fix every column, and of {len(HELD_OUT)} others
that nothing was fitted to (sums, averages, a deviation, conditions on two to four columns, a join),
the geometric mean and the worst.

| points may lose | lose | largest | sixteen: mean | worst | others: mean | worst |
|---:|---:|---:|---:|---:|---:|---:|"""

_FRONTIER_FOOT = """
The first row below even layers is `workload="balanced"`.  No question of the twenty loses there,
but what is gained on points over every column is paid by everything else: it stays the choice of
who wants such points.  `docs/decisions/0079-balanced-layers.md` says why it is not the default."""


if __name__ == "__main__":
    print(page())
