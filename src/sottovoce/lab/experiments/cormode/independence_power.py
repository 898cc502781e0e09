"""How often a test of independence rejects, over thousands of collections drawn from their law.

People are drawn from a population, so all reports are independent: how many people are asked about
what, and how many of them report what, are multinomial.  Exact for Hadamard coefficients and for
views by GRR.

Source: Cormode 2018, section 6.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.arrays import Floats
from sottovoce.core.settings import choice
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.baselines.marginals.hadamard_spectrum import HadamardSpectrum
from sottovoce.lab.baselines.parities import Parities
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.independence import dependence
from sottovoce.plans.marginals.marginal_table import (
    MarginalTable,
    Model,
    View,
    project,
    shape_of,
    table_of_estimate,
)
from sottovoce.plans.marginals.reported_views import ReportedViews

LEVEL = 0.05
METHODS = ("inp_ht", "marg_ps", "calm")


@dataclass(frozen=True)
class RejectionRates:
    """How often independence was rejected, by the test that knows the noise and by Pearson's."""

    aware: float
    naive: float


@dataclass(frozen=True)
class DrawnCollection:
    """How a population is asked: the method, how many people, and with which epsilon.

    Everybody is asked about one of the views; about one of all pairs if none are named.
    """

    method: str
    users: int
    epsilon: float
    views: tuple[View, ...] = ()

    def __post_init__(self) -> None:
        choice("method", self.method, METHODS)

    def draw(self, joint: Floats, generator: np.random.Generator) -> Model:
        """Return what a collection says about people drawn from a population."""
        if self.method == "inp_ht":
            return self._spectrum(joint, generator)
        reported = self._reported(joint, generator)
        return reported if self.method == "marg_ps" else Calm(reported, joint.shape)

    def _spectrum(self, joint: Floats, generator: np.random.Generator) -> HadamardSpectrum:
        mechanism = GRR(self.epsilon, 2)
        family = Parities(mechanism, joint.shape, 2)
        grid = np.indices(joint.shape).reshape(joint.ndim, -1)
        bits = sum(
            np.bitwise_count(family.masks[:, [attribute]] & grid[attribute])
            for attribute in range(joint.ndim)
        )
        odd = (bits % 2) @ joint.ravel()
        times = generator.multinomial(self.users, np.full(len(family), 1 / len(family)))
        chances = mechanism.q + (mechanism.p - mechanism.q) * odd
        return HadamardSpectrum(family, times, generator.binomial(times, chances))

    def _reported(self, joint: Floats, generator: np.random.Generator) -> ReportedViews:
        everything = tuple(range(joint.ndim))
        views = self.views or tuple(combinations(everything, 2))
        groups = generator.multinomial(self.users, np.full(len(views), 1 / len(views))).tolist()
        tables: dict[View, MarginalTable] = {}
        for view, group in zip(views, groups, strict=True):
            mechanism = GRR(self.epsilon, prod(shape_of(joint.shape, view)))
            shares = project(joint, everything, view).ravel()
            chances = mechanism.q + (mechanism.p - mechanism.q) * shares
            counts = generator.multinomial(group, chances)
            estimate = mechanism.estimate_counts(counts, group).of(self.users)
            tables[view] = table_of_estimate(view, joint.shape, estimate)
        return ReportedViews(tables, self.users)


def rejections(
    collection: DrawnCollection,
    joint: Floats,
    pairs: Sequence[View],
    runs: int,
    seed: int = 0,
) -> dict[View, RejectionRates]:
    """Return for pairs of attributes how often each was said to be dependent at 5 %."""
    generator = np.random.default_rng(seed)
    critical = optional("scipy.special", "server").chdtri
    counts = np.zeros((len(pairs), 2))
    for _ in range(runs):
        model = collection.draw(joint, generator)
        for row, pair in enumerate(pairs):
            test = dependence(model.table(pair), collection.users)
            naive = test.naive > critical(test.degrees, LEVEL)
            counts[row] += [test.rejects(LEVEL), naive]
    rates = (counts / runs).tolist()
    return {pair: RejectionRates(*row) for pair, row in zip(pairs, rates, strict=True)}


def power(
    collection: DrawnCollection, strengths: Sequence[float], runs: int, seed: int = 0
) -> Floats:
    """Return how often two fair bits are said to be dependent, for every strength of their tie."""
    rates = []
    for strength in strengths:
        by_pair = rejections(collection, copied_bits(strength), [(0, 1)], runs, seed)
        rates.append(by_pair[0, 1].aware)
    return np.array(rates)


def copied_bits(strength: float, attributes: int = 4) -> Floats:
    """Return a population of fair bits; the second copies the first with some probability."""
    pair = (1 - strength) / 4 + np.eye(2) * strength / 2
    others = np.full((2,) * (attributes - 2), 0.5 ** (attributes - 2))
    return np.asarray(np.multiply.outer(pair, others))
