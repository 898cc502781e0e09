"""How well records are classified by what was learnt from noisy tables.

Four fifths of the records are asked; the others are classified.  The true table and the most common
label are the two lines to compare with.

Source: Wang 2021, section 6.3.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.experiments.wang_chapter6.classifiers import linear_machine, naive_bayes
from sottovoce.lab.populations.records import true_table
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.marginals.marginal_table import Model, View


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
