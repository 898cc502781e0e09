"""Estimates: numbers that never travel without their variance.

A mechanism's noise is known exactly, so the variance of every cell, and of every weighted sum of
cells, follows from a ``Noise`` law and the estimate itself (plug-in).

Source: Wang 2021, equations 3.1 to 3.3; docs/affine-response.md.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.errors import NoDataError, ParameterError


class Noise(ABC):
    """The law of a mechanism's errors: the variance of any linear function of its votes."""

    complete: ClassVar[bool] = True  # the votes are those of a whole domain, so that they estimate all users

    @abstractmethod
    def variances(self, votes: Floats, users: int) -> Floats:
        """Return the variance of every cell's sum of votes."""

    @abstractmethod
    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        """Return the variance of ``total`` for these coefficients."""

    def total(self, coefficients: Floats, votes: Floats, users: int) -> float:
        """Return the weighted sum of votes."""
        return float(coefficients @ votes)

    def among(self) -> "Noise":
        """Return the law for some candidates of the domain instead of all its values."""
        return self

    def picked(self, places: Ints) -> "Noise":
        """Return the law for the candidates at some places."""
        return self.among()


@dataclass(frozen=True)
class IndependentNoise(Noise):
    """Cells err independently: unary encoding and keyed hashing.

    ``unheld`` is the variance of one vote for a value that its user does not hold, ``held`` what
    holding it adds.
    """

    unheld: float
    held: float

    def among(self) -> Noise:
        return ListedNoise(self.unheld, self.held)

    @classmethod
    def of(cls, p: float, q: float) -> "IndependentNoise":
        """Return the noise of a pure mechanism, equation 3.2."""
        return cls(q * (1 - q) / (p - q) ** 2, (1 - p - q) / (p - q))

    def variances(self, votes: Floats, users: int) -> Floats:
        return users * self.unheld + np.clip(votes, 0, users) * self.held

    def covariance(self, votes: Floats, users: int) -> Floats:
        """Return (cells, cells): how the sums of votes of all cells vary together."""
        return np.diag(self.variances(votes, users))

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        squares = coefficients**2
        return float(users * self.unheld * squares.sum() + self.held * _held(squares, votes, users))


@dataclass(frozen=True)
class ListedNoise(IndependentNoise):
    """Independent noise where only some candidates are estimated."""

    complete = False

    def among(self) -> Noise:
        return self


@dataclass(frozen=True)
class SetNoise(ListedNoise):
    """The noise of counts of items where everybody may hold several of them.

    A total of several items would need to know who holds which together, so there is none.
    """

    @classmethod
    def sampled(cls, p: float, q: float, length: int) -> "SetNoise":
        """Return the noise of votes times ``length`` of a pure mechanism that reports one of so many elements."""
        seen = q + (p - q) / length  # the chance that the report of somebody who holds the item supports it
        return cls(length**2 * q * (1 - q) / (p - q) ** 2, length * (1 - q - seen) / (p - q))

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        if np.count_nonzero(coefficients) > 1:
            raise ParameterError("somebody may hold several items: their counts do not add up to a number of people")
        return super().linear(coefficients, votes, users)


@dataclass(frozen=True, eq=False)
class StatedNoise(Noise):
    """A variance of its own for every cell, which includes the drawing of who was asked about it; sums have none."""

    stated: Floats

    complete = False

    def variances(self, votes: Floats, users: int) -> Floats:
        return self.stated

    def picked(self, places: Ints) -> "StatedNoise":
        return StatedNoise(self.stated[places])

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        if np.count_nonzero(coefficients) > 1:
            raise ParameterError("somebody may hold several items: their counts do not add up to a number of people")
        return float(coefficients**2 @ self.stated)


