"""Estimates: numbers that never travel without their variance.

An estimate holds the sums of votes of a group of users and the noise law of these sums.  Totals,
shares, intervals, sums of cells and tests of significance follow from the two.  With n users who
stand for a population of N, votes V_v for a value v and variance Var[V_v] of the noise:

    total     T_v = V_v N / n
    share     f_v = V_v / n
    Var[T_v]      = (N / n)^2 Var[V_v] + N^2 (N - n) / (n (N - 1)) f_v (1 - f_v)

The last term is the drawing of n users out of N without replacement.

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
        """Return the bounds of a normal interval of this confidence level."""
        half_width = quantile(level) * self.error
        return self.total - half_width, self.total + half_width


@dataclass(frozen=True, eq=False)
class Estimate:
    """The sums of votes of a group of users, and what they say about a population.

    ``users`` reported.  They are the whole ``population``, or a random part of it.  Nothing is
    clipped: a total may be negative or exceed the population.  ``steps`` names the post-processing
    that was applied, and ``raw`` is the estimate before it.  ``tested`` is how many candidates
    these values were picked from, and 0 if none was left out.
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
            raise ParameterError(
                f"`population` must be at least the {self.users} users who reported,"
                f" not {self.population}"
            )

    def of(self, population: int) -> "Estimate":
        """Return the estimate for the population that this group was drawn from at random."""
        return replace(self, population=population, raw=self.raw and self.raw.of(population))

    def picked(self, indices: Ints) -> "Estimate":
        """Return the estimate of some candidates, which remembers how many there were."""
        raw = self.raw and self.raw.picked(indices)
        return replace(
            self,
            votes=self.votes[indices],
            noise=self.noise.picked(indices),
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
        """Return the variance of the totals: noise, and the drawing of the group."""
        noise = self.noise.variances(self.votes, self.users)
        shares = np.clip(self.frequencies, 0, 1)
        return self.scale**2 * noise + self._drawing * shares * (1 - shares)

    @property
    def errors(self) -> Floats:
        """Return the standard errors of the totals."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Return bounds per value; simultaneous ones hold for all values together (Bonferroni)."""
        tests = len(self.votes) if simultaneous else 1
        half_width = quantile(level, tests) * self.errors
        return self.totals - half_width, self.totals + half_width

    def sum(self, indices: Ints) -> Total:
        """Return the total of a set of values, with the covariance of its cells."""
        coefficients = np.zeros(len(self.votes))
        coefficients[indices] = 1.0
        return self.weighted(coefficients)

    def weighted(self, coefficients: Floats) -> Total:
        """Return the sum over people of the coefficient of the value that they hold."""
        total = self.noise.total(coefficients, self.votes, self.users)
        mean = total / self.users
        mean_square = held_sum(coefficients**2, self.votes, self.users) / self.users
        noise = self.noise.linear(coefficients, self.votes, self.users)
        drawing = self._drawing * max(0.0, mean_square - mean**2)
        return Total(total * self.scale, self.scale**2 * noise + drawing)

    def threshold(self, alpha: float = 0.05, tested: int = 0) -> float:
        """Return the raw total that an unheld value exceeds with probability alpha / tested."""
        return float(self._thresholds(alpha, tested).max())

    def significant(self, alpha: float = 0.05) -> Bools:
        """Return which values stand out of the noise, all tests taken together (Bonferroni).

        Raw totals are tested, because the noise law of processed ones is not known exactly.
        """
        return (self.raw or self).totals >= self._thresholds(alpha)

    def _thresholds(self, alpha: float, tested: int = 0) -> Floats:
        """Return the threshold of every value.

        Thresholds differ where values were asked about unequally often.
        """
        if self.raw:
            return self.raw._thresholds(alpha, tested)
        tests = tested or self.tested or len(self.votes)
        unheld_variances = self.noise.variances(np.zeros(len(self.votes)), self.users)
        return upper_quantile(alpha / tests) * self.scale * np.sqrt(unheld_variances)

    @property
    def _drawing(self) -> float:
        """Return the factor of f (1 - f) in the variance of drawing: N^2 (N - n) / (n (N - 1))."""
        missing = self.population - self.users
        return self.population**2 / self.users * missing / max(self.population - 1, 1)
