"""Standard errors of average hours of work, over invented people in the shape of a census.

They are those that the reports of one collection tell, around the true average, and scaled to the
three million people of the published table.  Rounding coins are spread over all columns, as there.

Source: Xu 2020, section 7.2, table 2.
"""

from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np

from sottovoce.lab.baselines.tables.layouts import LAYOUTS
from sottovoce.lab.experiments.tables import MARRIED, SINGLE, Population, contributions, pums_p
from sottovoce.plans.tables.database import Database

CENSUS = 3e6
QUESTIONS = {
    "Q1": f"marst = '{MARRIED}'",
    "Q2": f"marst = '{MARRIED}' AND age BETWEEN 31 AND 70",
    "Q3": f"marst = '{SINGLE}' AND age BETWEEN 31 AND 50",
}


@dataclass(frozen=True)
class PublishedWay:
    """A published way: how people are asked, and how the nodes of a range are combined."""

    method: str
    combined: str = "ADD"


WAYS = {
    "HIO": PublishedWay("hio"),
    "AHIO": PublishedWay("ahio"),
    "EHIO": PublishedWay("ehio"),
    "AHIO-RDC": PublishedWay("ahio", "RDC"),
}


@dataclass(frozen=True)
class AverageError:
    """A standard error, and how far it may lie from its expectation: one relative sigma."""

    error: float
    relative: float


@dataclass(frozen=True)
class Census:
    """A sample of invented people who answer with epsilon."""

    people: int
    epsilon: float

    def average_error(self, way: PublishedWay, question: str) -> AverageError:
        """Return the standard error of an average by one way."""
        condition = QUESTIONS[question]
        population = _population(self.people)
        asked = f"SELECT SUM(hours), COUNT(*) FROM persons WHERE {condition}"
        total, count = population.truth(asked)[0]
        added = contributions(self._collected(way), f"{asked} WITH (METHOD = {way.combined})")
        # The error of S / C around its true value m, to first order: (dS - m dC) / C.
        off = added @ np.array([1, -total / count]) / count
        squares = float((off**2).sum())
        relative = sqrt((off**4).sum()) / (2 * squares)
        return AverageError(sqrt(squares * self.people / CENSUS), relative)

    def _collected(self, way: PublishedWay) -> Database:
        return _collection(self, way.method)


@cache
def _population(people: int) -> Population:
    return pums_p(people)


@cache
def _collection(census: Census, method: str) -> Database:
    partition = {} if LAYOUTS[method].rounding == "none" else {"partition": "all"}
    return _population(census.people).collected(
        census.epsilon, seed=1, method=method, published=True, **partition
    )
