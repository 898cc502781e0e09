"""Wang et al. 2020 and Wang 2021, chapter 8: post-processing of frequencies.

The emoji counts are not public; a power law of their size stands for them.
"""

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Experiment,
    FigureRow,
    Progress,
    Size,
    steps,
    values_of,
)
from sottovoce.lab.experiments.consistency.effective_users import effective_users
from sottovoce.lab.experiments.consistency.experiment import (
    EMOJI,
    METHODS,
    POST_POS,
    ZIPF,
    ConsistencyExperiment,
    flat_two_hundred,
    random_sets,
    selections,
)
from sottovoce.lab.populations.zipf import rounded_power_law
from sottovoce.postprocess.select import membership

PAPER = "Wang et al. 2020"
FAST = ("base", "base-pos", "base-cut", "norm", "norm-mul", "norm-cut", "norm-sub", "mle-apx")
RUNS = {"quick": 20, "full": 100}
RANKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@cache
def zipf_collections(epsilon: float, runs: int) -> ConsistencyExperiment:
    """Return collections from the Zipf population."""
    return ConsistencyExperiment(ZIPF, epsilon, runs, 21)


def methods_at(size: Size) -> tuple[str, ...]:
    """Return the methods that are run: those that fit a power law to every collection are slow."""
    return METHODS if size == "full" else (*FAST, "power-ns")


class ZipfExperiment(Experiment):
    """What the figures about the Zipf population share: one series for every method."""

    paper = PAPER

    def series(self, collected: ConsistencyExperiment, method: str) -> Floats:
        """Return a number for every value of the domain."""
        raise NotImplementedError

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        collected = zipf_collections(1.0, RUNS[size])
        rows = []
        for method in steps(methods_at(size), progress):
            numbers = self.series(collected, method)
            rows += [FigureRow(method, rank, float(numbers[rank - 1])) for rank in RANKS]
        return rows


class MeanEstimates(ZipfExperiment):
    """Figures 1 and 8.1: mean estimates beside the truth."""

    name = "wang-consistency-1"
    title = "Mean estimated counts, Zipf, epsilon 1"
    reproduces = ("consistency-figure-1", "wang-figure-8.1")
    axes = Axes("rank", "users", log_x=True, log_y=True)

    def series(self, collected: ConsistencyExperiment, method: str) -> Floats:
        return np.asarray(collected.processed(method).mean(axis=0) * collected.users)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = super().run(size, progress)
        return rows + [FigureRow("truth", rank, float(ZIPF[rank - 1])) for rank in RANKS]

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        truth = values_of(rows, "truth")
        first = {row.series: row.ours for row in rows if row.x == 1}
        return [
            Claim(
                "Base and Norm are close to the truth at the most frequent value (2 %)",
                all(abs(first[name] / truth[0] - 1) < 0.02 for name in ("base", "norm")),
            ),
            Claim(
                "Base-Pos lifts rare values above the truth",
                values_of(rows, "base-pos")[-1] > 2 * truth[-1],
            ),
        ]


class Biases(ZipfExperiment):
    """Figures 2 and 8.2: the bias of every method by rank."""

    name = "wang-consistency-2"
    title = "Bias in users, Zipf, epsilon 1"
    reproduces = ("consistency-figure-2", "wang-figure-8.2")
    axes = Axes("rank", "bias", log_x=True)

    def series(self, collected: ConsistencyExperiment, method: str) -> Floats:
        errors = collected.processed(method) - collected.shares
        return np.asarray(errors.mean(axis=0) * collected.users)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        shifts = values_of(rows, "norm-sub")
        return [
            Claim(
                "Norm-Sub takes from frequent values and gives to rare ones",
                shifts[0] < 0 < shifts[-1],
            ),
            Claim(
                "cutting methods lose values of middling rank",
                min(values_of(rows, "base-cut")) < -500,
            ),
        ]


class VariancesByRank(ZipfExperiment):
    """Figures 3 and 8.3: the variance of every method by rank, in millions."""

    name = "wang-consistency-3"
    title = "Variance / 10^6, Zipf, epsilon 1"
    reproduces = ("consistency-figure-3", "wang-figure-8.3")
    axes = Axes("rank", "variance / 10^6", log_x=True, log_y=True)

    def series(self, collected: ConsistencyExperiment, method: str) -> Floats:
        variances = collected.processed(method).var(axis=0, ddof=1)
        return np.asarray(variances * collected.users**2 / 1e6)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        raw = values_of(rows, "base")
        return [
            Claim(
                "the variance of Base is similar for all values (within a factor of 4)",
                max(raw) < 4 * min(raw),
            ),
            Claim(
                "Norm-Sub has a smaller variance on rare values than Base",
                values_of(rows, "norm-sub")[-1] < raw[-1],
            ),
        ]


