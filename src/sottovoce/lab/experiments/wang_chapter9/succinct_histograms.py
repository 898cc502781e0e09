"""Figure 9.4: the 32 most frequent texts, by TreeHist as published and by PEM through a shuffler.

TreeHist asks everybody on every level with a sixth of the central epsilon.  PEM asks everybody
once: a coin that the collector does not see deals the level, and the whole epsilon is spent there.
A report then hides among the reports of all levels, because the collector knows of no person which
level it was asked about.

Source: Wang 2021, section 9.6.3.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.targets import MAX_LOCAL, CentralTarget, local_for
from sottovoce.domains.bits import Bits
from sottovoce.errors import ParameterError
from sottovoce.lab.aggregate import draw_answer
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.tree_hist import TreeHist
from sottovoce.lab.populations.shuffle_surveys import SEARCHERS, LongValues, queries
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.question import Address
from sottovoce.tasks.task import Task

DELTA = 1e-9
TOP = 32
BITS = 48
RUNS = 5


def published_target(central: float) -> PublishedTarget:
    """Return the target of the figure."""
    return PublishedTarget(central, SEARCHERS, DELTA)


def tree_precision(
    method: str, central: float, runs: int = RUNS, exponent: float = 1.3
) -> float | None:
    """Return the mean share of the most frequent texts that TreeHist finds.

    None stands for a target that the method's own privacy claim does not cover.
    """
    tree = TreeHist(method)
    target = published_target(central)
    population = queries(exponent)
    try:
        tree.local_epsilon(target)
    except ParameterError:
        return None
    found = [tree.search(population, target, run) for run in range(runs)]
    return float(np.mean([precision(population, codes) for codes in found]))


def precision(population: LongValues, found: list[int]) -> float:
    """Return the share of the most frequent values that were found."""
    return len(set(population.most_frequent(TOP)) & set(found)) / TOP


@dataclass(frozen=True)
class ShuffledSearch:
    """PEM through a shuffler, for a central target and a cap on the local epsilon."""

    central: float
    max_local: float = MAX_LOCAL
    users: int = SEARCHERS

    @property
    def plan(self) -> HeavyHitters:
        """Return the search, as the product has it."""
        return HeavyHitters(Bits(BITS), TOP)

    def task(self, local: float) -> Task:
        """Return the task of a local epsilon."""
        return Task("shuffled search", self.plan, local)

    @property
    def local(self) -> float:
        """Return the largest local epsilon that meets the target and the cap."""
        target = CentralTarget(self.central, DELTA)
        batch = ShuffledBatch(self.users)
        return local_for(
            target, batch, lambda local: self.task(local).opening.ask.blanket, self.max_local
        )

    def level_variance(self, local: float) -> float:
        """Return the variance of the share of a candidate that nobody holds, on the last level."""
        opening = self.task(local).opening
        last = self.plan.groups - 1
        question = opening.question(Address(0, last))
        group = self.users * opening.ask.coin_share(last)
        return float(question.mechanism.pure().noise.variances(np.zeros(1), 1)[0]) / group

    def precision(self, runs: int = RUNS, exponent: float = 1.3) -> float:
        """Return the mean share of the most frequent texts that are found."""
        population = queries(exponent)
        task = self.task(self.local)
        holders = dict(zip(population.codes.tolist(), population.counts.tolist(), strict=True))
        sought = {task.plan.domain.label(code) for code in population.most_frequent(TOP)}
        shares = []
        for run in range(runs):
            answer = draw_answer(task, holders, run)
            found = {str(row["value"]) for row in answer.rows()}
            shares.append(len(sought & found) / TOP)
        return float(np.mean(shares))
