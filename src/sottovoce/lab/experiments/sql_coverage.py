"""How often the intervals of SQL answers hold the truth: random tables, people and queries.

A ``World`` is one or two tables with random columns, people and epsilon.  Its people are asked many
times over in one collection: a public column says which run it is, and every query is grouped by
it.  A ``Trial`` asks one random query of all runs and compares each number with DuckDB's answer
over the true columns.

    python -m sottovoce.lab.experiments.sql_coverage

prints the page that is kept in ``docs/evidence/sql.md``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.engine.memory import drive
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.result import Figure, Result
from sottovoce.plans.tables.table import Table
from sottovoce.sql.query import Column, GroupBy
from sottovoce.sql.reading import read
from sottovoce.tasks.task import Task

RUN = "run"
MOST_RUNS = 1 << 12
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
JOINS = ("one table", "list", "join")
CROWDS = {"solo": 1, "pair": 2, "trio": 3, "five": 5, "forty": 40}  # small public groups
REGIONS = ("north", "east", "south", "west")
WORLDS = 15
RUNS = 40
QUERIES = 10
DISCRETE = ("MEDIAN", "QUANTILE")  # their intervals end at values of the column
_TITLES = {
    "aggregate": "number",
    "epsilon": "epsilon",
    "join": "tables",
    "group": "groups",
}


@dataclass(frozen=True)
class AskedNumber:
    """An aggregate: its kind, and how we and DuckDB write it."""

    kind: str
    text: str
    plain: str = ""
    of_nobody: float = float("nan")
    of_all_runs: bool = False  # a share of the people of all runs together

    @property
    def truth(self) -> str:
        """Return the text for DuckDB."""
        return self.plain or self.text


@dataclass(frozen=True)
class Observed:
    """One number of one run: what it was about, and what came out beside the truth."""

    aggregate: str
    epsilon: float
    join: str
    group: str
    truth: float
    figure: Figure

    @property
    def exists(self) -> bool:
        """Return whether there is a true number, and an estimate."""
        return bool(np.isfinite(self.truth) and np.isfinite(self.figure.value))

    @property
    def covered(self) -> bool:
        """Return whether the interval holds the truth, to nine digits."""
        low, high = self.figure.interval()
        slack = 1e-9 * max(1.0, abs(self.truth))
        return bool(low - slack <= self.truth <= high + slack)

    @property
    def certain_and_wrong(self) -> bool:
        """Return whether the number claims to be exact and is not."""
        exact = self.figure.error <= 1e-9 * max(1.0, abs(self.truth))
        return exact and not self.covered


@dataclass(frozen=True, eq=False)
class World:
    """Random tables and people; the same seed gives the same world."""

    seed: int
    join: str
    epsilon: float
    runs: int = RUNS

    @cached_property
    def _dice(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, 1])

    @cached_property
    def people(self) -> int:
        """Return how many people there are in each run."""
        return int(self._dice.integers(800, 3000))

    @cached_property
    def _settings(self) -> dict[str, Any]:
        dice = self._dice
        low = int(dice.choice([0, -20, 1900]))
        size = int(dice.choice([8, 25, 64]))
        return {
            "age": range(low, low + size),
            "income": Buckets(0, 1000 * int(dice.integers(1, 100)), int(dice.integers(6, 25))),
            "region": list(REGIONS),
        }

    @cached_property
    def _sold(self) -> dict[str, Any]:
        return {"amount": range(1, int(self._dice.integers(10, 40))), "kind": ["a", "b", "c"]}

    @cached_property
    def plan(self) -> Any:
        """Return the plan: people, and what they bought unless there is one table."""
        public = {
            RUN: range(MOST_RUNS),
            "year": range(1950, 2000),
            "crowd": [*CROWDS, "rest"],
        }
        fanout = int(self._dice.choice([2, 4, 8]))
        people = Table(self._settings, public=public, fanout=fanout)
        if self.join == "one table":
            return people
        sales = Table(self._sold, most=3)
        return Joint({"people": people, "sales": sales}, fanout=fanout)

    @cached_property
    def columns(self) -> dict[str, dict[str, Any]]:
        """Return the true columns; buckets by their middles."""
        dice = np.random.default_rng([self.seed, 2])
        plan, count = self.plan, self.people
        ages = np.array(self._settings["age"])
        shape = dice.choice(["normal", "even", "skewed"])
        position = {
            "normal": np.clip(dice.normal(0.5, 0.2, count), 0, 0.999),
            "even": dice.random(count),
            "skewed": dice.beta(1, 6, count),
        }[str(shape)]
        buckets = self._settings["income"]
        mixed = np.clip(0.5 * position + 0.5 * dice.random(count), 0, 0.999)
        edges = buckets.edges
        bucket = (mixed * buckets.count).astype(int)
        crowd = np.repeat("rest", count).astype(object)
        starts = np.concatenate([[0], np.cumsum(list(CROWDS.values()))])
        for name, first, end in zip(CROWDS, starts[:-1], starts[1:], strict=True):
            crowd[first:end] = name
        shares = dice.dirichlet([3, 2, 1, 0.05])
        people = {
            "uid": np.arange(count),
            "age": ages[(position * len(ages)).astype(int)],
            "income": (edges[bucket] + edges[bucket + 1]) / 2,
            "region": np.array(REGIONS, object)[dice.choice(4, count, p=shares)],
            "year": 1950 + (position * 50).astype(int),
            "crowd": crowd,
        }
        if self.join == "one table":
            return {"people": people}
        owned = dice.integers(0, 4, count)
        owners = np.repeat(np.arange(count), owned)
        amounts = np.array(self._sold["amount"])
        sales = {
            "uid": owners,
            "amount": amounts[(dice.beta(1, 3, len(owners)) * len(amounts)).astype(int)],
            "kind": np.array(["a", "b", "c"], object)[
                dice.choice(3, len(owners), p=[0.6, 0.3, 0.1])
            ],
        }
        assert len(plan.domain.names) == 2
        return {"people": people, "sales": sales}

    @cached_property
    def database(self) -> Database:
        """Return the answers of all runs in one collection."""
        tables: dict[str, Any] = {
            "people": {
                **self.columns["people"],
                RUN: np.zeros(self.people, int),
            },
            **{name: values for name, values in self.columns.items() if name != "people"},
        }
        given: Any = tables
        if self.join == "one table":
            given = {name: values for name, values in tables["people"].items() if name != "uid"}
        held: Any = tiled(self.plan.domain.indices(given), self.runs)
        task = Task("coverage", self.plan, self.epsilon)
        rng = SeededRng(self.seed)
        outcome = drive(task, lambda asked: report_batches(asked, held, rng, subjects=True))
        assert isinstance(outcome, Database)
        return outcome

    def trials(self, count: int = QUERIES) -> Iterator["Trial"]:
        """Yield random queries."""
        dice = np.random.default_rng([self.seed, 3])
        for _ in range(count):
            yield Trial.random(self, dice)


def tiled(people: PersonTables, runs: int) -> PersonTables:
    """Return the same people once for every run, with the number of the run among their public
    columns.
    """
    everybody = np.tile(np.arange(len(people)), runs)
    tables: list[Ints | Rows] = [table[everybody] for table in people.tables]
    mark = b'"people.run":%d'
    public = [text.replace(mark % 0, mark % run) for run in range(runs) for text in people.public]
    return PersonTables(tuple(tables), public)


@dataclass(frozen=True, eq=False)
class Trial:
    """One query about a world: some aggregates of some records, perhaps by group."""

    world: World
    measured: tuple[AskedNumber, ...]
    source: str
    condition: str
    group: str  # a column or an expression; empty without groups
    group_kind: str

    @classmethod
    def random(cls, world: World, dice: np.random.Generator) -> "Trial":
        """Return a random query."""
        over_people = world.join == "one table" or dice.random() < 0.2
        joined = world.join == "join" and dice.random() < 0.8
        source = "people" if over_people else "sales"
        if joined:
            source = "sales JOIN people USING (uid)"
        has_people, has_sales = "people" in source, "sales" in source
        offered = _aggregates(world, people=has_people, sales=has_sales)
        chosen = dice.choice(len(offered), min(3, len(offered)), replace=False)
        group, kind = _group(world, dice, people=has_people, sales=has_sales)
        condition = _condition(world, dice, people=has_people, sales=has_sales)
        measured = tuple(offered[index] for index in chosen)
        return cls(world, measured, source, condition, group, kind)

    @property
    def text(self) -> str:
        """Return the query as an analyst writes it."""
        return self._text([each.text for each in self.measured])

    def _text(self, numbers: Sequence[str]) -> str:
        items = [f"{text} AS n{index}" for index, text in enumerate(numbers)]
        groups = [f"{self.group} AS g"] if self.group else []
        where = f" WHERE {self.condition}" if self.condition else ""
        by = " GROUP BY 1" if self.group else ""
        return f"SELECT {', '.join([*groups, *items])} FROM {self.source}{where}{by}"

    def observed(self) -> Iterator[Observed]:
        """Yield every number of every run beside the truth."""
        truths = self._truths()
        world = self.world
        join = "join" if "JOIN" in self.source else self.source
        for row_labels, figures in _by_run(world.database, self.text):
            truth = truths.get(row_labels, [None] * len(figures))
            for measured, figure, number in zip(self.measured, figures, truth, strict=True):
                true = measured.of_nobody if number is None else float(number)
                if measured.of_all_runs:
                    figure = replace(
                        figure,
                        value=figure.value * world.runs,
                        variance=figure.variance * world.runs**2,
                        bounds=None,
                    )
                yield Observed(measured.kind, world.epsilon, join, self.group_kind, true, figure)

    def _truths(self) -> dict[tuple[str, ...], list[Any]]:
        import duckdb

        with duckdb.connect(":memory:") as engine:
            for name, columns in self.world.columns.items():
                engine.register(name, _frame(columns))
            engine.execute("SET threads = 1")
            rows = engine.execute(self._text([each.truth for each in self.measured])).fetchall()
        keys = 1 if self.group else 0
        return {tuple(_label(key) for key in row[:keys]): list(row[keys:]) for row in rows}


def _frame(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array(values.tolist()) for name, values in columns.items()})


def _by_run(database: Database, text: str) -> Iterator[tuple[tuple[str, ...], list[Figure]]]:
    """Yield the groups and the numbers of every run's rows."""
    query = read(text, database.layout.tables)
    run = GroupBy(Column(0, 0, f"people.{RUN}"), RUN)
    index = database.layout.tables.public_names.index(f"people.{RUN}")
    run = replace(run, column=replace(run.column, index=index))
    result = database.answer(replace(query, group_by=(*query.group_by, run)))
    assert isinstance(result, Result)
    for row in result.table:
        yield row.labels[:-1], list(row.figures)


