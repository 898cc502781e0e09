"""Invented tables, and our answers in SQL beside the published methods on the same people.

``python -m sottovoce.lab.experiments.tables`` prints the page that is kept in
``docs/evidence/services.md``. The tables of the census only have the shape of the real ones.

Source: Xu 2020, section 7.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.domains.categories import Categories
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.lab.simulate import simulate
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.result import Figure, Result
from sottovoce.plans.tables.source import Source
from sottovoce.sql.reading import read
from sottovoce.tasks.task import Task

SPREAD = 10.0  # of further numbers around the first
MARRIED = "married"
SINGLE = "single"
OTHERS = ("apart", "separated", "divorced", "widowed")
RACES = {"W": 0.92, "A": 0.04, "N": 0.01, "C": 0.01, "J": 0.01, "O": 0.01}
CITY_SHARES = {"IN": 0.11, "IL": 0.45}
HOUSEHOLD = 10  # people at the most
SIZES = np.array(
    [0.08, 0.22, 0.22, 0.19, 0.13, 0.08, 0.04, 0.02, 0.01, 0.01]
)  # of households, from 1 person on
PUBLISHED = ("hio", "ahio", "ehio")
MORE = "RDC, K = 16"


@dataclass(frozen=True, eq=False)
class Population:
    """Tables about the same people.

    Each has its settings for a plan, and what everybody holds in it.
    """

    tables: Mapping[str, Mapping[str, Any]]
    data: Mapping[str, Mapping[str, Any]]

    def collected(
        self,
        epsilon: float,
        *,
        seed: int = 0,
        method: str = "",
        published: bool = False,
        **settings: Any,
    ) -> Database:
        """Return the database of one collection by our plan or by a baseline.

        A ``method``, or ``published``, names the baseline.

        ``settings`` are those of the plan.
        """
        if method or published:
            plan: Any = PublishedTables(
                self.tables, method or "hio", published=published, **settings
            )
        else:
            plan = Joint(self.tables, **settings)
        people = self.data if len(self.data) > 1 else next(iter(self.data.values()))
        database = simulate(Task("services", plan, epsilon), people, seed=seed)
        assert isinstance(database, Database)
        return database

    def truth(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows that an ordinary database answers."""
        import duckdb

        with duckdb.connect(":memory:") as engine:
            for name, columns in self.data.items():
                people = len(next(iter(columns.values())))
                engine.register(name, {"uid": np.arange(people), **columns})
            rows: list[tuple[Any, ...]] = engine.execute(text).fetchall()
        return rows


@dataclass(frozen=True)
class Contest:
    """A query to a population: which number, of whom, and for which epsilon."""

    population: str
    epsilon: float
    wanted: str  # an aggregate: COUNT(*), SUM(column) or AVG(column)
    rest: str  # FROM and WHERE

    def text(self, options: str = "") -> str:
        """Return the query; for an average also its parts."""
        parts = self.wanted
        if parts.startswith("AVG"):
            parts = f"{parts.replace('AVG', 'SUM')} AS total, COUNT(*) AS people, {parts} AS mean"
        return f"SELECT {parts} {self.rest} {options}".strip()


@dataclass(frozen=True)
class Ratio:
    """Our answer beside the truth, and the variances of the published ways by name."""

    contest: Contest
    truth: float
    ours: Figure
    published: Mapping[str, float]

    @property
    def off(self) -> float:
        """Return how many standard errors our answer is from the truth."""
        return (self.ours.value - self.truth) / self.ours.error

    def best(self, *, largest: bool = False) -> str:
        """Return the best published way.

        ``largest`` counts also more decompositions than are combined by default.
        """
        ways = [way for way in self.published if largest or not way.endswith(MORE)]
        return min(ways, key=lambda way: self.published[way])

    def gain(self, *, largest: bool = False) -> float:
        """Return how many times as many people the best published way needs."""
        return self.published[self.best(largest=largest)] / self.ours.variance


def syn_1(
    people: int, *, numbers: int = 2, size: int = 125, further_size: int = 0, seed: int = 0
) -> Population:
    """Return one table ``t`` of correlated numbers ``a``, ``b``, ... from 1 on.

    The first is normal around the middle, further ones lie around it; they have ``further_size``
    values if that is given.
    """
    dice = np.random.default_rng(seed)
    names = "abcdefgh"[:numbers]
    first = dice.normal(size / 2, size / 4, people)
    data = {names[0]: _clamped(first, size)}
    for name in names[1:]:
        scale = (further_size or size) / size
        numbers_around = (first + dice.normal(0, SPREAD, people)) * scale
        data[name] = _clamped(numbers_around, further_size or size)
    sizes = [size, *[further_size or size] * (numbers - 1)]
    columns = {
        name: range(1, column_size + 1) for name, column_size in zip(names, sizes, strict=True)
    }
    return Population({"t": {"columns": columns}}, {"t": data})


