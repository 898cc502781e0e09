"""Du 2025, chapter 4: correlated attributes, by the exact errors of the schemes.

The data are not at hand: TH, PM2.5, CMC and CLAVE stand for populations of the same size, number of
attributes and range of correlations.  The figures print no numbers.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sottovoce.lab.baselines.attribute_groups import Grouping, vote_variance
from sottovoce.lab.baselines.correlation_bounds import Ties
from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Curves,
    Experiment,
    FigureRow,
    Progress,
    Size,
    steps,
    values_of,
)
from sottovoce.lab.populations.correlated import (
    POPULATIONS,
    OneFactor,
    consecutive,
    even,
    random,
    sampling,
    split,
)

PAPER = "Du 2025"
EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)


def equal_ties(count: int, rate: float) -> Ties:
    """Return attributes of which each two agree equally often."""
    rates = [[1.0 if row == column else rate for column in range(count)] for row in range(count)]
    return Ties.of_agreements(rates)


def grouped(population: OneFactor, epsilon: float, size: int) -> Grouping:
    """Return the groups of CBPS: so many weakly tied attributes each."""
    return Grouping.greedy(population.ties, (2,) * population.attributes, epsilon, size)


def compared(population: OneFactor, epsilon: float, ties: Ties) -> dict[str, float]:
    """Return the exact mean squared error of CBP and of its rivals."""
    users = round(0.9 * population.users)
    count = population.attributes
    errors = {
        "CBP": vote_variance(2, ties.spent(epsilon)) / users,
        "Sampling": sampling(population.ties, epsilon, 1).total(users) / count,
    }
    for scheme in ("rr", "oue", "sue"):
        noise = split(scheme, epsilon, count).noise
        errors[scheme.upper()] = float(noise.variances(np.full(2, 0.5), 1)[1]) / users
    return errors


class Intervals(Curves):
    """Figure 4.3: CBP over epsilon and the rate of agreement."""

    name = "du-4-3"
    title = "Error of CBP, 7 attributes, 100,000 users"
    paper = PAPER
    reproduces = ("du-figure-4.3",)
    axes = Axes("epsilon", "MSE", log_y=True)
    schemes: ClassVar[dict[str, float]] = {
        f"agreement {rate}": rate for rate in (0.5, 0.6, 0.7, 0.8, 0.9)
    }
    points = EPSILONS

    def number(self, scheme: float, point: float, size: Size) -> float:
        return vote_variance(2, equal_ties(7, scheme).spent(point)) / 1e5

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        errors = np.array([values_of(rows, name) for name in self.schemes])
        return [
            Claim("errors fall with epsilon", bool((np.diff(errors, axis=1) < 0).all())),
            Claim("errors grow with correlation", bool((np.diff(errors, axis=0) > 0).all())),
        ]


class Methods(Experiment):
    """Figure 4.4: CBP against sampling and against schemes that split the budget."""

    name = "du-4-4"
    title = "Error of all schemes (stand-in for PM2.5)"
    paper = PAPER
    reproduces = ("du-figure-4.4",)
    axes = Axes("epsilon", "MSE", log_y=True)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        population = POPULATIONS["PM2.5"]
        rows = []
        for epsilon in steps(EPSILONS, progress):
            for name, error in compared(population, epsilon, population.ties).items():
                rows.append(FigureRow(name, epsilon, error))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        bounded = np.array(values_of(rows, "CBP"))
        alone = np.array(values_of(rows, "Sampling"))
        unary = np.minimum(values_of(rows, "OUE"), values_of(rows, "SUE"))
        return [
            Claim(
                "splitting the budget is far worse",
                bool((np.maximum(bounded, alone) <= unary / 2).all()),
            ),
            Claim("sampling wins at a small epsilon only", alone[0] < bounded[0]),
            Claim("CBP wins from epsilon 3 on", bool((bounded[3:] < alone[3:]).all())),
        ]


class SampledGroups(Experiment):
    """Figures 4.5 and 4.6: CBPS against sampling, by the number of attributes asked."""

    name = "du-4-5"
    title = "Error of CBPS and of sampling by attributes asked, epsilon 1"
    paper = PAPER
    reproduces = ("du-figure-4.5", "du-figure-4.6")
    axes = Axes("attributes asked of a user", "mean variance", log_y=True)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for name in steps(("PM2.5", "CLAVE"), progress):
            population = POPULATIONS[name]
            count, users = population.attributes, population.users
            for asked in range(1, count + 1):
                bounded = grouped(population, 1.0, asked).noise_total(users) / count
                halved = sampling(population.ties, 1.0, asked).noise_total(users) / count
                rows.append(FigureRow(f"CBPS {name}", asked, bounded))
                rows.append(FigureRow(f"Sampling {name}", asked, halved))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        bounded = values_of(rows, "CBPS PM2.5")
        weak = values_of(rows, "CBPS CLAVE")
        better = all(
            ours <= theirs * (1 + 1e-12)
            for name in ("PM2.5", "CLAVE")
            for ours, theirs in zip(
                values_of(rows, f"CBPS {name}"), values_of(rows, f"Sampling {name}"), strict=True
            )
        )
        return [
            Claim("CBPS errs no more than sampling", better),
            Claim("with strong ties two attributes are best", bounded[1] == min(bounded)),
            Claim("with weak ties all of them are best", weak[-1] == min(weak)),
        ]


class Allocation(Experiment):
    """Figure 4.7: the optimal allocation of users to groups against an even and a random one."""

    name = "du-4-7"
    title = "Error of user allocations over the optimal one, epsilon 1, groups of four"
    paper = PAPER
    reproduces = ("du-figure-4.7",)
    axes = Axes("population", "error over the optimal one")

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        dice = np.random.default_rng(8)
        rows = []
        for name in steps(("TH", "PM2.5", "CMC"), progress):
            population = POPULATIONS[name]
            count, users = population.attributes, population.users
            grouping = Grouping(population.ties, (2,) * count, 1.0, consecutive(count, 4))
            groups = len(grouping.groups)
            best = grouping.noise_total(users)
            uniform = grouping.noise_total(users, even(groups, users))
            chances = [grouping.noise_total(users, random(groups, users, dice)) for _ in range(200)]
            rows.append(FigureRow("optimal", name, 1.0))
            rows.append(FigureRow("uniform", name, uniform / best))
            rows.append(FigureRow("random (median)", name, float(np.median(chances)) / best))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(
                "the optimal allocation is best, the random one worst",
                all(
                    1 < uniform < chance
                    for uniform, chance in zip(
                        values_of(rows, "uniform"),
                        values_of(rows, "random (median)"),
                        strict=True,
                    )
                ),
            )
        ]
