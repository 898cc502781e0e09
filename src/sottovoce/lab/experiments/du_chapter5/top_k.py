"""Adaptive top k: three schemes on drawn counts, and how well each finds the top.

Items come in a new random order in every run: equal rates are ranked by order, and that must not be
the true one.

Source: Du 2025, section 5.4.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.baselines.arbs import (
    ItemPopulation,
    draw_pruned,
    draw_rounds,
    draw_uniform,
    estimated_frequencies,
)
from sottovoce.lab.truth import metrics
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports

USERS = 10_000
SCHEMES = ("uniform", "arbs", "arbsf")


@dataclass(frozen=True, eq=False)
class TopKExperiment:
    """A scheme, the people it asks, and the number of its rounds."""

    scheme: str
    population: ItemPopulation
    rounds: int = 20

    def reports(self, generator: np.random.Generator) -> ItemReports:
        """Return all reports of one run."""
        if self.scheme == "uniform":
            return draw_uniform(self.population, generator)
        even = self.scheme == "arbsf"
        return draw_rounds(self.population, generator, rounds=self.rounds, even=even).last

    def scores(self, runs: int, seed: int) -> Floats:
        """Return (runs, 3): hit rate, NCR and squared error of so many runs."""
        generator = self._generator(seed)
        return np.array([self._shuffled(generator)._run(generator) for _ in range(runs)])

    def pruned_scores(self, runs: int, seed: int) -> Floats:
        """Return the same if half of the users first leave ten times as many items as sought."""
        generator = self._generator(seed)
        return np.array([self._shuffled(generator)._pruned_run(generator) for _ in range(runs)])

    def _generator(self, seed: int) -> np.random.Generator:
        return np.random.default_rng([seed, SCHEMES.index(self.scheme)])

    def _shuffled(self, generator: np.random.Generator) -> "TopKExperiment":
        frequencies = generator.permutation(self.population.frequencies)
        return replace(self, population=replace(self.population, frequencies=frequencies))

    def _run(self, generator: np.random.Generator) -> "TopKScores":
        reports = self.reports(generator)
        every = np.arange(len(self.population.frequencies))
        return score(self.population, reports, every)

    def _pruned_run(self, generator: np.random.Generator) -> "TopKScores":
        people = self.population
        half = people.users // 2
        kept = draw_pruned(people.frequencies, half, 10 * people.sought, people.epsilon, generator)
        left = replace(people, frequencies=people.frequencies[kept], users=people.users - half)
        reports = replace(self, population=left).reports(generator)
        return score(people, reports, kept)


class TopKScores(NamedTuple):
    """Hit rate, normalised cumulative rank, and the mean squared error over the true top."""

    hit_rate: float
    ncr: float
    error: float


def score(population: ItemPopulation, reports: ItemReports, items: Ints) -> TopKScores:
    """Return how well reports about some items find the top; items that are missed count as 0."""
    frequencies = population.frequencies
    top = np.argsort(-frequencies)[: population.sought].tolist()
    estimates = estimated_frequencies(reports, population.epsilon)
    chosen = {int(items[index]): estimates[index] for index in np.flatnonzero(reports.top)}
    truth = {item: frequencies[item] for item in top}
    ranked = list(chosen)
    error = metrics.top_error(truth, chosen)
    return TopKScores(metrics.f1(top, ranked), metrics.ncr(top, ranked), error)


def mean_and_error(values: Floats) -> tuple[Floats, Floats]:
    """Return means over the runs and their standard errors."""
    values = np.asarray(values)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