def syn_2(
    people: int, *, most: int = 0, size: int = 125, labels: int = 500, rows: int = 1
) -> Population:
    """Return tables ``one`` and ``two``, each a number and a label.

    With ``most`` up to so many rows in the second.
    """
    dice = np.random.default_rng(0)
    first = dice.normal(size / 2, size / 4, people)
    owners = (
        np.repeat(np.arange(people), dice.integers(1, most + 1, people))
        if most
        else np.arange(people)
    )
    names = tuple(f"k{number}" for number in range(labels))
    first_table = {
        "a": _clamped(first, size),
        "c": _labelled(dice.integers(0, labels, people), names),
    }
    second_table = {"b": _clamped(first[owners] + dice.normal(0, SPREAD, len(owners)), size)}
    second_table |= {"d": _labelled(dice.integers(0, labels, len(owners)), names)}
    kinds = (
        {"a": range(1, size + 1), "c": Categories(names)},
        {"b": range(1, size + 1), "d": Categories(names)},
    )
    many: dict[str, Any] = {"most": most, "rows": rows} if most else {}
    tables = {"one": {"columns": kinds[0]}, "two": {"columns": kinds[1], **many}}
    return Population(tables, {"one": first_table, "two": {"uid": owners, **second_table}})


def pums_p(people: int, *, seed: int = 0) -> Population:
    """Return a table ``persons`` of age, marital status and weekly hours of work.

    It is invented to be like a census.
    """
    dice = np.random.default_rng(seed)
    age = np.clip(np.rint(dice.triangular(0, 30, 95, people)), 1, 96).astype(np.int64)
    married = np.interp(
        age, (0, 17, 22, 30, 40, 60, 75, 96), (0, 0, 0.12, 0.48, 0.62, 0.63, 0.55, 0.30)
    )
    single = np.interp(
        age, (0, 17, 22, 30, 40, 60, 75, 96), (1, 1, 0.85, 0.42, 0.22, 0.10, 0.06, 0.04)
    )
    coin = dice.random(people)
    other_status = dice.integers(2, 2 + len(OTHERS), people)
    status = np.where(coin < married, 0, np.where(coin < married + single, 1, other_status))
    works = dice.random(people) < np.interp(
        age, (0, 15, 18, 25, 30, 55, 62, 70, 80), (0, 0, 0.5, 0.8, 0.82, 0.78, 0.6, 0.25, 0.05)
    )
    hours = np.where(works, np.clip(np.rint(dice.normal(40, 9, people)), 1, 99), 0).astype(np.int64)
    names = (MARRIED, SINGLE, *OTHERS)
    columns = {"age": range(1, 126), "marst": Categories(names), "hours": range(100)}
    return Population(
        {"persons": {"columns": columns}},
        {"persons": {"age": age, "marst": _labelled(status, names), "hours": hours}},
    )


def pums_h(households: int, state: str = "IL", *, rows: int = 1, seed: int = 0) -> Population:
    """Return ``households`` with their state and city, and up to ten ``persons`` of each."""
    dice = np.random.default_rng(seed)
    sizes = dice.choice(np.arange(1, HOUSEHOLD + 1), households, p=SIZES)
    persons = _inhabitants(np.repeat(np.arange(households), sizes), dice)
    city = dice.random(households) < CITY_SHARES[state]
    places = {
        "state": np.full(households, state),
        "city": np.where(city, "largest", "elsewhere"),
    }
    data = {"households": places, "persons": persons}
    houses = {
        "state": Categories(tuple(CITY_SHARES)),
        "city": Categories(("largest", "elsewhere")),
    }
    columns = {
        "sex": Categories(("F", "M")),
        "age": range(1, 126),
        "income": range(1, 126),
        "race": Categories(tuple(RACES)),
    }
    listed = {"columns": columns, "most": HOUSEHOLD, "rows": rows}
    return Population({"households": {"columns": houses}, "persons": listed}, data)