class FullDomain(Experiment):
    """Figures 4 and 8.4: the error over the whole domain."""

    name = "wang-consistency-4"
    title = "Mean squared error of all shares, Zipf"
    paper = PAPER
    reproduces = ("consistency-figure-4", "wang-figure-8.4")
    axes = Axes("epsilon", "MSE", log_y=True)
    epsilons = (0.2, 0.6, 1.0, 2.0, 4.0)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for epsilon in steps(self.epsilons, progress):
            collected = zipf_collections(epsilon, RUNS[size])
            names = methods_at(size)
            rows += [FigureRow(method, epsilon, collected.full_error(method)) for method in names]
        return sorted(rows, key=lambda row: METHODS.index(row.series))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        raw = values_of(rows, "base")
        halves = np.array(values_of(rows, "base-pos")) / raw
        gains = np.array(raw) / values_of(rows, "norm-sub")
        return [
            Claim("Base-Pos errs half as much as Base", bool((np.abs(halves - 0.5) < 0.1).all())),
            Claim("Norm-Sub gains about tenfold up to epsilon 1", bool(gains[:3].min() > 6)),
            Claim("Norm-Mul is worse than Base", values_of(rows, "norm-mul")[2] > raw[2]),
        ]


class EffectiveUsers(Experiment):
    """Figures 5 and 8.5: the users that Base would need for the error of a method."""

    name = "wang-consistency-5"
    title = "Effective users, Zipf, epsilon 1"
    paper = PAPER
    reproduces = ("consistency-figure-5", "wang-figure-8.5")
    axes = Axes("users", "users that Base would need", log_y=True)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for users in steps((200_000, 600_000, 1_000_000, 2_000_000), progress):
            truth = rounded_power_law(1024, users, 1.5)
            collected = ConsistencyExperiment(truth, 1.0, RUNS[size], 5)
            for method in ("base", "base-pos", "norm", "norm-sub", "mle-apx"):
                error = collected.full_error(method)
                rows.append(FigureRow(method, users, effective_users(error, collected.noise, 1024)))
        return sorted(rows, key=lambda row: METHODS.index(row.series))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        def near(first: str, second: str, reach: float) -> bool:
            ratio = np.array(values_of(rows, first)) / values_of(rows, second)
            return bool((np.abs(ratio - 1) < reach).all())

        return [
            Claim("Base and Norm perform alike", near("base", "norm", 0.05)),
            Claim("Norm-Sub and MLE-Apx perform alike", near("norm-sub", "mle-apx", 0.1)),
        ]


class RandomSets(Experiment):
    """Figures 6, 7, 8.6 and 8.7: the error on random sets."""

    name = "wang-consistency-6"
    title = "Mean squared error of random sets, Zipf, epsilon 1"
    paper = PAPER
    reproduces = (
        "consistency-figure-6",
        "consistency-figure-7",
        "wang-figure-8.6",
        "wang-figure-8.7",
    )
    axes = Axes("percent of the domain", "MSE", log_x=True, log_y=True)
    difference = (
        "on this population Base-Cut beats Base only on sets up to about 15 % of the domain: see "
        "the page on post-processing"
    )

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        collected = zipf_collections(1.0, RUNS[size])
        rows = []
        percents = (1, 2, 5, 10, 20, 50, 80, 90)
        names = (*methods_at(size), POST_POS)
        for percent in steps(percents, progress):
            sets = random_sets(1024, percent, 50, percent)
            rows += [FigureRow(name, percent, collected.set_error(name, sets)) for name in names]
        return sorted(rows, key=lambda row: names.index(row.series))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        at = {(row.series, row.x): row.ours for row in rows}
        small, large = at["norm", 10], at["norm", 90]
        return [
            Claim(
                "methods that do not normalise are orders worse on large sets",
                at["base-pos", 90] > 50 * at["norm-sub", 90],
            ),
            Claim(
                "errors of normalised methods are symmetric around one half",
                0.5 < small / large < 2,
            ),
            Claim("Base-Cut beats Base on sets", at["base-cut", 50] < at["base", 50]),
        ]


class FixedSets(Experiment):
    """Figures 8 and 8.8: the error on 68 given sets."""

    name = "wang-consistency-8"
    title = "Mean squared error of 68 sets (stand-in for emoji categories)"
    paper = PAPER
    reproduces = ("consistency-figure-8", "wang-figure-8.8")
    axes = Axes("epsilon", "MSE", log_y=True)
    difference = "the emoji counts and their categories are not public; on the stand-in, see claims"

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        truth, sets = flat_two_hundred()
        members = membership(sets, len(truth))
        names = (*methods_at(size), POST_POS)
        rows = []
        for epsilon in steps((0.2, 0.6, 1.0, 2.0, 4.0), progress):
            collected = ConsistencyExperiment(truth, epsilon, RUNS[size], 8)
            rows += [FigureRow(name, epsilon, collected.set_error(name, members)) for name in names]
        return sorted(rows, key=lambda row: names.index(row.series))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        at = {(row.series, row.x): row.ours for row in rows}
        rivals = [name for name, epsilon in at if epsilon == 0.2 and name != POST_POS]
        return [
            Claim(
                "Post-Pos works best on these sets at a small epsilon",
                at[POST_POS, 0.2] <= min(at[name, 0.2] for name in rivals),
            )
        ]


