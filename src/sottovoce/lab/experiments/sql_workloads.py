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
from sottovoce.plans.tables.table_plan import TablePlan
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task

EPSILONS = (1.0, 2.0, 4.0)
PRINTED = 2.0  # the epsilon of the table that is printed
JOIN_FACTOR = 2.5  # a join shares its budget among its tables
PEOPLE = 20_000
GOAL = 1.2
WAYS = 4  # of ours: default, workload, balanced, alone
BALANCING = 20  # steps in which the weights of questions are balanced
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


@dataclass(frozen=True)
class Standing:
    """The variances of one question: by the best published method, by ours without a workload,
    with all questions about the table as its workload, with these in balance, and with this
    question alone.
    """

    table: str
    question: str
    epsilon: float
    method: str
    options: str
    published: float
    default: float
    shared: float
    balanced: float
    alone: float

    @property
    def ratios(self) -> tuple[float, ...]:
        """Return our variances over the published one."""
        ours = (self.default, self.shared, self.balanced, self.alone)
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
        shared_plan(table),
        balanced_plan(table, epsilon),
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
def balanced_plan(table: str, epsilon: float) -> TablePlan:
    """Return the plan whose workload weighs these questions so that none loses much.

    Questions with a large ratio to the best published method get more weight, step by step.
    """
    questions = _questions(table)
    published = np.array([best_published(table, each, epsilon).variance for each in questions])
    weights = np.ones(len(questions))
    plans = []
    for _ in range(BALANCING):
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


def weighted(table: str, queries: Sequence[Any]) -> TablePlan:
    """Return the plan of a table for a workload."""
    plan = TABLES[table]
    settings: dict[str, Any] = {"domain": plan.domain, "rows": plan.rows, "workload": queries}
    return Joint(**settings) if isinstance(plan, Joint) else Table(**settings)


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
    return "\n".join([*lines, _FOOT])


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
workload, all layers alike.  *workload*: `Table(workload=[...])` with all questions about that table
in the list, each of equal weight.  *balanced*: the same with weights that make the largest ratio of
the table small.  *alone*: a workload of this question only.  Variances are predicted, exactly for
people spread evenly over all values.  The last two columns compare that with
what one collection of {people:,} such people tells: its stated variance over the predicted one, of
the published method and of ours with the workload.  Averages of few people are ratios of noisy
numbers, of which one collection tells little.

| table | question | published | default | workload | balanced | alone | their check | our check |
|---|---|---|---:|---:|---:|---:|---:|---:|"""

_SUMMARY_HEAD = f"""
How many of the twenty lose by more than {GOAL}, and the largest ratio:

| epsilon | default lose | largest | workload | largest | balanced | largest | alone | largest |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""

_FOOT = """
What loses by default: conditions that fix **every** column of a table to one value, against MG,
which asks everybody about the finest layer and nothing else, while ours asks one in as many people
as there are layers.  And at epsilon 1 one label of a table with several columns of numbers, against
SC: every further column of numbers divides the people among its levels.  A workload mends both.
With equal weights it makes every question better that it can make better cheaply, so that points
over every column still lose; who wants them gives them more weight.  *balanced* shows that one
collection can answer all questions about a table without losing to the best published method of
each, which no published collection can."""


if __name__ == "__main__":
    print(page())