def _inhabitants(owners: Ints, dice: np.random.Generator) -> dict[str, Any]:
    """Return the columns of the people of some households."""
    people = len(owners)
    age = np.clip(np.rint(dice.triangular(0, 25, 95, people)), 1, 125).astype(np.int64)
    earned = np.clip(np.rint(dice.lognormal(3.2, 0.6, people)), 1, 125)
    income = np.where(age > 15, earned, 1).astype(np.int64)
    sex = _labelled(dice.integers(0, 2, people), ("F", "M"))
    race = dice.choice(len(RACES), people, p=np.array(list(RACES.values())))
    race_labels = _labelled(race, tuple(RACES))
    return {"uid": owners, "sex": sex, "age": age, "income": income, "race": race_labels}


POPULATIONS: dict[str, Callable[[int], Population]] = {
    "SYN-1, 2 numbers": lambda people: syn_1(people),
    "SYN-1, 3 numbers": lambda people: syn_1(people, numbers=3),
    "SYN-2, one to one": lambda people: syn_2(people),
    "SYN-2, one to many": lambda people: syn_2(people, most=10),
    "PUMS-P": pums_p,
    "PUMS-H": pums_h,
}

_JOIN = "FROM one JOIN two USING (uid) WHERE"
_HOMES = "FROM households JOIN persons USING (uid) WHERE"

CONTESTS = (
    Contest("SYN-1, 2 numbers", 2.0, "COUNT(*)", "FROM t WHERE a BETWEEN 41 AND 59"),
    Contest(
        "SYN-1, 2 numbers",
        2.0,
        "COUNT(*)",
        "FROM t WHERE a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69",
    ),
    Contest("SYN-1, 2 numbers", 2.0, "SUM(b)", "FROM t WHERE a BETWEEN 41 AND 59"),
    Contest(
        "SYN-1, 2 numbers",
        2.0,
        "SUM(b)",
        "FROM t WHERE a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69",
    ),
    Contest("SYN-1, 2 numbers", 2.0, "AVG(b)", "FROM t WHERE a BETWEEN 31 AND 78"),
    Contest(
        "SYN-1, 3 numbers",
        2.0,
        "COUNT(*)",
        "FROM t WHERE a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69",
    ),
    Contest(
        "SYN-1, 3 numbers",
        2.0,
        "COUNT(*)",
        "FROM t WHERE a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69 AND c BETWEEN 37 AND 84",
    ),
    Contest(
        "SYN-1, 3 numbers",
        2.0,
        "SUM(c)",
        "FROM t WHERE a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69",
    ),
    Contest("PUMS-P", 2.0, "AVG(hours)", f"FROM persons WHERE marst = '{MARRIED}'"),
    Contest(
        "PUMS-P",
        2.0,
        "AVG(hours)",
        f"FROM persons WHERE marst = '{MARRIED}' AND age BETWEEN 31 AND 70",
    ),
    Contest(
        "PUMS-P",
        2.0,
        "AVG(hours)",
        f"FROM persons WHERE marst = '{SINGLE}' AND age BETWEEN 31 AND 50",
    ),
    Contest(
        "PUMS-P",
        2.0,
        "SUM(hours)",
        f"FROM persons WHERE marst = '{MARRIED}' AND age BETWEEN 31 AND 70",
    ),
    Contest("SYN-2, one to one", 5.0, "COUNT(*)", f"{_JOIN} c = 'k7' AND b BETWEEN 41 AND 55"),
    Contest(
        "SYN-2, one to one", 5.0, "COUNT(*)", f"{_JOIN} a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69"
    ),
    Contest("SYN-2, one to one", 5.0, "SUM(a)", f"{_JOIN} c = 'k7' AND b BETWEEN 41 AND 55"),
    Contest("SYN-2, one to many", 5.0, "COUNT(*)", f"{_JOIN} c = 'k7' AND b BETWEEN 41 AND 55"),
    Contest(
        "SYN-2, one to many",
        5.0,
        "COUNT(*)",
        f"{_JOIN} a BETWEEN 31 AND 78 AND b BETWEEN 22 AND 69",
    ),
    Contest("SYN-2, one to many", 5.0, "SUM(b)", f"{_JOIN} a BETWEEN 31 AND 78"),
    Contest("PUMS-H", 5.0, "COUNT(*)", f"{_HOMES} city = 'largest' AND age BETWEEN 21 AND 45"),
    Contest("PUMS-H", 5.0, "SUM(income)", f"{_HOMES} city = 'largest' AND race = 'W'"),
    Contest("PUMS-H", 5.0, "AVG(age)", f"{_HOMES} city = 'largest'"),
)


