"""Intervals under attack: how often bounds that allow for false reports contain the truth.

Every attack of the laboratory meets every mechanism and plan that it applies to, at the share that
the bounds allow for.  The truth is that of the honest people, at the size of all who answered.

A number passes if its share is no more than 5 sigma below the level.  How little that says depends
on the number of intervals, so that the page prints beside every least share which coverage it
excludes: the lower end of an exact one-sided interval.

python -m sottovoce.lab.experiments.poisoned_intervals > docs/evidence/attack-intervals.md

``--runs`` sets how many collections a case has whose collections take long.  With 300 it takes some
hours of one core; with ``--kept FILE`` it goes on where it was interrupted.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.domains.bits import Bits
from sottovoce.errors import ConcernWarning
from sottovoce.lab.attacks.base import Attack
from sottovoce.lab.attacks.biased_numbers import BiasedNumbers
from sottovoce.lab.attacks.chosen_coins import ChosenCoins
from sottovoce.lab.attacks.evasive_gain import EvasiveGain
from sottovoce.lab.attacks.input_manipulation import InputManipulation
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.lab.attacks.maximal_loss import MaximalLoss
from sottovoce.lab.attacks.query_shift import QueryShift
from sottovoce.lab.attacks.random_reports import RandomReports
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.experiments.measured_once import MeasuredOnce
from sottovoce.lab.simulate import simulate
from sottovoce.maths import binomial
from sottovoce.maths.bisection import bisect
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.frequencies.survey import Survey
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
from sottovoce.plans.itemsets.itemsets import Itemsets
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.plans.numbers.distribution import Distribution
from sottovoce.plans.numbers.mean import Mean
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.table import Table
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task

PROGRAM = "python -m sottovoce.lab.experiments.poisoned_intervals"
LEVEL = 0.95
FAKES = 0.05
RUNS = 1_000  # of cases whose collections take milliseconds
COSTLY_RUNS = 300  # of those whose collections take longer
EXCLUDED = 1e-3  # the probability with which a case looks better than the coverage it excludes
LETTERS = tuple("abcdefgh")
HOLDERS = (450, 250, 150, 75, 40, 25, 10, 0)  # people who hold each letter
COUNTED = ("grr", "affine", "olh", "oue", "sue", "the", "subset", "hadamard", "blh", "rmp")
NUMERIC = ("duchi", "piecewise", "hybrid")


@dataclass(frozen=True)
class Bounded:
    """One number of an answer: its ordinary and its attacked bounds, and the truth."""

    name: str
    low: float
    high: float
    low_attacked: float | None
    high_attacked: float | None
    truth: float

    @property
    def covered(self) -> bool:
        """Return whether the ordinary interval contains the truth."""
        return self.low <= self.truth <= self.high

    @property
    def covered_attacked(self) -> bool:
        """Return whether the bounds contain the truth; without bounds nothing is claimed."""
        if self.low_attacked is None or self.high_attacked is None:
            return True
        return self.low_attacked <= self.truth <= self.high_attacked


@dataclass(frozen=True)
class AttackCase:
    """A task, what honest people hold, the attacks on it, and the numbers that are looked at.

    The command says how many runs a ``costly`` case has.
    """

    name: str
    task: Task
    values: Any
    attacks: Mapping[str, Attack]
    numbers: Callable[[Outcome], list[Bounded]]
    costly: bool = True


@dataclass
class NumberCoverage:
    """How often the intervals of one number contained the truth."""

    intervals: int = 0
    attacked: int = 0
    ordinary: int = 0
    unbounded: int = 0

    def add(self, number: Bounded) -> None:
        """Count the intervals of one run."""
        self.intervals += 1
        self.attacked += number.covered_attacked
        self.ordinary += number.covered
        self.unbounded += number.low_attacked is None

    @property
    def share_attacked(self) -> float:
        """Return the share of attacked intervals that contain the truth."""
        return self.attacked / self.intervals

    @property
    def excluded(self) -> float:
        """Return the coverage that so many hits exclude: with any less they were too unlikely."""

        def unlikely(coverage: float) -> bool:
            return binomial.at_least(self.attacked, self.intervals, coverage) < EXCLUDED

        return bisect(unlikely, 0.0, 1.0).low if self.attacked else 0.0

    @property
    def holds(self) -> bool:
        """Return whether the attacked intervals keep their level, less 5 sigma of their number."""
        fewest = LEVEL - 5 * sqrt(LEVEL * (1 - LEVEL) / self.intervals)
        return self.attacked >= fewest * self.intervals


@dataclass
class AttackCoverage:
    """How often intervals of one case under one attack contained the truth, by number.

    Searches do not find every number in every run.
    """

    case: str
    attack: str
    runs: int = 0
    numbers: dict[str, NumberCoverage] = field(default_factory=dict)

    def add(self, numbers: list[Bounded]) -> None:
        """Count the numbers of one run."""
        self.runs += 1
        for number in numbers:
            self.numbers.setdefault(number.name, NumberCoverage()).add(number)

    def total(self, count: str) -> int:
        """Return a count of all numbers together."""
        return sum(getattr(number, count) for number in self.numbers.values())

    @property
    def share_attacked(self) -> float:
        """Return the share of attacked intervals that contain the truth."""
        return self.total("attacked") / self.total("intervals")

    @property
    def share_ordinary(self) -> float:
        """Return the share of ordinary intervals that contain the truth."""
        return self.total("ordinary") / self.total("intervals")

    @property
    def lowest(self) -> tuple[str, NumberCoverage]:
        """Return the number whose attacked intervals contain the truth least often.

        Numbers that were found in less than a tenth of the runs are too few to say.
        """
        often = {
            name: number
            for name, number in self.numbers.items()
            if 10 * number.intervals >= self.runs
        }
        return min(often.items(), key=lambda item: item[1].share_attacked)

    @property
    def holds(self) -> bool:
        """Return whether the attacked intervals of every number keep their level."""
        return all(number.holds for number in self.numbers.values())

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "AttackCoverage":
        """Return the coverage that ``asdict`` wrote."""
        numbers = {name: NumberCoverage(**each) for name, each in content["numbers"].items()}
        return cls(content["case"], content["attack"], content["runs"], numbers)


def covered(case: AttackCase, attack: str, runs: int) -> AttackCoverage:
    """Return the coverage of a case under one of its attacks, over seeded collections."""
    coverage = AttackCoverage(case.name, attack)
    for seed in range(runs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConcernWarning)
            outcome = simulate(
                case.task, case.values, seed=seed, attack=case.attacks[attack], share=FAKES
            )
        coverage.add(case.numbers(outcome))
    return coverage


def cases() -> Iterator[AttackCase]:
    """Yield every case of the page."""
    yield from (histogram(kind) for kind in COUNTED)
    yield from (mean(kind) for kind in NUMERIC)
    yield distribution()
    yield graded("mean")
    yield graded("distribution")
    yield survey()
    yield marginals()
    yield heavy_hitters()
    yield top_items()
    yield itemsets()
    yield adaptive_items()
    yield table("count", "SELECT COUNT(*) FROM people WHERE age < 5")
    yield table("sum", "SELECT SUM(age) FROM people WHERE state = 'x'")
    yield table("mean", "SELECT AVG(age) FROM people WHERE state = 'x'")
    yield joined()


# --- frequencies ---------------------------------------------------------------------------------


def targeted(task: Task, targets: tuple[Any, ...], demoted: Any) -> dict[str, Attack]:
    """Return the attacks on the counts of some values."""
    domain = task.plan.domain
    return {
        "rpa": RandomReports(),
        "ima": InputManipulation(domain, targets),
        "spa": SupportTarget(domain, targets[:1]),
        "demote": SupportTarget(domain, (demoted,), against=True),
        "mga": MaximalGain(domain, targets, 100),
        "mga_a": EvasiveGain(domain, targets, min(2, len(targets)), 8),
        "mla": MaximalLoss(),
    }


def histogram(kind: str) -> AttackCase:
    """Return a histogram of eight letters by one mechanism."""
    task = Task("letters", Histogram(list(LETTERS), kind), 1.0)
    values = np.repeat(LETTERS, HOLDERS).tolist()
    shares = np.array(HOLDERS) / sum(HOLDERS)
    attacks = targeted(task, ("h", "g", "f"), "b")
    return AttackCase(
        f"histogram, `{kind}`",
        task,
        values,
        attacks,
        _rows_of(dict(zip(LETTERS, shares, strict=True))),
        costly=False,
    )


def survey() -> AttackCase:
    """Return a survey of four questions, one of which all attackers choose."""
    domain = {name: list(LETTERS) for name in ("p", "q", "r", "s")}
    task = Task("survey", Survey(domain), 2.0)
    values = dict.fromkeys(domain, np.repeat(LETTERS, HOLDERS).tolist())
    shares = dict(zip(LETTERS, np.array(HOLDERS) / sum(HOLDERS), strict=True))
    spa = SupportTarget(task.plan.domain, (dict.fromkeys(domain, "h"),))
    attacks: dict[str, Attack] = {
        "rpa": RandomReports(),
        "spa": spa,
        "mga": MaximalGain(task.plan.domain, (dict.fromkeys(domain, "h"),), 100),
        "coins": ChosenCoins(spa, (2,)),
    }
    rows = _rows_of(shares)
    return AttackCase(
        "survey",
        task,
        values,
        attacks,
        lambda outcome: rows(outcome.questions()["r"]),
    )


def marginals() -> AttackCase:
    """Return the joint tables of four attributes, of which the view of two is looked at."""
    names = "abcd"
    people = 2000
    values = {
        name: np.where(np.arange(people) % (index + 2) == 0, "x", "y").tolist()
        for index, name in enumerate(names)
    }
    task = Task("tables", Marginals({name: ["x", "y"] for name in names}, users=people), 2.0)
    target = dict.fromkeys(names, "x")
    spa = SupportTarget(task.plan.domain, (target,))
    attacks: dict[str, Attack] = {
        "rpa": RandomReports(),
        "ima": InputManipulation(task.plan.domain, (target,)),
        "spa": spa,
        "mga": MaximalGain(task.plan.domain, (target,), 100),
        "mla": MaximalLoss(),
        "coins": ChosenCoins(spa, (0,)),
    }
    pairs = [f"{first} & {second}" for first in ("x", "y") for second in ("x", "y")]
    held = [f"{first} & {second}" for first, second in zip(values["a"], values["b"], strict=True)]
    shares = {pair: held.count(pair) / people for pair in pairs}
    rows = _rows_of(shares)
    return AttackCase(
        "marginals",
        task,
        values,
        attacks,
        lambda outcome: rows(outcome.select(("a", "b"))),
    )


def _rows_of(shares: Mapping[str, float]) -> Callable[[Outcome], list[Bounded]]:
    """Return what reads the rows of an answer, given the true shares of its values."""

    def numbers(outcome: Outcome) -> list[Bounded]:
        answer: Any = outcome.at(LEVEL, fakes=FAKES)
        people = answer.estimate.population
        return [
            _bounded(row, shares[row["value"]] * people)
            for row in answer.rows()
            if row["value"] in shares
        ]

    return numbers


def _bounded(row: Mapping[str, Any], truth: float) -> Bounded:
    bounds = {part: row[part] for part in ("low", "high", "low_attacked", "high_attacked")}
    return Bounded(row["value"], **bounds, truth=float(truth))


# --- numbers -------------------------------------------------------------------------------------


def mean(kind: str) -> AttackCase:
    """Return the mean of a number by one mechanism."""
    task = Task("weight", Mean(0, 10, kind), 1.0)
    values = np.linspace(2, 4, 1000)
    numbers = _figures({"mean": 3.0})
    return AttackCase(f"mean, `{kind}`", task, values, _on_numbers(task), numbers, costly=False)


def distribution() -> AttackCase:
    """Return the distribution of a number: its mean, quartiles and intervals."""
    task = Task("weight", Distribution(0, 10, 64), 2.0)
    values = np.linspace(2, 6, 4000)
    true = {"mean": 4.0} | {f"{share} %": 2 + 0.04 * share for share in (5, 25, 50, 75, 95)}

    def numbers(outcome: Outcome) -> list[Bounded]:
        return _figures(true)(outcome.highlights())

    return AttackCase("distribution", task, values, _on_numbers(task), numbers)


def graded(asked: str) -> AttackCase:
    """Return the mean of a number in graded groups, asked for alone or with the distribution."""
    plan: Plan = Mean(0, 10, defence="graded", probe=1 / 8)
    if asked == "distribution":
        plan = Distribution(0, 10, 16, defence="graded", probe=1 / 8)
    task = Task("weight", plan, 1.0, collection=Collection(enrolment=True))
    values = np.linspace(2, 6, 2000)

    def numbers(outcome: Outcome) -> list[Bounded]:
        return _figures({"mean": 4.0})(outcome.highlights())

    return AttackCase(f"graded groups, {asked}", task, values, _on_numbers(task), numbers)


def _on_numbers(task: Task) -> dict[str, Attack]:
    domain = task.plan.domain
    return {
        "rpa": RandomReports(),
        "ima": InputManipulation(domain, (9.9,)),
        "spa": SupportTarget(domain, (9.9,)),
        "demote": SupportTarget(domain, (9.9,), against=True),
        "gba": BiasedNumbers(8, 2, chosen=(6, 7)),
        "mla": MaximalLoss(),
    }


def _figures(true: Mapping[str, float]) -> Callable[[Outcome], list[Bounded]]:
    """Return what reads the figures of an answer, given the true ones."""

    def numbers(outcome: Outcome) -> list[Bounded]:
        rows = outcome.at(LEVEL, fakes=FAKES).rows()
        return [_bounded(row, true[row["value"]]) for row in rows if row["value"] in true]

    return numbers


# --- searches ------------------------------------------------------------------------------------


def heavy_hitters() -> AttackCase:
    """Return a search among 2^16 values: the counts of two held and three planted ones."""
    plan = HeavyHitters(Bits(16), 6)
    task = Task("values", plan, 4.0)
    values = [7] * 2400 + [40_000] * 1600 + list(range(10_000, 12_000))
    domain = task.plan.domain
    planted = (60_000, 60_001, 33)
    shares = {domain.shown(7): 0.4, domain.shown(40_000): 1600 / 6000}
    shares |= dict.fromkeys(map(domain.shown, planted), 0.0)
    attacks = targeted(task, planted, 40_000)
    attacks["coins"] = ChosenCoins(SupportTarget(domain, (40_000,)), (plan.groups - 1,))
    attacks["mla"] = MaximalLoss(1)
    return AttackCase("heavy hitters", task, values, attacks, _rows_of(shares))


def _baskets(people: int) -> list[set[str]]:
    """Return sets of two letters, more often of the first ones; the last letter is in none."""
    random = np.random.default_rng(1)
    chances = np.array(HOLDERS) / sum(HOLDERS)
    firsts = random.choice(LETTERS, people, p=chances)
    seconds = random.choice(LETTERS, people, p=chances)
    return [{str(first), str(second)} for first, second in zip(firsts, seconds, strict=True)]


def _on_sets(task: Task, deciding_round: int) -> dict[str, Attack]:
    domain = task.plan.domain
    spa = SupportTarget(domain, ({"h"},))
    return {
        "rpa": RandomReports(),
        "ima": InputManipulation(domain, ({"h"}, {"g"})),
        "spa": spa,
        "mga": MaximalGain(domain, ({"h"}, {"g"}), 100),
        "coins": ChosenCoins(spa, round_number=deciding_round),
    }


def _on_sizes(task: Task, size_round: int) -> Attack:
    """Return the attack of people who all say that they have everything, in the round about sizes.

    It makes the padding as long as it gets.
    """
    everything = SupportTarget(task.plan.domain, (set(LETTERS),))
    return ChosenCoins(everything, round_number=size_round)


def _shares_of(baskets: list[set[str]], wanted: list[set[str]]) -> dict[str, float]:
    return {
        " + ".join(sorted(items)): sum(items <= basket for basket in baskets) / len(baskets)
        for items in wanted
    }


def top_items() -> AttackCase:
    """Return a search for items of sets."""
    baskets = _baskets(6000)
    plan = TopItems(list(LETTERS), 3)
    task = Task("items", plan, 3.0)
    shares = _shares_of(baskets, [{letter} for letter in LETTERS])
    rounds = len(plan.search.stages)
    attacks = _on_sets(task, rounds - 1)
    attacks["padding"] = _on_sizes(task, rounds - 2)
    return AttackCase("top items", task, baskets, attacks, _rows_of(shares))


def itemsets() -> AttackCase:
    """Return a search for sets of items: the single items and the pairs are looked at."""
    baskets = _baskets(6000)
    task = Task("sets", Itemsets(list(LETTERS), 5), 3.0)
    wanted = [{letter} for letter in LETTERS] + [set(pair) for pair in combinations(LETTERS, 2)]
    shares = _shares_of(baskets, wanted)
    attacks = _on_sets(task, 1)
    attacks["padding"] = _on_sizes(task, 0)
    return AttackCase("itemsets", task, baskets, attacks, _rows_of(shares))


def adaptive_items() -> AttackCase:
    """Return an adaptive search for items, counted by people who were held out."""
    baskets = _baskets(6000)
    plan = AdaptiveTopItems(list(LETTERS), 6000, 3, rounds=3, holdout=30)
    task = Task("adaptive", plan, 3.0)
    shares = _shares_of(baskets, [{letter} for letter in LETTERS])
    return AttackCase("adaptive items", task, baskets, _on_sets(task, 1), _rows_of(shares))


# --- SQL -----------------------------------------------------------------------------------------


def table(name: str, query: str) -> AttackCase:
    """Return a query to a table of two columns."""
    people = 2000
    ages = np.arange(people) % 16
    states = np.array(("x", "y", "z"))[np.arange(people) % 3]
    task = Task("people", Table({"age": range(16), "state": ["x", "y", "z"]}), 3.0)
    truths = {
        "count": float((ages < 5).mean()),
        "sum": float((ages * (states == "x")).mean()),
        "mean": float(ages[states == "x"].mean()),
    }
    values = {"age": ages, "state": states.tolist()}
    target = {"age": 15, "state": "x"} if name != "count" else {"age": 2, "state": "x"}
    numbers = _query(query, truths[name], scaled=name != "mean")
    return AttackCase(f"SQL {name}", task, values, _on_tables(task, target, query), numbers)


def joined() -> AttackCase:
    """Return a query to two tables, joined person by person."""
    people = 3000
    ages, amounts = np.arange(people) % 8, (np.arange(people) // 8) % 8
    task = Task(
        "shop",
        Joint(
            {
                "users": {"columns": {"age": range(8)}},
                "txn": {"columns": {"amount": range(8)}},
            }
        ),
        4.0,
    )
    query = "SELECT COUNT(*) FROM users JOIN txn USING (uid) WHERE age < 4 AND amount < 4"
    truth = float(((ages < 4) & (amounts < 4)).mean())
    uid = list(range(people))
    values = {
        "users": {"uid": uid, "age": ages.tolist()},
        "txn": {"uid": uid, "amount": amounts.tolist()},
    }
    target = {"users": {"age": 1}, "txn": {"amount": 1}}
    attacks = _on_tables(task, target, query)
    return AttackCase("SQL join", task, values, attacks, _query(query, truth, scaled=True))


def _on_tables(task: Task, target: Any, query: str) -> dict[str, Attack]:
    domain = task.plan.domain
    return {
        "rpa": RandomReports(),
        "ima": InputManipulation(domain, (target,)),
        "spa": SupportTarget(domain, (target,)),
        "mga": MaximalGain(domain, (target,), 100),
        "mla": MaximalLoss(),
        "query up": QueryShift(task, query, tries=100, chooses=True),
        "query down": QueryShift(task, query, against=True, tries=100, chooses=True),
        "query, dealt": QueryShift(task, query, tries=100),
    }


def _query(query: str, truth: float, *, scaled: bool) -> Callable[[Outcome], list[Bounded]]:
    """Return what asks a query, given the true number per person, or on its own scale."""

    def numbers(outcome: Outcome) -> list[Bounded]:
        database: Any = outcome
        result = database.sql(query).at(LEVEL, fakes=FAKES)
        (row,) = result.rows()
        name = result.names[0]
        parts = ("low", "high", "low_attacked", "high_attacked")
        bounds = {part: row[f"{name}_{part}"] for part in parts}
        return [Bounded(name, **bounds, truth=truth * result.users if scaled else truth)]

    return numbers


# --- the page ------------------------------------------------------------------------------------


def page(pieces: MeasuredOnce | None = None, runs: int = COSTLY_RUNS) -> str:
    """Return the page as Markdown; costly cases have so many ``runs``, others at least 1,000."""
    pieces = pieces or MeasuredOnce()
    rows = []
    for case in cases():
        case_runs = runs if case.costly else max(runs, RUNS)
        for attack in case.attacks:
            measure = partial(_measured, case, attack, case_runs)
            content = pieces.piece(f"{case.name}, {attack}, {case_runs} runs", measure)
            rows.append(AttackCoverage.from_dict(content))
    return written(rows)


def _measured(case: AttackCase, attack: str, runs: int) -> dict[str, Any]:
    return asdict(covered(case, attack, runs))


def written(rows: Sequence[AttackCoverage]) -> str:
    """Return coverages as a page."""
    lines = [_HEAD]
    for row in rows:
        intervals = row.total("intervals")
        attacked = f"{row.share_attacked:.3f}"
        if row.total("unbounded"):
            attacked += f" ({row.total('unbounded') / intervals:.0%} without a bound)"
        name, number = row.lowest
        verdict = "" if row.holds else " **below**"
        lines.append(
            f"| {row.case} | {row.attack} | {row.runs:,} | {intervals:,} | {attacked} |"
            f" {number.share_attacked:.3f} ({name}){verdict} | {number.excluded:.3f} |"
            f" {row.share_ordinary:.3f} |"
        )
    kept = sum(row.holds for row in rows)
    lines += ["", f"{kept} of {len(rows)} cases keep their level for every number.", ""]
    least = min((row.lowest[1] for row in rows), key=lambda number: number.excluded)
    lines += [_LEAST.format(least=least)]
    return "\n".join(lines) + "\n"


_HEAD = f"""# Intervals under attack

