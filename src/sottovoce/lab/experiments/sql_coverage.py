"""How often the intervals of SQL answers hold the truth: random tables, people and queries.

A ``World`` is one or two tables with random columns, people and epsilon.  Its people are asked many
times over in one collection: a public column says which run it is, and every query is grouped by
it.  A ``Trial`` asks one random query of all runs and compares each number with DuckDB's answer
over the true columns.

    python -m sottovoce.lab.experiments.sql_coverage --kept pieces.jsonl

prints the page that is kept in ``docs/evidence/sql.md``; one world is one piece.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property, partial
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.dates import Dates
from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.engine.memory import drive
from sottovoce.lab.experiments.measured_once import MeasuredOnce, from_arguments
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
PLANS = ("plain", "workload", "balanced")
CROWDS = {"solo": 1, "pair": 2, "trio": 3, "five": 5, "forty": 40}  # small public groups
REGIONS = ("north", "east", "south", "west")
WORLDS = 30
RUNS = 24
QUERIES = 6
FEWEST_RUNS = 20  # of one number, to tell its bias
# Their intervals end at values of the column.
DISCRETE = ("MEDIAN", "QUANTILE", "MIN", "MAX", "range", "public MEDIAN", "public MAX")
NO_CROWD = "no small crowd"
_TITLES = {
    "aggregate": "number",
    "epsilon": "epsilon",
    "join": "tables",
    "group": "groups",
    "form": "query",
    "plan": "plan",
    "crowd": "people in a public group",
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
    """One number of one run: what it was about, and what came out beside the truth.

    ``setting`` is the same for the same number in all runs.
    """

    aggregate: str
    epsilon: float
    join: str
    group: str
    form: str
    plan: str
    setting: str
    truth: float
    value: float
    error: float
    low: float
    high: float
    unstable: bool

    @property
    def crowd(self) -> str:
        """Return how many people are in the public group that the number is about.

        The setting ends with the labels of the groups, written as a tuple.
        """
        for name, size in CROWDS.items():
            if self.group == "public" and self.setting.endswith(f"({name!r},)"):
                return f"{size:,}"
        return "hundreds" if self.group == "public" else NO_CROWD

    @property
    def discrete(self) -> bool:
        """Return whether the interval ends at values of the column."""
        return self.aggregate in DISCRETE

    @property
    def exists(self) -> bool:
        """Return whether there is a true number, and an estimate."""
        return bool(np.isfinite(self.truth) and np.isfinite(self.value))

    @property
    def covered(self) -> bool:
        """Return whether the interval holds the truth, to nine digits."""
        return self.low - self._digits <= self.truth <= self.high + self._digits

    @property
    def exact(self) -> bool:
        """Return whether the number claims to have no error."""
        return self.error <= self._digits

    @property
    def certain_and_wrong(self) -> bool:
        """Return whether the number claims to be exact and is not."""
        return self.exact and not self.covered

    @property
    def _digits(self) -> float:
        return 1e-9 * max(1.0, abs(self.truth))


@dataclass(frozen=True, eq=False)
class World:
    """Random tables and people; the same seed gives the same world."""

    seed: int
    join: str
    epsilon: float
    runs: int = RUNS
    kind: str = "plain"  # of the plan

    @cached_property
    def _dice(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, 1])

    @cached_property
    def people(self) -> int:
        """Return how many people there are in each run."""
        return int(self._dice.integers(600, 1600))

    @cached_property
    def _settings(self) -> dict[str, Any]:
        dice = self._dice
        low = int(dice.choice([0, -20, 1900]))
        size = int(dice.choice([8, 25, 40]))
        return {
            "age": range(low, low + size),
            "income": Buckets(0, 1000 * int(dice.integers(1, 100)), int(dice.integers(6, 25))),
            "region": list(REGIONS),
            **({"joined": Dates("2024-01-01", "2024-02-10")} if self.seed % 2 else {}),
        }

    @cached_property
    def has_dates(self) -> bool:
        """Return whether people say when they joined."""
        return "joined" in self._settings

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
            return Table(self._settings, public=public, fanout=fanout, workload=self._workload)
        sales = Table(self._sold, most=3)
        tables = {"people": people, "sales": sales}
        return Joint(tables, fanout=fanout, workload=self._workload)

    @property
    def _workload(self) -> Any:
        """Return what the plan is optimised for."""
        if self.kind != "workload":
            return "balanced" if self.kind == "balanced" else None
        listed = [
            "SELECT AVG(age) FROM people WHERE region = 'north'",
            "SELECT region, COUNT(*) FROM people WHERE age > 5 GROUP BY region",
        ]
        if self.join == "one table":
            return listed
        return [*listed, "SELECT kind, SUM(amount) FROM sales GROUP BY kind"]

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
        if self.has_dates:
            days = (np.clip(0.7 * position + 0.3 * dice.random(count), 0, 0.999) * 41).astype(int)
            people["joined"] = np.datetime64("2024-01-01") + days
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
        for number in range(count):
            yield Trial.random(self, dice, number)

    def observed(self, queries: int = QUERIES) -> list[Observed]:
        """Return all numbers of some random queries."""
        return [each for trial in self.trials(queries) for each in trial.observed()]


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
    number: int  # among the queries of the world
    measured: tuple[AskedNumber, ...]
    records: "AskedRecords"
    group: str  # a column or an expression; empty without groups
    group_kind: str
    least_count: float | None = None  # what HAVING COUNT(*) demands

    @classmethod
    def random(cls, world: World, dice: np.random.Generator, number: int) -> "Trial":
        """Return a random query."""
        over_people = world.join == "one table" or dice.random() < 0.2
        joined = world.join == "join" and dice.random() < 0.8
        source = "people" if over_people else "sales"
        if joined:
            source = "sales JOIN people USING (uid)"
        has_people, has_sales = "people" in source, "sales" in source
        condition = _condition(world, dice, people=has_people, sales=has_sales)
        records = AskedRecords.random(source, condition, dice)
        offered = _aggregates(world, people=has_people, sales=has_sales)
        if records.form == "LEFT JOIN of a list":
            offered = [each for each in offered if "amount" in each.text and "*)" not in each.text]
        chosen = dice.choice(len(offered), min(3, len(offered)), replace=False)
        group, kind = _group(world, dice, people=has_people, sales=has_sales)
        counted = group and records.form != "LEFT JOIN of a list" and dice.random() < 0.25
        least = float(world.people * dice.choice([0.05, 0.2])) if counted else None
        measured = tuple(offered[index] for index in chosen)
        if least is not None:  # a share of everybody is a share of all runs
            measured = tuple(each for each in measured if not each.of_all_runs) or (offered[0],)
        return cls(world, number, measured, records, group, kind, least)

    @property
    def text(self) -> str:
        """Return the query as an analyst writes it."""
        having = "" if self.least_count is None else f" HAVING COUNT(*) > {self.least_count:g}"
        return self._text([each.text for each in self.measured]) + having

    @property
    def form(self) -> str:
        """Return how the query is written."""
        return self.records.form if self.least_count is None else "HAVING"

    def _text(self, numbers: Sequence[str]) -> str:
        items = [f"{text} AS n{index}" for index, text in enumerate(numbers)]
        groups = [f"{self.group} AS g"] if self.group else []
        by = " GROUP BY 1" if self.group else ""
        return self.records.text(", ".join([*groups, *items])) + by

    def observed(self) -> Iterator[Observed]:
        """Yield every number of every run beside the truth."""
        truths = self._truths()
        world = self.world
        join = "join" if "JOIN" in self.records.source else self.records.source
        for row_labels, figures in _by_run(world.database, self.text):
            truth = truths.get(row_labels, [None] * len(figures))
            for measured, figure, number in zip(self.measured, figures, truth, strict=True):
                if measured.of_all_runs:
                    figure = replace(
                        figure,
                        value=figure.value * world.runs,
                        variance=figure.variance * world.runs**2,
                        bounds=None,
                    )
                low, high = figure.interval()
                setting = f"{world.seed} {self.number} {measured.text} {row_labels}"
                yield Observed(
                    measured.kind,
                    world.epsilon,
                    join,
                    self.group_kind,
                    self.form,
                    world.kind,
                    setting,
                    measured.of_nobody if number is None else _number(number),
                    figure.value,
                    figure.error,
                    low,
                    high,
                    figure.unstable,
                )

    def _truths(self) -> dict[tuple[str, ...], list[Any]]:
        import duckdb

        with duckdb.connect(":memory:") as engine:
            for name, columns in self.world.columns.items():
                engine.register(name, _frame(columns))
            engine.execute("SET threads = 1")
            rows = engine.execute(self._text([each.truth for each in self.measured])).fetchall()
        keys = 1 if self.group else 0
        # DuckDB adds a group of people without a record, whose aggregates are NULL.
        known = [row for row in rows if None not in row[:keys]]
        return {tuple(_label(key) for key in row[:keys]): list(row[keys:]) for row in known}


@dataclass(frozen=True)
class AskedRecords:
    """The records that a query is about: tables, a condition, and how both are written."""

    source: str
    condition: str
    form: str

    @classmethod
    def random(cls, source: str, condition: str, dice: np.random.Generator) -> "AskedRecords":
        """Return records written in one of the ways that there are for them."""
        forms = ["plain", "plain", "WITH", "inner query"]
        if "JOIN" in source:
            forms = ["plain", "LEFT JOIN of people", "LEFT JOIN of a list"]
        form = str(dice.choice(forms))
        return cls(source, condition, form)

    def text(self, items: str) -> str:
        """Return a query that selects some items of these records."""
        where = f" WHERE {self.condition}" if self.condition else ""
        if self.form == "WITH":
            inner = f"SELECT * FROM {self.source}{where}"
            return f"WITH chosen AS ({inner}) SELECT {items} FROM chosen"
        if self.form == "inner query":
            return f"SELECT {items} FROM (SELECT * FROM {self.source}{where}) AS chosen"
        sources = {
            "LEFT JOIN of people": "sales LEFT JOIN people USING (uid)",
            "LEFT JOIN of a list": "people LEFT JOIN sales USING (uid)",
        }
        return f"SELECT {items} FROM {sources.get(self.form, self.source)}{where}"


def _number(entry: Any) -> float:
    """Return a number, or the days from 1970 to a date."""
    if isinstance(entry, datetime):
        return (entry - datetime(1970, 1, 1)) / timedelta(days=1)
    return float((entry - date(1970, 1, 1)).days if isinstance(entry, date) else entry)


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
        AskedNumber("MIN", f"MIN({number})"),
        AskedNumber("MAX", f"MAX({number})"),
        AskedNumber("range", f"MAX({number}) - MIN({number})"),
        AskedNumber("formula", f"2 * STDDEV({number}) + 1", f"2 * STDDEV_POP({number}) + 1"),
    ]
    if sales:
        offered += [
            AskedNumber("CASE", "AVG(CASE WHEN kind = 'a' THEN amount ELSE 0 END)"),
            AskedNumber("CASE", "AVG(CASE WHEN amount > 3 THEN amount END)"),
        ]
    if people:
        offered += [
            AskedNumber("SUM", "SUM(income)", of_nobody=0.0),
            AskedNumber("AVG", "AVG(income)"),
            AskedNumber("public AVG", "AVG(year)"),
            AskedNumber("public SUM", "SUM(year)", of_nobody=0.0),
            AskedNumber("public MEDIAN", "MEDIAN(year)", "QUANTILE_DISC(year, 0.5)"),
            AskedNumber("public MAX", "MAX(year)"),
            AskedNumber("CASE", "SUM(CASE WHEN region = 'north' THEN age ELSE 1 END)", "", 0.0),
            AskedNumber("CASE", "AVG(CASE WHEN age > 9 THEN income END)"),
            AskedNumber("COUNT", "COUNT_IF(region = 'north')", of_nobody=0.0),
        ]
        offered.append(AskedNumber("product", f"SUM(income * {number})", of_nobody=0.0))
    if people and world.has_dates:
        offered += [
            AskedNumber("dates", "AVG(joined - DATE '2024-01-01')"),
            AskedNumber("MEDIAN", "MEDIAN(joined)", "QUANTILE_DISC(joined, 0.5)"),
            AskedNumber("MAX", "MAX(joined)"),
            AskedNumber("dates", "COUNT_IF(joined >= '2024-01-20')", "", 0.0),
        ]
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
    if people and world.has_dates:
        offered += [
            "joined BETWEEN '2024-01-05' AND '2024-01-20'",
            "EXTRACT(MONTH FROM joined) = 1",
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
        offered.append(("CASE WHEN age > 9 THEN 'old' ELSE 'young' END", "CASE bands"))
    if people and world.has_dates:
        offered.append(("DATE_TRUNC('month', joined)", "months"))
    if sales:
        offered += [("kind", "private")]
    group, kind = offered[int(dice.integers(len(offered)))]
    return group, kind


def _label(value: Any) -> str:
    if isinstance(value, date):
        return value.strftime("%Y-%m-%d")
    return value if isinstance(value, str) else f"{float(value):.6g}"


def worlds(count: int = WORLDS, runs: int = RUNS, seed: int = 0) -> Iterator[World]:
    """Yield random worlds, with every epsilon, kind of join and kind of plan in turn."""
    for index in range(count):
        join = JOINS[index % len(JOINS)]
        epsilon = EPSILONS[index // len(JOINS) % len(EPSILONS)]
        plan = PLANS[(index + index // len(JOINS)) % len(PLANS)]
        yield World(seed * 100_000 + index, join, epsilon, runs, plan)


@dataclass(frozen=True)
class SqlCoverage:
    """How a set of numbers fared.

    ``mean_z`` is the mean of (value - truth) / error over numbers that are not unstable.  That is
    not the bias: an error is estimated from the same noise as its number, and a number that is too
    small by chance often has a larger error.  ``bias`` is the mean of value - truth over the
    standard deviation that the number really has from run to run, where no run is unstable.
    """

    figures: int
    covered: float  # of those that have a bounded interval
    covered_of_all: float  # an interval that is everything holds the truth
    unstable: float
    mean_z: float
    bias: float
    settings: int  # that the bias is the mean of
    certain_and_wrong: int

    @classmethod
    def of(cls, observed: Iterable[Observed]) -> "SqlCoverage":
        """Return the shares over all numbers that exist; unstable ones are counted apart."""
        existing = [each for each in observed if each.exists]
        stable = [each for each in existing if not each.unstable]
        z = _z_scores(stable)
        biases = _biases(existing)
        return cls(
            len(existing),
            float(np.mean([each.covered for each in stable])) if stable else float("nan"),
            float(np.mean([each.covered for each in existing])) if existing else float("nan"),
            1 - len(stable) / max(1, len(existing)),
            float(z.mean()) if len(z) else float("nan"),
            float(np.mean(biases)) if biases else float("nan"),
            len(biases),
            sum(each.certain_and_wrong for each in existing),
        )


def _z_scores(observed: Sequence[Observed]) -> Floats:
    noisy = [each for each in observed if not each.exact and np.isfinite(each.error)]
    return np.array([(each.value - each.truth) / each.error for each in noisy])


def _biases(observed: Iterable[Observed]) -> list[float]:
    """Return the bias of every number that is stable in all of enough runs."""
    settings: dict[str, list[Observed]] = {}
    for each in observed:
        settings.setdefault(each.setting, []).append(each)
    biases = []
    for runs in settings.values():
        deviations = np.array([each.value - each.truth for each in runs])
        spread = float(deviations.std(ddof=1)) if len(runs) > 1 else 0.0
        unstable = any(each.unstable for each in runs)
        if len(runs) >= FEWEST_RUNS and spread > 0 and not unstable:
            biases.append(float(deviations.mean()) / spread)
    return biases


def by(observed: Sequence[Observed], name: str) -> dict[str, SqlCoverage]:
    """Return the coverage for every value of one of the attributes."""
    kinds = sorted({getattr(each, name) for each in observed}, key=_order)
    return {
        str(kind): SqlCoverage.of(each for each in observed if getattr(each, name) == kind)
        for kind in kinds
    }


def _order(kind: Any) -> tuple[bool, int, str]:
    """Return what kinds are sorted by: whole numbers come before text."""
    text = str(kind)
    is_number = text.isdecimal()
    return not is_number, int(text) if is_number else 0, text


def collected(kept: MeasuredOnce, count: int = WORLDS) -> list[Observed]:
    """Return all numbers of some worlds."""
    found: list[Observed] = []
    for world in worlds(count):
        measured = kept.piece(f"world {world.seed}", partial(_measured, world))
        found += [Observed(*row) for row in measured]
    return found


def _measured(world: World) -> list[tuple[Any, ...]]:
    return rows(world.observed())


def rows(observed: Iterable[Observed]) -> list[tuple[Any, ...]]:
    """Return numbers as plain rows, from which ``Observed`` is made again."""
    return [astuple(each) for each in observed]


def noisy(observed: Iterable[Observed]) -> list[Observed]:
    """Return the numbers that exist and do not claim to be exact."""
    return [each for each in observed if each.exists and not each.exact]


def page(observed: Sequence[Observed], count: int) -> str:
    """Return the page of evidence; ``count`` is the number of worlds."""
    found = noisy(observed)
    exact = [each for each in observed if each.exists and each.exact]
    wrong = sum(each.certain_and_wrong for each in exact)
    lines = [
        "# How often the intervals of SQL answers hold the truth",
        "",
        "Printed by `python -m sottovoce.lab.experiments.sql_coverage`.",
        "",
        f"{count} random worlds (columns, people, epsilon, plan, one table or a join with lists), "
        f"each collected {RUNS} times and asked {QUERIES} random queries: {len(found):,} numbers "
        f"with an error, {len(exact):,} that claim to be exact, of which {wrong} are wrong. Every "
        "number is compared with DuckDB's answer over the true columns. Worlds are small (600 to "
        "1,600 people, in groups down to one person), so that noise is large and many ratios have "
        "no bounded interval: those are called unstable, and counted apart.",
        "",
        *_EXPLAINED,
    ]
    smooth = [each for each in found if not each.discrete]
    discrete = [each for each in found if each.discrete]
    lines += ["", *_table(smooth, "aggregate", _TITLES["aggregate"])]
    lines += ["", _OF_DISCRETE, "", *_discrete_table(discrete)]
    for name, title in _TITLES.items():
        if name == "crowd":
            crowds = [each for each in smooth if each.crowd != NO_CROWD]
            lines += ["", _OF_CROWDS, "", *_table(crowds, name, title)]
        elif name != "aggregate":
            lines += ["", *_table(smooth, name, title)]
    return "\n".join([*lines, "", *_crossing(found)])


def _table(found: Sequence[Observed], name: str, title: str) -> list[str]:
    head = (
        f"| {title} | numbers | bounded intervals | all intervals | mean z | bias | settings "
        "| unstable |"
    )
    lines = [head, "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for kind, coverage in by(found, name).items():
        lines.append(
            f"| {kind} | {coverage.figures:,} | {100 * coverage.covered:.1f} % "
            f"| {100 * coverage.covered_of_all:.1f} % | {_signed(coverage.mean_z)} "
            f"| {_signed(coverage.bias)} | {coverage.settings:,} "
            f"| {100 * coverage.unstable:.0f} % |"
        )
    return lines


def _discrete_table(found: Sequence[Observed]) -> list[str]:
    lines = ["| number | numbers | bounded intervals | all intervals |", "|---|---:|---:|---:|"]
    for kind, coverage in by(found, "aggregate").items():
        lines.append(
            f"| {kind} | {coverage.figures:,} | {100 * coverage.covered:.1f} % "
            f"| {100 * coverage.covered_of_all:.1f} % |"
        )
    return lines


def _crossing(found: Sequence[Observed]) -> list[str]:
    """Return the coverage of all intervals, and the mean z, of every number at every epsilon."""
    lines = [
        "Every number at every epsilon: how often all intervals hold the truth, and in brackets "
        "the mean z and how many numbers there are.",
        "",
        f"| number | {' | '.join(f'epsilon {each:g}' for each in EPSILONS)} |",
        f"|---|{'---:|' * len(EPSILONS)}",
    ]
    for kind in sorted({each.aggregate for each in found}):
        cells = []
        for epsilon in EPSILONS:
            own = [each for each in found if (each.aggregate, each.epsilon) == (kind, epsilon)]
            fared = SqlCoverage.of(own)
            z = "–" if kind in DISCRETE else _signed(fared.mean_z)
            cell = f"{100 * fared.covered_of_all:.1f} % ({z}; {fared.figures:,})"
            cells.append(cell if own else "–")
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return lines


def _signed(number: float) -> str:
    return "–" if np.isnan(number) else f"{number:+.2f}"


_OF_DISCRETE = (
    "Medians, quantiles, MIN, MAX and their differences (`range`) have intervals that end at "
    "values of the column, so they hold the truth more often than they must. They have a table "
    "of their own, without z and bias, and are left out of the tables by epsilon, tables, groups, "
    "query, plan and people: there they would hide intervals of other numbers that are too short."
)
_OF_CROWDS = (
    "Numbers about the groups of a public column that says in which crowd people are, by how many "
    "people each group has: of one, two, three, five and forty people, and of all others."
)


_EXPLAINED = (
    "How often the 95 % interval holds the truth: of those that are bounded, and of all, where one "
    "that is everything holds it. Fieller's intervals promise 95 % of all. Where nearly all ratios "
    "are unstable the few bounded ones are those whose denominator is too large by chance, and "
    "hold the truth less often.",
    "",
    "`mean z` is the mean of (number - truth) / error over numbers that are not unstable. It is no "
    "bias: the error is estimated from the same noise as the number, and a spread that is too "
    "small by chance has a larger error. `bias` is the mean of number - truth in standard "
    "deviations that the number really has from run to run, over settings where no run is "
    "unstable, so that nothing is selected; `settings` is how many these are. A setting is one "
    f"number of one query and group, in at least {FEWEST_RUNS} runs: over S settings the mean of "
    f"{RUNS} runs errs by about 1 / sqrt({RUNS} S), if their errors are independent.",
)


if __name__ == "__main__":
    print(page(collected(from_arguments(__doc__)), WORLDS))