def _aggregates(world: World, *, people: bool, sales: bool) -> list[AskedNumber]:
    offered = [AskedNumber("COUNT", "COUNT(*)", of_nobody=0.0)]
    number = "amount" if sales else "age"
    offered += [
        AskedNumber("SUM", f"SUM({number})", of_nobody=0.0),
        AskedNumber("AVG", f"AVG({number})"),
        AskedNumber("STDDEV", f"STDDEV({number})", f"STDDEV_POP({number})"),
        AskedNumber("VARIANCE", f"VARIANCE({number})", f"VAR_POP({number})"),
        AskedNumber("formula", f"100 * COUNT(*) FILTER (WHERE {number} > 5) / COUNT(*)"),
        AskedNumber("expression", f"AVG({number} * {number} + 1)"),
        AskedNumber("MEDIAN", f"MEDIAN({number})", f"QUANTILE_DISC({number}, 0.5)"),
        AskedNumber("QUANTILE", f"QUANTILE({number}, 0.9)", f"QUANTILE_DISC({number}, 0.9)"),
    ]
    if people:
        offered += [
            AskedNumber("SUM", "SUM(income)", of_nobody=0.0),
            AskedNumber("AVG", "AVG(income)"),
            AskedNumber("public AVG", "AVG(year)"),
            AskedNumber("public SUM", "SUM(year)", of_nobody=0.0),
            AskedNumber("COUNT", "COUNT_IF(region = 'north')", of_nobody=0.0),
        ]
        offered.append(AskedNumber("product", f"SUM(income * {number})", of_nobody=0.0))
    if people and not sales:
        total = world.people
        offered.append(AskedNumber("FREQ", "FREQ(*)", f"COUNT(*) / {total}", 0.0, of_all_runs=True))
    return offered


