"""Du 2025, chapter 6: distributions of numbers while some reports are poisoned.

The published data (taxi, income and others) are replaced by Beta laws and a flat one; the figures
print no numbers.  Divergences are Jensen-Shannon, in nats.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np

from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Curves,
    Experiment,
    FigureRow,
    Progress,
    Size,
    is_below,
    named,
    steps,
    values_of,
)
from sottovoce.lab.experiments.byzantine_numbers import (
    DECODERS,
    Setting,
    category_errors,
    decoded,
    divergences,
    drawn,
    found_share,
)
from sottovoce.lab.populations.numbers import SHAPES
from sottovoce.plans.numbers.graded_groups import PROBE

PAPER = "Du 2025"
Settings = dict[float | str, Setting]
SIZES = {"quick": (40_000, 64, 2), "full": (60_000, 128, 4)}  # users, buckets, seeds


@cache
def measured(size: Size, setting: Setting) -> dict[str, float]:
    """Return the divergence of every decoder, at the size of the experiment."""
    users, buckets, seeds = SIZES[size]
    return divergences(replace(setting, users=users, buckets=buckets), seeds)


class Divergences(Experiment):
    """What the figures about divergences share: a curve for every decoder."""

    paper = PAPER
    settings: ClassVar[Settings]

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for place, setting in steps(list(self.settings.items()), progress):
            found = measured(size, setting)
            rows += [FigureRow(decoder, place, found[decoder]) for decoder in DECODERS]
        return sorted(rows, key=lambda row: DECODERS.index(row.series))

    def filter_wins(self, rows: Sequence[FigureRow]) -> bool:
        """Return whether the filter is better than no defence everywhere."""
        return is_below(rows, "de-remf*", ("ostrich",))


class Populations(Experiment):
    """Figure 6.4: the populations."""

    name = "du-6-4"
    title = "Normalised frequencies of the populations"
    paper = PAPER
    reproduces = ("du-figure-6.4",)
    axes = Axes("value", "frequency")
    difference = "the published data are not at hand: these are the laws that stand for them"
    is_partial = True

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for name in steps(list(SHAPES), progress):
            drawn = SHAPES[name](np.random.default_rng(0), 200_000)
            counts, _ = np.histogram(drawn, bins=32, range=(0, 1))
            for place, count in enumerate(counts.tolist()):
                rows.append(FigureRow(name, (place + 0.5) / 32, count / 200_000))
        return rows


class FoundShares(Curves):
    """Figure 6.5: the share of false reports that the filter finds."""

    name = "du-6-5"
    title = "Share of false reports found, a quarter is false, epsilon 1/16"
    paper = PAPER
    reproduces = ("du-figure-6.5",)
    axes = Axes("poisoned segments of 8", "share found")
    tolerance = 0.2
    seeds: ClassVar[dict[str, int]] = {"quick": 1, "full": 4}
    schemes = named("found")
    points = (1, 2, 3)

    def number(self, scheme: str, point: int, size: Size) -> float:
        setting = Setting(epsilon=PROBE, poisoned=point)
        return float(np.mean([found_share(setting, seed) for seed in range(self.seeds[size])]))

    def printed(self, scheme: str, point: int, size: Size) -> float:
        return 0.25


class DivergencesByEpsilon(Divergences):
    """Figures 6.6 to 6.10 have panels for populations and patterns; this is one of them."""

    name = "du-6-6"
    title = "Divergence by epsilon, Beta(2, 5), two of eight segments poisoned"
    reproduces = tuple(f"du-figure-6.{number}" for number in (6, 7, 8, 9, 10))
    axes = Axes("epsilon", "Jensen-Shannon divergence", log_y=True)
    settings: ClassVar[Settings] = {
        epsilon: Setting(epsilon=epsilon) for epsilon in (0.25, 0.5, 1.5, 2.0, 2.5)
    }

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        filtered, none = values_of(rows, "de-remf*"), values_of(rows, "ostrich")
        halves = values_of(rows, "me-emf")
        return [
            Claim(
                "from epsilon 1.5 on the filter is far better than no defence (0.4)",
                all(a < 0.4 * b for a, b in zip(filtered[2:], none[2:], strict=True)),
            ),
            Claim(
                "and than the earlier filter, which knows one side only",
                all(a < b for a, b in zip(filtered[2:], halves[2:], strict=True)),
            ),
        ]


class PoisonedMeans(Experiment):
    """Figure 6.11: the squared error of the mean, read off the distribution."""

    name = "du-6-11"
    title = "Squared error of the mean by epsilon, Beta(2, 5), one of eight segments poisoned"
    paper = PAPER
    reproduces = ("du-figure-6.11",)
    axes = Axes("epsilon", "squared error of the mean", log_y=True)
    seeds: ClassVar[dict[str, int]] = {"quick": 2, "full": 10}

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        users, buckets, _ = SIZES[size]
        middles = (np.arange(buckets) + 0.5) / buckets
        rows = []
        for epsilon in steps((0.5, 1.5, 2.5), progress):
            setting = Setting(epsilon=epsilon, poisoned=1, users=users, buckets=buckets)
            drawings = [drawn(setting, seed) for seed in range(self.seeds[size])]
            truths = np.stack([drawing.truth for drawing in drawings])
            for name, found in decoded(drawings).items():
                errors = ((found - truths) @ middles) ** 2
                rows.append(FigureRow(name, epsilon, float(errors.mean())))
        return sorted(rows, key=lambda row: DECODERS.index(row.series))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(f"in most cases {name.upper()} outperforms no defence", self._wins(rows, name))
            for name in ("de-remf*", "de-emf*")
        ]

    def _wins(self, rows: Sequence[FigureRow], decoder: str) -> bool:
        """Return whether a decoder errs less than no defence at most epsilons."""
        pairs = zip(values_of(rows, decoder), values_of(rows, "ostrich"), strict=True)
        wins = [filtered < none for filtered, none in pairs]
        return 2 * sum(wins) > len(wins)


class PoisonLaws(Divergences):
    """Figure 6.14: the divergence by the law of false reports within a segment."""

    name = "du-6-14"
    title = "Divergence by the law of false reports, two of eight segments, epsilon 2"
    reproduces = ("du-figure-6.14",)
    axes = Axes("law of false reports", "Jensen-Shannon divergence", log_y=True)
    settings: ClassVar[Settings] = {
        law: Setting(poison=law) for law in ("uniform", "gaussian", "beta16", "beta61")
    }

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [Claim("the filter outperforms no defence under every law", self.filter_wins(rows))]


class Shapes(Divergences):
    """Figure 6.12: the divergence by population."""

    name = "du-6-12"
    title = "Divergence by population, one of eight segments poisoned, epsilon 2"
    reproduces = ("du-figure-6.12",)
    axes = Axes("population", "Jensen-Shannon divergence", log_y=True)
    settings: ClassVar[Settings] = {shape: Setting(shape=shape, poisoned=1) for shape in SHAPES}

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [Claim("the filter is better on every population", self.filter_wins(rows))]


class Patterns(Divergences):
    """Figure 6.13: the divergence by the number of poisoned segments."""

    name = "du-6-13"
    title = "Divergence by poisoned segments of eight, epsilon 2"
    reproduces = ("du-figure-6.13",)
    axes = Axes("poisoned segments", "Jensen-Shannon divergence", log_y=True)
    settings: ClassVar[Settings] = {
        poisoned: Setting(poisoned=poisoned) for poisoned in (1, 2, 3, 4, 5)
    }

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [Claim("up to five of eight segments the filter wins", self.filter_wins(rows))]


class Shares(Divergences):
    """Figure 6.15: the divergence by the share of false reports."""

    name = "du-6-15"
    title = "Divergence by the share of false reports, epsilon 2"
    reproduces = ("du-figure-6.15",)
    axes = Axes("share of false reports", "Jensen-Shannon divergence", log_y=True)
    settings: ClassVar[Settings] = {
        share: Setting(share=share) for share in (0.05, 0.15, 0.25, 0.35, 0.45)
    }

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        filtered, none = values_of(rows, "de-remf*"), values_of(rows, "ostrich")
        return [
            Claim("the filter is stable whatever the share", max(filtered) - min(filtered) < 0.05),
            Claim("without a defence errors grow with the share", none == sorted(none)),
        ]


class Lies(Divergences):
    """Figure 6.16b: attackers who follow the protocol for a false number."""

    name = "du-6-16-lies"
    title = "Divergence where attackers lie about their number, epsilon 2"
    reproduces = ("du-figure-6.16",)
    axes = Axes("population", "Jensen-Shannon divergence", log_y=True)
    settings: ClassVar[Settings] = {shape: Setting(shape=shape, lie=True) for shape in SHAPES}

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        filtered, none = values_of(rows, "de-remf*"), values_of(rows, "ostrich")
        return [
            Claim(
                "such lies are less detectable: the filter is no better than no defence (15 %)",
                all(abs(a / b - 1) < 0.15 for a, b in zip(filtered, none, strict=True)),
            )
        ]


class PoisonedCategories(Experiment):
    """Figures 6.16c and 6.16d: the filter for 15 categories."""

    name = "du-6-16"
    title = "Squared error of 15 categories, one of them poisoned by a quarter of the reports"
    paper = PAPER
    reproduces = ("du-figure-6.16",)
    axes = Axes("epsilon", "MSE", log_y=True)
    seeds: ClassVar[dict[str, int]] = {"quick": 2, "full": 4}

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for epsilon in steps((0.25, 0.5, 1.0, 1.5, 2.0, 2.5), progress):
            runs = [category_errors((9,), epsilon, seed) for seed in range(self.seeds[size])]
            means = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
            rows += [FigureRow(name, epsilon, mean) for name, mean in means.items()]
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        filtered, none = values_of(rows, "de-remf*"), values_of(rows, "ostrich")
        return [
            Claim(
                "the filter is at least four times better than no defence",
                all(4 * a <= b for a, b in zip(filtered, none, strict=True)),
            )
        ]