def contested(
    contests: tuple[Contest, ...] = CONTESTS,
    people: int = 200_000,
    ways: tuple[str, ...] = ("ADD", "RDC", MORE),
    *,
    seed: int = 1,
) -> list[Ratio]:
    """Return how our default does beside every published way.

    Each is computed from one collection of the same people.
    """
    ratios: list[Ratio] = []
    settings = dict.fromkeys((contest.population, contest.epsilon) for contest in contests)
    for name, epsilon in settings:
        population = POPULATIONS[name](people)
        ours = population.collected(epsilon, seed=seed)
        theirs = {
            way: population.collected(epsilon, seed=seed, method=way, published=True)
            for way in PUBLISHED
        }
        for contest in contests:
            if (contest.population, contest.epsilon) == (name, epsilon):
                truth = population.truth(contest.text())[0]
                published = {
                    f"{method.upper()}, {way}": answered(
                        database, contest, truth, f"WITH (METHOD = {way})"
                    ).variance
                    for method, database in theirs.items()
                    for way in ways
                }
                ratios.append(Ratio(contest, truth[-1], answered(ours, contest, truth), published))
    return ratios


def answered(
    database: Database, contest: Contest, truth: tuple[float, ...], options: str = ""
) -> Figure:
    """Return an answer with the variance that its own reports tell.

    Both are around the true average where an average is asked for.

    The variances of a sum, a count and their ratio tell their covariance.
    """
    result = database.sql(contest.text(options))
    assert isinstance(result, Result)
    if not contest.wanted.startswith("AVG"):
        return result.figure
    total, people, mean = result.figures[0]
    tilt = total.variance + mean.value**2 * people.variance - mean.variance * people.value**2
    covariance = tilt / (2 * mean.value)
    size, true = truth[1:]
    variance = (total.variance - 2 * true * covariance + true**2 * people.variance) / size**2
    return Figure(true + (total.value - true * people.value) / size, variance)


def contributions(database: Database, text: str) -> Floats:
    """Return (people, totals): what everybody's reports add to each total, without any engine."""
    source = Source(database.layout, database.collected)
    plan = plan_query(read(text, database.layout.tables), source)
    scores: dict[int, Floats] = {}
    batches = database.collected.batches  # type: ignore[attr-defined]
    for factor, scoring in plan.scorings.items():
        scores[factor] = np.zeros((database.users, len(scoring.columns)))
        slots = {slot.number for slot in scoring.factor.slots}
        for address, batch in batches.items():
            if address.slot in slots:
                scored = scoring(address.slot, address.member, batch.reports)
                np.add.at(scores[factor], batch.subjects, scored)
    added = np.zeros((database.users, len(plan.totals)))
    for index, total in enumerate(plan.totals):
        for product in total.products:
            parts = [scores[factor][:, column] for factor, column in product.scores]
            added[:, index] += product.weight * np.prod(parts, axis=0)
    return added


def page(people: int = 300_000, contests: tuple[Contest, ...] = CONTESTS) -> str:
    """Return the gains in some contests as a page."""
    lines = [_HEAD.format(people=people)]
    for ratio in contested(contests, people):
        contest = ratio.contest
        best = ratio.best()
        query = f"`{contest.wanted} {contest.rest}`"
        errors = f"{ratio.ours.error:,.4g} | {ratio.published[best] ** 0.5:,.4g} | {best}"
        gains = f"{ratio.gain():.2f} | {ratio.gain(largest=True):.2f}"
        lines.append(
            f"| {contest.population} | {contest.epsilon:g} | {query} | {errors} | {gains} |"
        )
    return "\n".join([*lines, ""])


def _clamped(numbers: Floats, size: int) -> Ints:
    return np.asarray(np.clip(np.rint(numbers), 1, size), np.int64)


def _labelled(indices: Ints, labels: tuple[str, ...]) -> Any:
    return np.array(labels)[indices]


_HEAD = """# Questions in SQL

Printed by `python -m sottovoce.lab.experiments.tables`.
{people:,} invented people are asked once in our way, and once in each
published way: HIO, AHIO and EHIO with local hashing, the nodes of their ranges added up (ADD), or
2^c decompositions of c ranges combined (RDC).  HIO over lists is not published; it stands here
because it counts better than what is.  Standard errors are what the reports of each collection
tell.  The gain is the ratio of the squared errors: how many times as many people the best published
way needs, as published and with 16 decompositions.

| people | epsilon | question | our error | published | by | gain | against 16 |
|---|---:|---|---:|---:|---|---:|---:|"""

if __name__ == "__main__":
    print(page(), end="")