class SyntheticSelection(Experiment):
    """Figures 9 and 8.9: synthetic data select a method."""

    name = "wang-consistency-9"
    title = "Error of each method over that of the best, and how often it is selected"
    paper = PAPER
    reproduces = ("consistency-figure-9", "wang-figure-8.9")
    axes = Axes("method", "error over the least", log_y=True)
    repetitions: ClassVar[dict[str, int]] = {"quick": 3, "full": 10}

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        chosen, errors = selections(1.0, self.repetitions[size], 14)
        progress(1.0)
        least = min(errors.values())
        rows = [FigureRow("error", name, error / least) for name, error in errors.items()]
        shares = [chosen.count(name) / len(chosen) for name in errors]
        return rows + [
            FigureRow("selected", name, share) for name, share in zip(errors, shares, strict=True)
        ]

    def draw(self, rows: Sequence[FigureRow], ax: object) -> None:
        super().draw(rows, ax)
        ax.tick_params(axis="x", rotation=60)  # type: ignore[attr-defined]

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        errors = {row.x: row.ours for row in rows if row.series == "error"}
        taken = [row.x for row in rows if row.series == "selected" and row.ours > 0.1]
        return [
            Claim(
                "what synthetic data select errs at most 1.5 times as much as the best",
                all(errors[name] <= 1.5 for name in taken),
            )
        ]


class FrequentValues(Experiment):
    """Figures 10 and 8.10: the error on the most frequent values."""

    name = "wang-consistency-10"
    title = "Mean squared error of the k most frequent values, Zipf, epsilon 1"
    paper = PAPER
    reproduces = ("consistency-figure-10", "wang-figure-8.10")
    axes = Axes("k", "MSE", log_y=True)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        collected = zipf_collections(1.0, RUNS[size])
        rows = []
        for method in steps(methods_at(size), progress):
            counts = (2, 4, 8, 16, 32)
            rows += [FigureRow(method, k, collected.frequent_error(method, k)) for k in counts]
        return rows

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        raw = np.array(values_of(rows, "base"))
        return [
            Claim(
                "Norm is as good as Base",
                bool((np.abs(np.array(values_of(rows, "norm")) / raw - 1) < 0.05).all()),
            ),
            Claim(
                "Norm-Mul is out of the question",
                min(values_of(rows, "norm-mul")) > 10 * raw.max(),
            ),
        ]


class Properties(Experiment):
    """Tables I and 8.1: which methods give shares that are not negative and that sum to one.

    Norm-Cut sums to one "almost", which is not compared.
    """

    name = "wang-consistency-table-1"
    title = "Shares that are not negative, and that sum to one (1: always)"
    paper = PAPER
    reproduces = ("consistency-table-1", "wang-table-8.1")
    axes = Axes("method", "share of collections")
    not_negative: ClassVar[dict[str, float]] = {
        "base-pos": 1.0,
        "base-cut": 1.0,
        "norm": 0.0,
        "norm-mul": 1.0,
        "norm-cut": 1.0,
        "norm-sub": 1.0,
        "mle-apx": 1.0,
        "power": 1.0,
        "power-ns": 1.0,
    }
    sums_to_one: ClassVar[dict[str, float]] = {
        "base-pos": 0.0,
        "base-cut": 0.0,
        "norm": 1.0,
        "norm-mul": 1.0,
        "norm-sub": 1.0,
        "mle-apx": 1.0,
        "power": 0.0,
        "power-ns": 1.0,
    }

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        collected = zipf_collections(1.0, 5)
        rows = []
        for method, printed in steps(list(self.not_negative.items()), progress):
            shares = collected.processed(method)
            positive = float((shares.min(axis=1) >= 0).mean())
            whole = float((np.abs(shares.sum(axis=1) - 1) < 1e-9).mean())
            rows.append(FigureRow("not negative", method, positive, printed))
            rows.append(FigureRow("sums to one", method, whole, self.sums_to_one.get(method)))
        return sorted(rows, key=lambda row: row.series)


class EmojiSized(Experiment):
    """Figures 4 and 8.4, lower row: a population of the size of the emoji counts."""

    name = "wang-consistency-4-emoji"
    title = "Mean squared error of all shares, power law of the size of Emoji"
    paper = PAPER
    reproduces = ("consistency-figure-4",)
    axes = Axes("epsilon", "MSE", log_y=True)
    difference = (
        "the emoji counts are not public; on a power law of their size Norm-Sub gains 20-fold and "
        "not a hundredfold"
    )

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for epsilon in steps((0.2, 1.0, 4.0), progress):
            collected = ConsistencyExperiment(EMOJI, epsilon, RUNS[size] // 2, 13)
            names = methods_at(size)
            rows += [FigureRow(method, epsilon, collected.full_error(method)) for method in names]
        return sorted(rows, key=lambda row: METHODS.index(row.series))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        gain = np.array(values_of(rows, "base")) / values_of(rows, "norm-sub")
        return [Claim("Norm-Sub lowers the error a hundredfold", bool(gain.max() > 100))]
