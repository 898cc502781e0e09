"""How well records are classified by what was learnt from noisy tables.

Four fifths of the records are asked; the others are classified.  The true table and the most common
label are the two lines to compare with.

Source: Wang 2021, section 6.3.4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.experiments.cormode.independence_power import DrawnCollection
from sottovoce.lab.experiments.wang_chapter6.classifiers import linear_machine, naive_bayes
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import estimated_table
from sottovoce.lab.populations.records import true_table
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.marginals.marginal_table import Model, View
from sottovoce.plans.marginals.view_selection import ViewSelection

SIZES = (2,) * 15
LABEL = 14
VIEW: View = (0, 1, 2, 3, 4, LABEL)  # the label and the attributes that it depends on


@dataclass(frozen=True)
class Split:
    """Records that are asked, and records that are classified."""

    asked: Ints
    apart: Ints

    @classmethod
    def of(cls, records: Ints, seed: int) -> "Split":
        """Return a random split with one fifth apart."""
        order = SeededRng(seed).generator.permutation(len(records))
        fifth = len(records) // 5
        return cls(records[order[fifth:]], records[order[:fifth]])

    def true_table(self, sizes: Sequence[int], view: View) -> Floats:
        """Return the true table of the records that were asked."""
        return true_table(self.asked, sizes, view)

    def majority(self, label: int) -> float:
        """Return the share of records that the most common label gets wrong."""
        common = np.bincount(self.asked[:, label]).argmax()
        return float((self.apart[:, label] != common).mean())

    def by_machine(self, shares: Floats, view: View, label: int, seed: int) -> float:
        """Return the error rate of a classifier that learns from records drawn from a table."""
        learnt = linear_machine(shares, view, label, len(self.asked), SeededRng(seed))
        return float((learnt.predict(self.apart) != self.apart[:, label]).mean())

    def by_bayes(self, model: Model, label: int, features: Sequence[int]) -> float:
        """Return the share that naive Bayes gets wrong."""
        learnt = naive_bayes(model, label, features)
        return float((learnt.predict(self.apart) != self.apart[:, label]).mean())


@dataclass(frozen=True)
class ClassificationSetting:
    """A population of applicants of whom four fifths are asked, and what a machine learns of it."""

    population: Callable[[int, int], Ints]
    power: int  # of two: the number of people
    epsilon: float

    @property
    def split(self) -> Split:
        """Return the records that are asked and those that are classified."""
        return _split(self.population, self.power)

    def planned_views(self) -> tuple[View, ...]:
        """Return the views that are planned for tables of six attributes."""
        asked = len(self.split.asked)
        return ViewSelection(asked, SIZES, self.epsilon, len(VIEW)).views()

    def majority(self) -> float:
        """Return the share of records that the most common label gets wrong."""
        return self.split.majority(LABEL)

    def without_noise(self) -> float:
        """Return the share that a machine gets wrong which learnt from the true table."""
        return self.split.by_machine(self.split.true_table(SIZES, VIEW), VIEW, LABEL, 1)

    def by_calm(self, runs: int, views: Sequence[View] = ()) -> float:
        """Return the mean share that a machine gets wrong which learnt from a table by CALM.

        Everybody reports one of the ``views``; those that are planned unless others are given.
        """
        split = self.split
        joint = split.true_table(SIZES, tuple(range(len(SIZES))))
        reported = tuple(views) or self.planned_views()
        collection = DrawnCollection("calm", len(split.asked), self.epsilon, reported)
        dice = np.random.default_rng(1)
        wrong = []
        for run in range(runs):
            table = estimated_table(collection.draw(joint, dice), VIEW)
            wrong.append(split.by_machine(table, VIEW, LABEL, run))
        return float(np.mean(wrong))


@cache
def _split(population: Callable[[int, int], Ints], power: int) -> Split:
    return Split.of(population(1 << power, 0), 0)