def _condition(world: World, dice: np.random.Generator, *, people: bool, sales: bool) -> str:
    ages = world._settings["age"]
    low, high = sorted(dice.integers(ages[0], ages[-1] + 1, 2))
    offered = [""]
    if people:
        offered += [
            f"age BETWEEN {low} AND {high}",
            f"age >= {low}",
            "region IN ('north', 'east')",
            f"age <= {high} AND region = 'north'",
            f"age < {low} OR region = 'south'",
            f"year > {dice.integers(1950, 1990)} AND age <> {low}",
            "NOT crowd = 'forty'",
            f"year < 1980 OR age >= {low}",
        ]
    if sales:
        offered += ["kind = 'a'", f"amount <= {dice.integers(3, 10)}", "kind <> 'a'"]
    if sales and people:
        offered += [f"kind = 'a' AND age >= {low}", "region = 'north' AND amount > 2"]
    return str(dice.choice(offered))


def _group(
    world: World, dice: np.random.Generator, *, people: bool, sales: bool
) -> tuple[str, str]:
    """Return what a query is grouped by, and which kind of group that is."""
    offered = [("", "no groups"), ("", "no groups")]
    if people:
        offered += [("region", "private"), ("crowd", "public"), ("FLOOR(age / 10)", "bands")]
    if sales:
        offered += [("kind", "private")]
    group, kind = offered[int(dice.integers(len(offered)))]
    return group, kind


