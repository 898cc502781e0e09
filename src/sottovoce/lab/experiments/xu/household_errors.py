"""Errors of questions about the people of a city: a table of households joined with their persons.

Every household reports where it is, and one of its up to ten persons.  The error of a count is
stated by the formula of section 6, and told by the reports of a collection.

Source: Xu 2020, sections 6 and 7.
"""

from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.lab.experiments.tables import Population, contributions, pums_h
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.database import Database
from sottovoce.plans.tables.result import Result

PERSONS = 7.56e6  # of the sample of Illinois
PEOPLE_IN_HOUSEHOLD = 3.7
ALL_HOUSEHOLDS = PERSONS / PEOPLE_IN_HOUSEHOLD
MOST = 10  # persons in a household
HOUSEHOLD_LAYERS = 4
PERSON_LAYERS = 128
# Ages from and to, and into how many nodes a range falls.
AGES = {(1, 20): 4, (21, 45): 5, (46, 70): 5, (71, 95): 5}


@dataclass(frozen=True)
class Condition:
    """Persons of the largest city of whom something holds, which is so many nodes of a column."""

    text: str
    inside: Bools
    nodes: int


@dataclass(frozen=True)
class Homes:
    """Households of one state, and the epsilon of their answers."""

    households: int
    epsilon: float = 5.0
    state: str = "IL"

    @property
    def population(self) -> Population:
        """Return the households and their persons."""
        return _population(self.households, self.state)

    @property
    def persons(self) -> dict[str, Any]:
        """Return the columns of the persons."""
        return dict(self.population.data["persons"])

    def collected(self, seed: int = 4) -> Database:
        """Return one collection by the published join."""
        return _collected(self, seed)

    def aged(self, low: int, high: int) -> Condition:
        """Return the condition on people of some ages, one of those listed in ``AGES``."""
        age = self.persons["age"]
        inside = (age >= low) & (age <= high)
        return Condition(f"age BETWEEN {low} AND {high}", inside, AGES[low, high])

    def of_race(self, race: str) -> Condition:
        """Return the condition on people of one race."""
        return Condition(f"race = '{race}'", self.persons["race"] == race, 1)

    def stated_squares(self, condition: Condition) -> float:
        """Return the expected sum of squares of what everybody adds to a count.

        Half of epsilon is spent on each table.  A household adds

            4 (s0 + (s1 - s0) c)  128 * 100 * (2 J s0 + (s1 - s0) m / 10)

        where s0 and s1 are second moments of a vote for a node that is not held and one that is, c
        is 1 in the city, J the number of nodes, and m how many of its persons are counted.
        """
        unheld, held = second_moments(self.epsilon / 2)
        data = self.population.data
        counted = np.bincount(data["persons"]["uid"], condition.inside, self.households) / MOST
        in_city = data["households"]["city"] == "largest"
        place = HOUSEHOLD_LAYERS * (unheld + (held - unheld) * in_city)
        person = 2 * condition.nodes * unheld + (held - unheld) * counted
        return float((place * PERSON_LAYERS * MOST**2 * person).sum())

    def stated_error(self, condition: Condition) -> float:
        """Return the standard error that the formula gives for all households of Illinois."""
        return sqrt(self.stated_squares(condition) * ALL_HOUSEHOLDS / self.households)

    def told_squares(self, condition: Condition) -> Floats:
        """Return what the report of every household of a collection adds to a count, squared."""
        return contributions(self.collected(), _count(condition))[:, 0] ** 2

    def told_error(self, condition: Condition) -> float:
        """Return the standard error that the reports tell, for all households of Illinois."""
        squares = float(self.told_squares(condition).sum())
        return sqrt(squares * ALL_HOUSEHOLDS / self.households)

    def estimate(self, condition: Condition) -> float:
        """Return the count that one collection answers."""
        result = self.collected().sql(_count(condition))
        assert isinstance(result, Result)
        return result.figure.value

    def truth(self, condition: Condition) -> float:
        """Return the true count."""
        return float(self.population.truth(_count(condition))[0][0])


def second_moments(epsilon: float) -> tuple[float, float]:
    """Return the second moments of a vote by OLH for a node that is not held, and that is."""
    hashing = OLH(epsilon, 1000)
    gap = (hashing.p - hashing.q) ** 2
    return hashing.q * (1 - hashing.q) / gap, 1 + hashing.p * (1 - hashing.p) / gap


def _count(condition: Condition) -> str:
    joined = "households JOIN persons USING (uid)"
    return f"SELECT COUNT(*) FROM {joined} WHERE city = 'largest' AND {condition.text}"


@cache
def _population(households: int, state: str) -> Population:
    return pums_h(households, state)


@cache
def _collected(homes: Homes, seed: int) -> Database:
    return homes.population.collected(homes.epsilon, seed=seed, method="ahio", published=True)