Printed by `{PROGRAM}`.
{100 * FAKES:g} % of all who answer are attackers, and the bounds allow for {100 * FAKES:g} %.
Shares of {100 * LEVEL:g} % intervals that contain the truth about the honest people: those that
allow for false reports, of all numbers and of the number with the lowest share, then the ordinary
ones.  A number keeps its level if its share is no more than 5 sigma below it, for its number of
intervals; with few intervals that says little, so that *excluded* is the coverage that the lowest
number does not have: with that much or less, so many hits would have a probability of at most
{EXCLUDED:g}.  The strongest attacks push a number to one end of its bounds, which then cover as a
one-sided interval of {100 * (1 + LEVEL) / 2:g} %.  Attacks are described in
[poisoning](../poisoning.md).

| case | attack | runs | intervals | allowing for them | lowest number | excluded | ordinary |
|---|---|---:|---:|---:|---:|---:|---:|"""
_LEAST = """The least coverage that any case excludes is {least.excluded:.3f}, from
{least.attacked} of {least.intervals} intervals."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page."""
    options = argparse.ArgumentParser(prog=PROGRAM)
    options.add_argument("--runs", type=int, default=COSTLY_RUNS, help="runs of a costly case")
    options.add_argument("--kept", type=Path, help="file of pieces that are measured already")
    chosen = options.parse_args(arguments)
    print(page(MeasuredOnce(chosen.kept), chosen.runs), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
