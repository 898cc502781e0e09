"""Every figure and table of the papers: what it shows, and what reproduces it here.

``figures.tsv`` lists them.  An item is reproduced by an experiment, which judges itself, or by a
test alone, or it says why neither is possible.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sottovoce.lab.experiments.base import (
    Experiment,
    FigureEvidence,
    FigureVerdict,
    experiments,
)
from sottovoce.lab.experiments.results import ExperimentResult

PAPERS = {
    "wang": "Wang 2021, Towards the Practical Usage of Local Differential Privacy",
    "cormode": "Cormode 2018, Marginal Release Under Local Differential Privacy",
    "consistency": "Wang et al. 2020, Frequency Estimation with Consistency",
    "du": "Du 2025, A Study on Local Differential Privacy under Adverse Circumstances",
    "xu": "Xu 2020, Collecting and Analyzing Data Jointly from Multiple Services",
}

_WEIGHTIEST = ("differs", "reproduced", "claims hold")  # of the verdicts of several experiments


@dataclass(frozen=True)
class Item:
    """A figure or table.  ``listed`` is its verdict where no experiment gives one."""

    key: str
    shows: str
    test: str
    listed: FigureVerdict | None

    @property
    def paper(self) -> str:
        """Return the key of the paper."""
        return self.key.partition("-")[0]

    @property
    def label(self) -> str:
        """Return the item as the paper calls it.

        >>> Item("wang-figure-3.1", "variances", "", None).label
        'Figure 3.1'
        """
        return self.key.partition("-")[2].replace("-", " ").capitalize()

    @property
    def is_measured(self) -> bool:
        """Return whether the paper shows numbers, and not a drawing or a list of notation."""
        return self.listed is None or not re.match(r"it is a ", self.listed.because)

    @property
    def experiments(self) -> list[Experiment]:
        """Return the experiments that reproduce it."""
        return [each for each in experiments().values() if self.key in each.reproduces]

    def verdict(self, results: Mapping[str, ExperimentResult]) -> FigureVerdict:
        """Return the verdict: the listed one, or that of its experiments together.

        It differs if one of them does, and is reproduced if one of them has published values.
        """
        if self.listed is not None:
            return self.listed
        verdicts = [results[each.name].verdict for each in self.experiments]
        return min(verdicts, key=lambda verdict: _WEIGHTIEST.index(verdict.word))

    def evidence(self, results: Mapping[str, ExperimentResult]) -> FigureEvidence:
        """Return what the verdicts of its experiments rest on."""
        found = (results[each.name].evidence for each in self.experiments)
        return sum(found, start=FigureEvidence())


@cache
def catalogue() -> tuple[Item, ...]:
    """Return all figures and tables, in the order of papers and numbers."""
    text = files("sottovoce.lab.experiments").joinpath("figures.tsv").read_text(encoding="utf-8")
    return tuple(_item(row) for row in csv.DictReader(text.splitlines(), delimiter="\t"))


def _item(row: Mapping[str, Any]) -> Item:
    listed = FigureVerdict(row["verdict"], row["because"]) if row["verdict"] else None
    return Item(row["item"], row["shows"], row["test"], listed)
