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
from sottovoce.core.influence import CellInfluences, Exposure, InfluenceLaw
from sottovoce.core.noise import Noise, held_sum
from sottovoce.core.support_law import Sampled
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.maths.normal import checked_tail, quantile


@dataclass(frozen=True)
class Total:
    """One number with its variance.

    - ``exposure`` is the effect of false reports on it, if known.
    - ``raw`` is the number before post-processing.  Its exposure may be known if this one's is not.
    - ``cell`` is the estimate of a single value, if the number is the total of that value and not
      a sum.  The interval then comes from the exact law.
    """

    total: float
    variance: float
    exposure: Exposure | None = None
    raw: "Total | None" = None
    cell: "ScaledCell | None" = None

    @property
    def error(self) -> float:
        """Return the standard error."""
        return sqrt(self.variance)

    def times(self, factor: float) -> "Total":
        """Return the number times a positive factor."""
        exposure = self.exposure and self.exposure.times(factor)
        raw = self.raw and self.raw.times(factor)
        cell = self.cell and replace(self.cell, factor=factor * self.cell.factor)
        return Total(factor * self.total, factor**2 * self.variance, exposure, raw, cell)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the bounds of this confidence level: normal ones for a sum of several values."""
        if self.cell is not None:
            return self.cell.interval(level)
        half_width = quantile(level) * self.error
        return self.total - half_width, self.total + half_width

    def attacked(self, level: float, fakes: float) -> tuple[float, float] | None:
        """Return the bounds if a share ``fakes`` of all who answer may be false reports.

        They contain the interval, and after post-processing the attacked interval of the raw
        number.  None if no bound is known.
        """
        exposed = self.raw or self
        if exposed.exposure is None:
            return None
        bounds = exposed.exposure.attacked(*exposed.interval(level), fakes)
        if bounds is None:
            return None
        low, high = self.interval(level)
        return min(low, bounds[0]), max(high, bounds[1])


@dataclass(frozen=True)
class ScaledCell:
    """The estimate of a single value, times a positive factor."""

    estimate: "Estimate"
    factor: float = 1.0

    def interval(self, level: float) -> tuple[float, float]:
        """Return the bounds of this confidence level."""
        low, high = self.estimate.interval(level)
        return self.factor * float(low[0]), self.factor * float(high[0])


@dataclass(frozen=True, eq=False)
class Estimate:
    """The sums of votes of a group of users, and the estimate of a population from them.

    - ``users`` is the number of people who reported.  They are the whole ``population``, or a
      random part of it.
    - Nothing is clipped: a total may be negative or exceed the population.
    - ``steps`` names the post-processing that was applied, and ``raw`` is the estimate before it.
    - ``tested`` is the number of candidates from which these values were picked; 0 if all
      candidates are here.
    - ``law`` is the largest influence of one report on the votes.  It is None after
      post-processing, and if no bound is known.
    - With ``coins_checked`` nobody can choose the group in which they report.
    """

    votes: Floats
    noise: Noise
    users: int
    epsilon: float
    population: int = 0
    steps: tuple[str, ...] = ()
    raw: "Estimate | None" = None
    tested: int = 0
    law: InfluenceLaw | None = None
    coins_checked: bool = False

    def __post_init__(self) -> None:
        if self.users < 1:
            raise NoDataError("an estimate needs at least one report")
        object.__setattr__(self, "population", self.population or self.users)
        if self.population < self.users:
            raise ParameterError(
                f"`population` must be at least the {self.users} users who reported,"
                f" not {self.population}"
            )

    def of(self, population: int, *, coins_checked: bool = False) -> "Estimate":
        """Return the estimate for the population that this group was drawn from at random.

        ``coins_checked`` says that the collector made sure of the draw.
        """
        return replace(
            self,
            population=population,
            coins_checked=coins_checked,
            raw=self.raw and self.raw.of(population, coins_checked=coins_checked),
        )

    def picked(self, indices: Ints) -> "Estimate":
        """Return the estimate of some candidates, which remembers how many there were."""
        raw = self.raw and self.raw.picked(indices)
        return replace(
            self,
            votes=self.votes[indices],
            noise=self.noise.picked(indices),
            tested=self.tested or len(self.votes),
            raw=raw,
            law=self.law and self.law.picked(indices),
        )

    @property
    def scale(self) -> float:
        """Return the number of people that each report represents."""
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
        return self.scale**2 * (noise + self._sample.drawing(self.votes))

    @property
    def errors(self) -> Floats:
        """Return the standard errors of the totals."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Return bounds per value; simultaneous ones hold for all values together (Bonferroni).

        If values were picked from more candidates, intervals of the plain level would miss more
        often than stated, because picking favours values that noise raised.  Intervals of R values
        picked from m candidates therefore have the level 1 - (1 - level) R / m.  This keeps the
        expected share of intervals that miss at 1 - level (Benjamini and Yekutieli 2005).
        """
        candidates = self.tested or len(self.votes)
        tests = candidates if simultaneous else candidates / len(self.votes)
        tail = checked_tail(level) / tests
        low, high = self.noise.bounds(self.votes, self._sample, tail)
        return self.scale * low, self.scale * high

    @property
    def exposed(self) -> "Estimate | None":
        """Return the estimate that false reports move as the law says: this one or the raw one."""
        if self.law is not None:
            return self
        return self.raw.exposed if self.raw else None

    @property
    def influence(self) -> CellInfluences | None:
        """Return the influence of one false report on every total, in people.

        It is the influence on the raw totals.  A false report that can choose its group counts
        for more than one person.  If coins are checked, it is the average over the groups.
        """
        exposed = self.exposed
        if exposed is None or exposed.law is None:
            return None
        cells = len(exposed.votes)
        if exposed.coins_checked:
            return exposed.law.dealt().cells(cells)
        return exposed.law.cells(cells).standing_for(exposed.scale)

    def attacked(
        self, level: float, fakes: float, *, simultaneous: bool = False
    ) -> tuple[Floats, Floats] | None:
        """Return bounds per value if a share ``fakes`` of the population may be false reports.

        They say how many of the population would hold the value, were all as the honest part of it
        is.  They contain the interval, and that of the raw totals.  None if no bound is known; not
        a number where the false reports may be all there are.
        """
        exposed = self.exposed
        influence = self.influence
        if exposed is None or influence is None:
            return None
        raw_low, raw_high = exposed.interval(level, simultaneous=simultaneous)
        false_reports = fakes * self.population
        lowest, highest = influence.attacked(raw_low, raw_high, false_reports, self.population)
        if exposed is self:
            return np.minimum(raw_low, lowest), np.maximum(raw_high, highest)
        low, high = self.interval(level, simultaneous=simultaneous)
        return np.minimum(low, lowest), np.maximum(high, highest)

    def robust_ahead(self, chosen: Ints, rival: int) -> Floats:
        """Return the share of false reports up to which each chosen value stays ahead of a rival.

        A smaller share of false reports cannot have put the value ahead: without them, the other
        reports would also rank it before the rival.  Both votes are sums over the same reports, so
        the share depends on the influence of one report on their difference:

            share = (T - T of the rival) / (N * influence of one report on the difference)

        For a pure mechanism that is (f - f of the rival) (p - q).
        """
        law = self.law
        assert law is not None, "robustness needs a law of influence"
        moved = np.empty(len(chosen))
        for position, index in enumerate(chosen.tolist()):
            if position and law.symmetric:
                moved[position] = moved[0]
                continue
            pair = self.picked(np.array([index, rival]))
            exposure = pair._exposure(np.array([1.0, -1.0]))
            assert exposure is not None
            moved[position] = exposure.influence.up
        lead = self.totals[chosen] - self.totals[rival]
        return np.asarray(np.clip(lead / (self.population * moved), 0.0, 1.0))

    def robust_above(self, share: float) -> Floats:
        """Return the share of false reports up to which each value stays above a share of people.

        Without F false reports of N the estimate is (T - F up) / (N - F stands_for) at least, so
        that it stays above as long as F / N is less than (f - share) / (up - share stands_for).
        """
        cells = self.influence
        assert cells is not None, "robustness needs a law of influence"
        lead = self.totals / self.population - share
        return np.asarray(np.clip(lead / (cells.up - share * cells.stands_for), 0.0, 1.0))

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
        exposed = self.exposed
        raw = exposed.weighted(coefficients) if exposed not in (None, self) else None
        variance = self.scale**2 * noise + drawing
        cell = self._cell(coefficients, variance)
        return Total(total * self.scale, variance, self._exposure(coefficients), raw, cell)

    def _cell(self, coefficients: Floats, variance: float) -> ScaledCell | None:
        """Return the only value with a coefficient, unless a sum knows more about it.

        Where all votes sum to the users, padding included, a sum may be surer than its cell.
        """
        chosen = np.flatnonzero(coefficients)
        if len(chosen) != 1 or coefficients[chosen[0]] <= 0:
            return None
        factor = float(coefficients[chosen[0]])
        if not np.isclose(variance, factor**2 * self.variance[chosen[0]]):
            return None
        return ScaledCell(replace(self.picked(chosen), tested=0), factor)

    def _exposure(self, coefficients: Floats) -> Exposure | None:
        """Return how false reports move the sum with these coefficients."""
        if self.law is None:
            return None
        law = self.law.dealt() if self.coins_checked else self.law
        influence = law.of(coefficients, padded=self.noise.complete)
        people = 1.0 if self.coins_checked else self.scale
        return Exposure(influence.standing_for(people), self.population)

    def threshold(self, alpha: float = 0.05, tested: int = 0) -> float:
        """Return the raw total that an unheld value exceeds with probability alpha / tested.

        The probability is exact for mechanisms, and never above; see ``support_law``.
        """
        return float(self._thresholds(alpha, tested).max())

    def significant(self, alpha: float = 0.05) -> Bools:
        """Return which values stand out of the noise, all tests taken together (Bonferroni).

        Raw totals are tested, because the noise law of processed ones is not known exactly.
        """
        return (self.raw or self).totals >= self._thresholds(alpha)

    def significant_sum(self, indices: Ints, alpha: float) -> bool:
        """Return whether several values together stand out of the noise.

        If nobody holds any of them, the probability is at most alpha; see ``empty_band``.  Raw
        totals are tested, as of single values.
        """
        raw = self.raw or self
        least = raw.noise.unheld_sum(indices, raw.votes, raw.users, alpha)
        return bool(raw.sum(indices).total >= raw.scale * least)

    def _thresholds(self, alpha: float, tested: int = 0) -> Floats:
        """Return the threshold of every value.

        Thresholds differ where values were asked about unequally often.
        """
        if self.raw:
            return self.raw._thresholds(alpha, tested)
        tests = tested or self.tested or len(self.votes)
        return self.scale * self.noise.unheld_votes(self.votes, self.users, alpha / tests)

    @property
    def _sample(self) -> Sampled:
        return Sampled(self.users, self.population)

    @property
    def _drawing(self) -> float:
        """Return the factor of f (1 - f) in the variance of drawing: N^2 (N - n) / (n (N - 1))."""
        missing = self.population - self.users
        return self.population**2 / self.users * missing / max(self.population - 1, 1)