def _label(value: Any) -> str:
    return value if isinstance(value, str) else f"{float(value):.6g}"


def worlds(count: int = WORLDS, runs: int = RUNS, seed: int = 0) -> Iterator[World]:
    """Yield random worlds, with every epsilon and every kind of join in turn."""
    for index in range(count):
        join = JOINS[index % len(JOINS)]
        epsilon = EPSILONS[index // len(JOINS) % len(EPSILONS)]
        yield World(seed * 100_000 + index, join, epsilon, runs)


@dataclass(frozen=True)
class SqlCoverage:
    """How a set of numbers fared."""

    figures: int
    covered: float  # of those that have a bounded interval
    covered_of_all: float  # an interval that is everything holds the truth
    unstable: float
    mean_z: float
    certain_and_wrong: int

    @classmethod
    def of(cls, observed: Iterable[Observed]) -> "SqlCoverage":
        """Return the shares over all numbers that exist; unstable ones are counted apart."""
        existing = [each for each in observed if each.exists]
        stable = [each for each in existing if not each.figure.unstable]
        z = _z_scores(stable)
        return cls(
            len(existing),
            float(np.mean([each.covered for each in stable])) if stable else float("nan"),
            float(np.mean([each.covered for each in existing])) if existing else float("nan"),
            1 - len(stable) / max(1, len(existing)),
            float(z.mean()) if len(z) else 0.0,
            sum(each.certain_and_wrong for each in existing),
        )


def _z_scores(observed: Sequence[Observed]) -> Floats:
    noisy = [each for each in observed if 0 < each.figure.error < np.inf]
    return np.array([(each.figure.value - each.truth) / each.figure.error for each in noisy])


def by(observed: Sequence[Observed], name: str) -> dict[str, SqlCoverage]:
    """Return the coverage for every value of one of the attributes."""
    kinds = sorted({getattr(each, name) for each in observed}, key=str)
    return {
        str(kind): SqlCoverage.of(each for each in observed if getattr(each, name) == kind)
        for kind in kinds
    }


def collected(count: int = WORLDS, runs: int = RUNS, queries: int = QUERIES) -> list[Observed]:
    """Return all numbers of some worlds."""
    found: list[Observed] = []
    for world in worlds(count, runs):
        for trial in world.trials(queries):
            found += trial.observed()
    return found


def noisy(observed: Iterable[Observed]) -> list[Observed]:
    """Return the numbers that exist and do not claim to be exact."""
    return [each for each in observed if each.exists and each.figure.error > 0]


def page(observed: Sequence[Observed], count: int) -> str:
    """Return the page of evidence; ``count`` is the number of worlds."""
    found = noisy(observed)
    exact = len([each for each in observed if each.exists]) - len(found)
    wrong = sum(each.certain_and_wrong for each in observed if each.exists)
    lines = [
        "# How often the intervals of SQL answers hold the truth",
        "",
        "Printed by `python -m sottovoce.lab.experiments.sql_coverage`.",
        "",
        f"{count} random worlds (columns, people, epsilon, one table or a join with lists), each "
        f"collected {RUNS} times and asked {QUERIES} random queries: {len(found):,} numbers with "
        f"an error, {exact:,} that claim to be exact, of which {wrong} are wrong. Every number is "
        "compared with DuckDB's answer over the true columns. Worlds are small (800 to 3,000 "
        "people, in groups down to one person), so that noise is large and many ratios have no "
        "bounded interval: those are called unstable, and counted apart. "
        "Medians and quantiles have intervals that end at "
        "values of the column, so they hold the truth more often than they must.",
    ]
    for name, title in _TITLES.items():
        head = f"| {title} | numbers | bounded intervals | all intervals | mean error | unstable |"
        lines += ["", head, "|---|---:|---:|---:|---:|---:|"]
        for kind, coverage in by(found, name).items():
            lines.append(
                f"| {kind} | {coverage.figures:,} | {100 * coverage.covered:.1f} % "
                f"| {100 * coverage.covered_of_all:.1f} % | {coverage.mean_z:+.2f} "
                f"| {100 * coverage.unstable:.0f} % |"
            )
    lines += [
        "",
        "How often the 95 % interval holds the truth: of those that are bounded, and of all, where "
        "one that is everything holds it. Fieller's intervals promise 95 % of all. Where nearly "
        "all ratios are unstable the few bounded ones are those whose denominator is too large by "
        "chance, and hold the truth less often. The mean error is in standard errors, over numbers "
        "that are not unstable.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(collected(), WORLDS))
