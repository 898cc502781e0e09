"""Estimates: numbers that never travel without their variance.

An estimate holds the sums of votes of a group of users and the law of their noise; totals, shares,
intervals, sums of cells and tests of significance follow from the two.

Source: Wang 2021, equations 3.1 to 3.3.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.noise import Noise, held_sum
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.maths.normal import quantile, upper_quantile


@dataclass(frozen=True)
class Total:
    """One number with its variance."""

    total: float
    variance: float

    @property
    def error(self) -> float:
        """Return the standard error."""
        return sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the bounds of a normal interval."""
        reach = quantile(level) * self.error
        return self.total - reach, self.total + reach


@dataclass(frozen=True, eq=False)
class Estimate:
    """The sums of votes of a group of users, and what they say about a population.

    ``users`` reported; ``population`` is how many they stand for, a random part of it or the whole.
    Nothing is clipped: a total may be negative or exceed the population.  ``raw`` is the estimate before
    any step of post-processing changed it.  ``tested`` is how many candidates these were picked from, if not all
    are here.
    """

    votes: Floats
    noise: Noise
    users: int
    epsilon: float
    population: int = 0
    steps: tuple[str, ...] = ()
    raw: "Estimate | None" = None
    tested: int = 0

    def __post_init__(self) -> None:
        if self.users < 1:
            raise NoDataError("an estimate needs at least one report")
        object.__setattr__(self, "population", self.population or self.users)
        if self.population < self.users:
            raise ParameterError("a population cannot be smaller than the group that reported")

    def of(self, population: int) -> "Estimate":
        """Return the estimate for the population that this group was drawn from at random."""
        return replace(self, population=population, raw=self.raw and self.raw.of(population))

    def picked(self, places: Ints) -> "Estimate":
        """Return the estimate of some of the candidates, which remembers how many there were."""
        raw = self.raw and self.raw.picked(places)
        return replace(
            self,
            votes=self.votes[places],
            noise=self.noise.picked(places),
            tested=self.tested or len(self.votes),
            raw=raw,
        )

    @property
    def scale(self) -> float:
        """Return how many people each report stands for."""
        return self.population / self.users

    @property
    def totals(self) -> Floats:
        """Return the estimated number of people per value."""
        return self.votes * self.scale

    @property
    def frequencies(self) -> Floats:
        """Return the estimated share of people per value."""
        return self.votes / self.users

    @cached_property
    def variance(self) -> Floats:
        """Return the variance of the totals, the drawing of the group included."""
        shares = np.clip(self.frequencies, 0, 1)
        return self.scale**2 * self.noise.variances(self.votes, self.users) + self._drawing * shares * (1 - shares)

    @property
    def errors(self) -> Floats:
        """Return the standard errors of the totals."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Return bounds per value; simultaneous ones hold for all values together (Bonferroni)."""
        reach = quantile(level, tests=len(self.votes) if simultaneous else 1) * self.errors
        return self.totals - reach, self.totals + reach

    def sum(self, indices: Ints) -> Total:
        """Return the total of a set of values, with the covariance of its cells."""
        chosen = np.zeros(len(self.votes))
        chosen[indices] = 1.0
        return self.weighted(chosen)

    def weighted(self, coefficients: Floats) -> Total:
        """Return the total of any coefficients over the values."""
        total = self.noise.total(coefficients, self.votes, self.users)
        mean = total / self.users
        square = held_sum(coefficients**2, self.votes, self.users) / self.users
        noise = self.noise.linear(coefficients, self.votes, self.users)
        drawing = self._drawing * max(0.0, square - mean**2)
        return Total(total * self.scale, self.scale**2 * noise + drawing)

    def threshold(self, alpha: float = 0.05, tested: int = 0) -> float:
        """Return T_s: the raw total that a value nobody holds exceeds with probability alpha / tested."""
        return float(self._thresholds(alpha, tested).max())

    def significant(self, alpha: float = 0.05) -> Bools:
        """Return which values stand out of the noise, all tests taken together; only raw totals can be tested."""
        return (self.raw or self).totals >= self._thresholds(alpha)

    def _thresholds(self, alpha: float, tested: int = 0) -> Floats:
        """Return the threshold of every value: they differ where not all were asked about equally often."""
        if self.raw:
            return self.raw._thresholds(alpha, tested)
        nobody = self.noise.variances(np.zeros(len(self.votes)), self.users)
        return upper_quantile(alpha / (tested or self.tested or len(self.votes))) * self.scale * np.sqrt(nobody)

    @property
    def _drawing(self) -> float:
        # A count scaled up from N of n people drawn without replacement: n^2/N (n-N)/(n-1) f(1-f).
        group, everyone = self.users, self.population
        return everyone**2 / group * (everyone - group) / max(everyone - 1, 1)