@dataclass(frozen=True)
class BalancedNoise(IndependentNoise):
    """Every report supports the same number of values: GRR, subset selection, affine response.

    One user's votes then sum to one over the ``cells`` of a padded domain.  Nobody holds the
    padding, so a sum may give it the mean coefficient: the answer for everybody is exact.
    """

    spread: float  # A: multiplies the squared distance of the coefficients from their mean
    swing: float  # B: multiplies the squared distance of the coefficient that is held
    cells: int  # of the padded domain

    @classmethod
    def subsets(cls, p: float, cells: int, chosen: float) -> "BalancedNoise":
        """Return the noise of reports that support ``chosen`` of ``cells`` values, the held one with probability p."""
        q = (chosen - p) / (cells - 1)
        gain = p * cells - chosen  # (p - q)(cells - 1)
        plain = IndependentNoise.of(p, q)
        if cells == 2:
            return cls(plain.unheld, plain.held, 2 * plain.unheld, 0.0, 2)  # the two cells mirror each other
        spread = (cells - 1) * (chosen * (cells - 1 - chosen) - p * (cells - 2 * chosen)) / ((cells - 2) * gain**2)
        swing = (cells - 2 * chosen) * (cells - 1) / ((cells - 2) * gain) - 1
        return cls(plain.unheld, plain.held, spread, swing, cells)

    def among(self) -> Noise:
        return PartialNoise(self.unheld, self.held, self.spread, self.swing, self.cells)

    def covariance(self, votes: Floats, users: int) -> Floats:
        held, even = np.clip(votes, 0, users), 1 / self.cells
        spread = users * self.spread * (np.eye(len(votes)) - even)
        apart = np.diag(held) - (held[:, None] + held) * even + held.sum() * even**2
        return np.asarray(spread + self.swing * apart)

    def total(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return float(coefficients @ votes + coefficients.mean() * (users - votes.sum()))

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        squares = (coefficients - coefficients.mean()) ** 2
        filled = votes + (users - votes.sum()) / len(votes)
        return float(users * self.spread * squares.sum() + self.swing * _held(squares, filled, users))


@dataclass(frozen=True)
class PartialNoise(BalancedNoise):
    """Balanced noise where only some candidates are estimated: all other cells have coefficient 0."""

    complete = False

    def among(self) -> Noise:
        return self

    def total(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return float(coefficients @ votes)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        mean = coefficients.sum() / self.cells
        others = self.cells - len(coefficients)
        spread = ((coefficients - mean) ** 2).sum() + others * mean**2
        # Holders of a cell that is not listed stand at distance ``mean``.
        squares = (coefficients - mean) ** 2 - mean**2
        held = users * mean**2 + _held(np.append(squares, 0.0), np.append(votes, 0.0), users)
        return float(users * self.spread * spread + self.swing * held)


@dataclass(frozen=True, eq=False)
class JointNoise(Noise):
    """The whole covariance of the cells of a table, which includes the drawing of who was asked about it."""

    covariance: Floats

    def picked(self, places: Ints) -> "JointNoise":
        return JointNoise(self.covariance[np.ix_(places, places)])

    def variances(self, votes: Floats, users: int) -> Floats:
        return np.diagonal(self.covariance).copy()

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return max(0.0, float(coefficients @ self.covariance @ coefficients))  # what is known exactly rounds to nought


@dataclass(frozen=True, eq=False)
class SampledNoise(Noise):
    """The spread of bootstrap replicates, (replicates, cells): for decoders without a formula.

    ``floor`` is the least standard error of a cell: what a decoder that leaves cells out cannot see.
    ``around`` are the votes that the replicates were drawn from; where they are known, errors include the bias.
    """

    replicates: Floats
    floor: float = 0.0
    around: Floats | None = None

    def picked(self, places: Ints) -> "SampledNoise":
        return SampledNoise(
            self.replicates[:, places], self.floor, None if self.around is None else self.around[places]
        )

    def variances(self, votes: Floats, users: int) -> Floats:
        return np.maximum(self._spread(self.replicates, self.around), self.floor**2)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        unseen = self.variances(votes, users) - self._spread(self.replicates, self.around)
        around = None if self.around is None else self.around @ coefficients
        return float(self._spread(self.replicates @ coefficients, around) + coefficients**2 @ unseen)

    def _spread(self, replicates: Floats, around: Floats | None) -> Floats:
        spread = replicates.var(axis=0, ddof=1) if around is None else ((replicates - around) ** 2).mean(axis=0)
        return np.asarray(spread, np.float64)


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
        square = _held(coefficients**2, self.votes, self.users) / self.users
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


def quantile(level: float, tests: int = 1) -> float:
    """Return how many standard errors a two-sided interval reaches.

    >>> round(quantile(0.95), 3)
    1.96
    """
    if not 0 < level < 1:
        raise ParameterError("a confidence level lies between 0 and 1")
    return upper_quantile((1 - level) / (2 * tests))


def upper_quantile(tail: float) -> float:
    """Return the normal quantile with this much above it; exact for the smallest tails.

    >>> round(upper_quantile(0.05 / 41270), 6)
    4.714499
    """
    return -NormalDist().inv_cdf(tail)


def _held(squares: Floats, votes: Floats, users: int) -> float:
    """Return the estimate of sum over users of the square at the value they hold, kept possible."""
    return float(np.clip(squares @ votes, users * squares.min(), users * squares.max()))
