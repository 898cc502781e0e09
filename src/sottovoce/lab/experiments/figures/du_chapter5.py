"""Du 2025, chapter 5: adaptive top k, on frequencies like those of the dissertation.

Captions of tables 5.2 and 5.3 are swapped in print; names here go by the data.  Mwheel is not
implemented; SVIM (PSFO in the tables) runs in the tests.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.lab.baselines.arbs import ItemPopulation, draw_rounds, estimated_frequencies
from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Curves,
    Experiment,
    FigureRow,
    Progress,
    Size,
    named,
    steps,
    values_of,
)
from sottovoce.lab.experiments.du_chapter5.misplacement import misplaced
from sottovoce.lab.experiments.du_chapter5.top_k import SCHEMES, USERS, TopKExperiment
from sottovoce.lab.populations.item_frequencies import BETA, KOSARAK, LINEAR, LINEAR45, WORDS
from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
from sottovoce.tasks.task import Task

PAPER = "Du 2025"
SOUGHT = 30
HIT, NCR, MSE = range(3)
DATA = {"linear": LINEAR, "beta": BETA, "linear 45": LINEAR45}
TABLE_5_2 = {  # hit rates at k = 30, epsilon 1, 2, 3
    ("linear", "arbs"): (0.68, 0.80, 0.82),
    ("linear", "arbsf"): (0.65, 0.79, 0.81),
    ("linear", "uniform"): (0.58, 0.76, 0.78),
    ("beta", "arbs"): (0.77, 0.87, 0.91),
    ("beta", "arbsf"): (0.73, 0.84, 0.91),
    ("beta", "uniform"): (0.71, 0.85, 0.89),
}
SYNTHETIC = {f"{data} {scheme}": (data, scheme) for data, scheme in TABLE_5_2}
EPSILONS = (1.0, 2.0, 3.0)
TABLE_5_3_KOSARAK = {  # hit rates at epsilon 2, k = 10 .. 50
    "arbs": (0.96, 0.84, 0.71, 0.60, 0.52),
    "arbsf": (0.98, 0.87, 0.79, 0.63, 0.56),
}

ITEMS_AND_USERS = {  # of the data sets of table 5.1
    "Linear": (100, 10_000),
    "Beta": (100, 10_000),
    "words, google": (26, 10_000),
    "words, MIT": (26, 10_000),
    "Gamma": (10_000, 100_000),
    "Laplace": (9_883, 100_000),
    "Retail": (2_602, 540_455),
    "Kosarak": (41_270, 990_002),
}


@cache
def synthetic_scores(data: str, scheme: str, epsilon: float, runs: int) -> Floats:
    """Return (runs, 3): hit rate, NCR and squared error at k = 30."""
    population = ItemPopulation(DATA[data], USERS, SOUGHT, epsilon)
    return TopKExperiment(scheme, population).scores(runs, 51)


class MeanScores(Curves):
    """What curves of the top k share: the mean of one score over so many runs."""

    paper = PAPER
    score: ClassVar[int]  # HIT, NCR or MSE
    runs: ClassVar[dict[str, int]]

    @abstractmethod
    def scores(self, scheme: Any, point: Any, runs: int) -> Floats:
        """Return (runs, 3): hit rate, NCR and squared error of a scheme at a point."""

    def number(self, scheme: Any, point: Any, size: Size) -> float:
        return float(self.scores(scheme, point, self.runs[size])[:, self.score].mean())


class HitRates(MeanScores):
    """The hit rates of the synthetic data: table 5.2."""

    name = "du-5-2-table"
    title = "Hit rate of the 30 most frequent of 100 items, 10,000 users"
    reproduces = ("du-table-5.2",)
    axes = Axes("epsilon", "hit rate")
    runs: ClassVar[dict[str, int]] = {"quick": 40, "full": 700}
    tolerance = 0.09
    score = HIT
    schemes = SYNTHETIC
    points = EPSILONS

    def scores(self, scheme: tuple[str, str], point: float, runs: int) -> Floats:
        return synthetic_scores(*scheme, point, runs)

    def printed(self, scheme: tuple[str, str], point: float, size: Size) -> float:
        return TABLE_5_2[scheme][EPSILONS.index(point)]


class TopKByEpsilon(MeanScores):
    """Figure 5.2: NCR and squared error over epsilon."""

    name = "du-5-2"
    title = "NCR of the top 30 by epsilon, synthetic data"
    reproduces = ("du-figure-5.2",)
    axes = Axes("epsilon", "NCR")
    runs = HitRates.runs
    score = NCR
    schemes = SYNTHETIC
    points = EPSILONS

    def scores(self, scheme: tuple[str, str], point: float, runs: int) -> Floats:
        return synthetic_scores(*scheme, point, runs)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        adaptive, uniform = values_of(rows, "linear arbs"), values_of(rows, "linear uniform")
        return [
            Claim(
                "a larger epsilon leads to a higher NCR",
                all(
                    values_of(rows, name) == sorted(values_of(rows, name)) for name in self.schemes
                ),
            ),
            Claim("adapting finds more than even sampling", sum(adaptive) > sum(uniform)),
        ]


class BySought(MeanScores):
    """Figure 5.3: the squared error over k."""

    name = "du-5-3"
    title = "Squared error of the top k, epsilon 2"
    reproduces = ("du-figure-5.3",)
    axes = Axes("k", "MSE", log_y=True)
    runs: ClassVar[dict[str, int]] = {"quick": 30, "full": 100}
    score = MSE
    schemes: ClassVar[dict[str, tuple[str, str]]] = {
        f"{data} {scheme}": (data, scheme) for data in ("linear", "beta") for scheme in SCHEMES
    }
    points = (10, 20, 30, 40, 50)

    def scores(self, scheme: tuple[str, str], point: int, runs: int) -> Floats:
        data, protocol = scheme
        population = ItemPopulation(DATA[data], USERS, point, 2.0)
        return TopKExperiment(protocol, population, 10).scores(runs, 54)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        errors = [values_of(rows, name) for name in self.schemes]
        return [Claim("the error falls from k = 10 to 50", all(e[-1] < e[0] for e in errors))]


class Sparsity(MeanScores):
    """Figure 5.4: NCR over the share of items that are taken away."""

    name = "du-5-4"
    title = "NCR by sparsity, Linear, k = 30, epsilon 2"
    reproduces = ("du-figure-5.4",)
    axes = Axes("share of items taken away", "NCR")
    runs: ClassVar[dict[str, int]] = {"quick": 30, "full": 60}
    score = NCR
    schemes = named(*SCHEMES)
    points = (0.2, 0.4, 0.6, 0.8, 0.9)

    def scores(self, scheme: str, point: float, runs: int) -> Floats:
        population = ItemPopulation((1 - point) * LINEAR, USERS, SOUGHT, 2.0)
        return TopKExperiment(scheme, population, 10).scores(runs, 55)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        drops = [values_of(rows, s)[0] - values_of(rows, s)[-1] for s in SCHEMES]
        return [Claim("sparse sets are harder", min(drops) > 0.25)]


class LargeDomain(MeanScores):
    """Table 5.3 and figure 5.6: a population like Kosarak, by k."""

    name = "du-5-3-table"
    title = "Hit rate of the top k of 41,270 items (stand-in for Kosarak), epsilon 2"
    reproduces = ("du-table-5.3", "du-figure-5.6")
    axes = Axes("k", "hit rate")
    tolerance = 0.16
    runs: ClassVar[dict[str, int]] = {"quick": 5, "full": 300}
    score = HIT
    schemes = named(*TABLE_5_3_KOSARAK)
    points = (10, 20, 30, 40, 50)

    def scores(self, scheme: str, point: int, runs: int) -> Floats:
        population = ItemPopulation(KOSARAK, 990_002, point, 2.0)
        return TopKExperiment(scheme, population, 5).pruned_scores(runs, 56)

    def printed(self, scheme: str, point: int, size: Size) -> float:
        return TABLE_5_3_KOSARAK[scheme][self.points.index(point)]

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = values_of(rows, "arbs")
        return [Claim("the hit rate falls with k", found == sorted(found, reverse=True))]


class Interactions(Curves):
    """Table 5.4: how often the collector asks, where at most R rounds adapt."""

    name = "du-5-4-table"
    title = "Numbers of interactions"
    paper = PAPER
    reproduces = ("du-table-5.4",)
    axes = Axes("data set", "interactions")
    difference = (
        "the even start is a round of its own here, so that there is one more for every data set"
    )
    schemes: ClassVar[dict[str, int]] = {"R = 5": 5, "R = 10": 10}
    points = tuple(ITEMS_AND_USERS)

    def number(self, scheme: int, point: str, size: Size) -> float:
        items, users = ITEMS_AND_USERS[point]
        sought = 3 if point.startswith("words") else SOUGHT
        task = Task("top", AdaptiveTopItems(range(items), users, sought, rounds=scheme), 1.0)
        limits = task.plan.later_rounds(task.opening)
        assert limits is not None
        return float(limits.count)

    def printed(self, scheme: int, point: str, size: Size) -> float:
        """Return R, and one more where items are pruned first."""
        return float(scheme + 1 if ITEMS_AND_USERS[point][1] > USERS else scheme)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        fewer, more = values_of(rows, "R = 5"), values_of(rows, "R = 10")
        return [
            Claim(
                "they grow with R and not with the users",
                all(b - a == 5 for a, b in zip(fewer, more, strict=True)),
            ),
            Claim("pruning takes one more", max(fewer) == min(fewer) + 1),
        ]


class LettersOfWords(MeanScores):
    """Figure 5.5: letters of words, over epsilon."""

    name = "du-5-5"
    title = "NCR of the 6 most frequent letters of words (stand-in), 10,000 users"
    reproduces = ("du-figure-5.5",)
    axes = Axes("epsilon", "NCR")
    runs: ClassVar[dict[str, int]] = {"quick": 60, "full": 300}
    score = NCR
    schemes = named(*SCHEMES)
    points = (0.5, 1.0, 2.0, 3.0)

    def scores(self, scheme: str, point: float, runs: int) -> Floats:
        population = ItemPopulation(WORDS, USERS, 6, point)
        return TopKExperiment(scheme, population, 10).scores(runs, 57)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = {scheme: values_of(rows, scheme) for scheme in SCHEMES}
        return [
            Claim("NCR grows with epsilon", all(e[-1] > e[0] for e in found.values())),
            Claim("adapting is ahead of even sampling", sum(found["arbs"]) > sum(found["uniform"])),
        ]


class Doubt(Curves):
    """Figure 5.7: Delta, the chance that any item stands on the wrong side, by rounds."""

    name = "du-5-7"
    title = "Doubt about the top 30, Linear 45, epsilon 3"
    paper = PAPER
    reproduces = ("du-figure-5.7",)
    axes = Axes("users", "Delta")
    runs: ClassVar[dict[str, int]] = {"quick": 40, "full": 150}
    schemes = named(*SCHEMES)
    points = (2_500, 5_000, 10_000, 20_000)

    def number(self, scheme: str, point: int, size: Size) -> float:
        dice = np.random.default_rng([60, point])
        found = []
        for _ in range(self.runs[size]):
            population = ItemPopulation(dice.permutation(LINEAR45), point, SOUGHT, 3.0)
            found.append(misplaced(TopKExperiment(scheme, population, 10).reports(dice)))
        return float(np.mean(found))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        last = {scheme: values_of(rows, scheme)[-1] for scheme in SCHEMES}
        return [
            Claim("adapting leaves less doubt than even sampling", last["arbs"] < last["uniform"]),
            Claim("ARBS leaves the least", last["arbs"] == min(last.values())),
        ]


class Rounds(MeanScores):
    """Figure 5.8: NCR over epsilon for 5 to 20 rounds."""

    name = "du-5-8"
    title = "NCR by the number of rounds, Linear 45"
    reproduces = ("du-figure-5.8",)
    axes = Axes("epsilon", "NCR")
    runs: ClassVar[dict[str, int]] = {"quick": 30, "full": 150}
    score = NCR
    schemes: ClassVar[dict[str, int]] = {f"{rounds} rounds": rounds for rounds in (5, 10, 15, 20)}
    points = EPSILONS

    def scores(self, scheme: int, point: float, runs: int) -> Floats:
        population = ItemPopulation(LINEAR45, USERS, SOUGHT, point)
        return TopKExperiment("arbs", population, scheme).scores(runs, 61)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        few, many = values_of(rows, "5 rounds"), values_of(rows, "20 rounds")
        return [
            Claim(
                "more rounds hardly matter for NCR from epsilon 2 on (0.05)",
                all(abs(a - b) < 0.05 for a, b in zip(few[1:], many[1:], strict=True)),
            )
        ]


class Questions(Experiment):
    """Figure 5.9: how many users are asked about each item."""

    name = "du-5-9"
    title = "Users asked about each item, Linear 45, k = 30, epsilon 3"
    paper = PAPER
    reproduces = ("du-figure-5.9",)
    axes = Axes("item, least frequent first", "users")
    runs: ClassVar[dict[str, int]] = {"quick": 10, "full": 40}

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for scheme in steps(SCHEMES, progress):
            dice = np.random.default_rng(64)
            population = ItemPopulation(LINEAR45, USERS, SOUGHT, 3.0)
            experiment = TopKExperiment(scheme, population, 10)
            times = [experiment.reports(dice).times for _ in range(self.runs[size])]
            profile = np.mean(times, axis=0)
            for start in range(0, 100, 5):
                mean = float(profile[start : start + 5].mean())
                rows.append(FigureRow(scheme, start + 3, mean))
        return rows

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        asked = {scheme: values_of(rows, scheme) for scheme in SCHEMES}
        peak = 5 * int(np.argmax(asked["arbs"])) + 3
        return [
            Claim("even sampling asks about all items alike", max(asked["uniform"]) < 120),
            Claim("ARBS peaks around the 70th item", 60 <= peak <= 80),
            Claim(
                "ARBSF rises from the 70th item on",
                float(np.mean(asked["arbsf"][15:])) > 1.3 * float(np.mean(asked["arbsf"][:12])),
            ),
        ]


class RoundSizes(Experiment):
    """Figure 5.10: how many users every round asks."""

    name = "du-5-10"
    title = "Users of each round, Linear 45, epsilon 3"
    paper = PAPER
    reproduces = ("du-figure-5.10",)
    axes = Axes("round", "users")

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for rounds in steps((5, 10, 20), progress):
            dice = np.random.default_rng(65)
            sizes = []
            for _ in range(20):
                population = ItemPopulation(dice.permutation(LINEAR45), USERS, SOUGHT, 3.0)
                sizes.append(draw_rounds(population, dice, rounds=rounds).sizes)
            for number, users in enumerate(np.mean(sizes, axis=0).tolist(), 1):
                rows.append(FigureRow(f"{rounds} rounds", number, users))
        return rows

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = [values_of(rows, f"{rounds} rounds") for rounds in (5, 10, 20)]
        return [Claim("rounds grow, the last is the largest", all(e[-1] == max(e) for e in found))]


class Convergence(Experiment):
    """Figure 5.11: estimated frequencies after the first and after the last round."""

    name = "du-5-11"
    title = "Absolute error of each item after the first and the last of 20 rounds"
    paper = PAPER
    reproduces = ("du-figure-5.11",)
    axes = Axes("item, least frequent first", "absolute error")

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        dice = np.random.default_rng(66)
        errors = []
        for _ in steps(range(20), progress):
            population = ItemPopulation(LINEAR45, USERS, SOUGHT, 3.0)
            states = draw_rounds(population, dice, rounds=20).states
            errors.append(
                [np.abs(estimated_frequencies(states[at], 3.0) - LINEAR45) for at in (0, -1)]
            )
        first, last = np.mean(errors, axis=0)
        return [
            FigureRow(name, start + 3, float(profile[start : start + 5].mean()))
            for name, profile in (("first round", first), ("last round", last))
            for start in range(0, 100, 5)
        ]

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        first, last = values_of(rows, "first round"), values_of(rows, "last round")
        return [Claim("estimates converge round by round", sum(last) < 0.7 * sum(first))]
