"""Noise laws: how far the sums of votes of a mechanism are from the truth.

The noise of a mechanism is known exactly.  A ``Noise`` law states the variance of every cell, the
covariance of all cells and the variance of any weighted sum of cells, each computed from the
estimate itself (plug-in).  For a pure mechanism with probabilities p and q the variance of the
votes for a value that c of n users hold is

    n q (1 - q) / (p - q)^2 + c (1 - p - q) / (p - q)

Bounds of single cells are read from the exact law of their supports (``support_law``) where votes
are sums of supports, and from a normal law with the stated variance elsewhere.

A caller never asks which law an estimate carries: what differs is a method of the contract.

Source: Wang 2021, equations 3.1 to 3.3; docs/affine-response.md.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.empty_band import BandSupports, conservative
from sottovoce.core.support_law import Sampled, SupportLaw
from sottovoce.errors import ParameterError
from sottovoce.maths.normal import upper_quantile

_NO_FORMULA = "this needs raw votes of a mechanism whose variance has a formula"
_NO_SUM = "a person may hold several items: the counts of several items do not add up to people"
_NO_COVARIANCE = "the error of a sum of several counts is not known; ask for single counts"


class VoteVariance(NamedTuple):
    """The variance of one vote for a value.

    ``unheld`` is the variance if the user holds another value.  ``held`` is added to it if the user
    holds this one.
    """

    unheld: float
    held: float


class ScoreMoments(NamedTuple):
    """The variance of one report's score for coefficients c, where its user holds value v.

        spread * sum((c - m)^2) + held * (c[v] - m)^2

    ``m`` is the mean coefficient if the law is ``centred`` (all votes of a report sum to one, so
    that a constant is known without error), and 0 otherwise.
    """

    spread: float
    held: float
    centred: bool


class Noise(ABC):
    """The law of a mechanism's errors: the variance of any linear function of its votes."""

    complete: ClassVar[bool] = True  # whether the votes are those of a whole domain
    has_sums: ClassVar[bool] = True  # whether a sum of several cells has a known error
    floor: float = 0.0  # the least standard error of a cell

    @abstractmethod
    def variances(self, votes: Floats, users: int) -> Floats:
        """Return the variance of every cell's sum of votes."""

    @abstractmethod
    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        """Return the variance of ``total`` for these coefficients."""

    @property
    def supports(self) -> SupportLaw | None:
        """Return the exact law of the supports of a cell; None where only errors are known."""
        return None

    def unheld_variances(self, votes: Floats, users: int) -> Floats:
        """Return the variance that every cell would have if nobody held its value."""
        return self.variances(np.zeros(len(votes)), users)

    def unheld_votes(self, votes: Floats, users: int, tail: float) -> Floats:
        """Return the bound that each cell exceeds with probability ``tail`` if nobody holds it."""
        law = self.supports
        if law is not None:
            return np.full(len(votes), law.unheld_votes(tail, users))
        return upper_quantile(tail) * np.sqrt(self.unheld_variances(votes, users))

    def unheld_sum(self, band: Ints, votes: Floats, users: int, tail: float) -> float:
        """Return the sum of a band's votes that is reached with probability ``tail``, if nobody
        holds any of its values.

        A law that knows variances only takes the normal one; see ``empty_band`` for the others.
        """
        coefficients = np.zeros(len(votes))
        coefficients[band] = 1.0
        emptied = np.where(coefficients > 0, 0.0, votes)
        return upper_quantile(tail) * sqrt(self.linear(coefficients, emptied, users))

    def bounds(self, votes: Floats, sample: Sampled, tail: float) -> tuple[Floats, Floats]:
        """Return bounds per cell, in votes; each is wrong with probability ``tail`` at most.

        They include the drawing of the users out of the population.
        """
        law = self.supports
        if law is not None:
            return law.bounds(votes, sample, tail)
        variances = self.variances(votes, sample.users) + sample.drawing(votes)
        half_width = upper_quantile(tail) * np.sqrt(variances)
        return votes - half_width, votes + half_width

    def total(self, coefficients: Floats, votes: Floats, users: int) -> float:
        """Return the weighted sum of votes."""
        return float(coefficients @ votes)

    def covariance(self, votes: Floats, users: int) -> Floats:
        """Return (cells, cells): how the sums of votes of all cells vary together."""
        raise ParameterError(_NO_FORMULA)

    def grouped(self, groups: Ints, votes: Floats, users: int) -> tuple[Floats, Floats]:
        """Return the sum of every group of cells, and how these sums vary together.

        ``groups`` names the group of each cell, from 0 on.
        """
        count = int(groups.max()) + 1
        member = (groups == np.arange(count)[:, None]).astype(np.float64)
        sums = np.array([self.total(row, votes, users) for row in member])
        return sums, member @ self.covariance(votes, users) @ member.T

    def draw(
        self, held: Floats, users: int, generator: np.random.Generator, replicates: int
    ) -> Floats:
        """Return (replicates, cells): errors drawn from the law; ``held`` users hold each value."""
        raise ParameterError(_NO_FORMULA)

    @property
    def vote_variance(self) -> VoteVariance:
        """Return the variance of a single vote; refused by laws that know only sums."""
        raise ParameterError(_NO_FORMULA)

    @property
    def score_moments(self) -> ScoreMoments:
        """Return the variance of a single report's score; refused by laws that know only sums."""
        raise ParameterError(_NO_FORMULA)

    @property
    def replicates(self) -> Floats:
        """Return (replicates, cells): votes drawn again; refused by laws that have a formula."""
        raise ParameterError("these errors come from a formula: there are no bootstrap replicates")

    def transformed(self, function: Callable[[Floats], Floats]) -> "Noise":
        """Return the law of a function of the votes, where replicates of the votes are known."""
        raise ParameterError(
            "a bootstrap needs raw votes, or votes whose every earlier step was bootstrapped"
        )

    def among(self) -> "Noise":
        """Return the law for some candidates of the domain instead of all its values."""
        return self

    def picked(self, indices: Ints) -> "Noise":
        """Return the law for the candidates at these indices."""
        return self.among()

    @property
    def inflation(self) -> float:
        """Return how many times fakes multiply the variance of a value that nobody holds."""
        return 1.0

    def for_people(self, people: "Noise", factor: float) -> "Noise":
        """Return another law of the votes of people, with the fakes of this one.

        The votes are those of this law times a factor.
        """
        return people


class BandScores(NamedTuple):
    """The variance of one report's score for a band, and the largest score."""

    variance: float
    most: float


@dataclass(frozen=True)
class IndependentNoise(Noise):
    """Cells err independently: unary encoding and keyed hashing.

    ``unheld`` is the variance of one vote for a value that the user does not hold.  ``held`` is
    added to it for a value that the user holds.  ``band_supports`` is the law of the supports of a
    band that nobody holds, where it is known.
    """

    unheld: float
    held: float
    band_supports: BandSupports | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, p: float, q: float) -> "IndependentNoise":
        """Return the noise of a pure mechanism, equation 3.2."""
        return cls(q * (1 - q) / (p - q) ** 2, (1 - p - q) / (p - q))

    @property
    def supports(self) -> SupportLaw | None:
        return SupportLaw.of_variance(self.unheld, self.held)

    @property
    def vote_variance(self) -> VoteVariance:
        return VoteVariance(self.unheld, self.held)

    @property
    def score_moments(self) -> ScoreMoments:
        return ScoreMoments(self.unheld, self.held, centred=False)

    def among(self) -> Noise:
        return ListedNoise(self.unheld, self.held, band_supports=self.band_supports)

    def unheld_sum(self, band: Ints, votes: Floats, users: int, tail: float) -> float:
        law = self.supports
        if law is None:
            return super().unheld_sum(band, votes, users, tail)
        width = len(band)
        if self.band_supports is not None:
            least = self.band_supports.least(width, users, tail)
            if least is not None:
                # Half a support less, so that rounding errors cannot change a comparison.
                return (least - 0.5 - users * width * law.q) / law.gap
        scores = self._empty_scores(law, band, len(votes))
        return conservative(scores.variance, scores.most, users, tail)

    def _empty_scores(self, law: SupportLaw, band: Ints, cells: int) -> "BandScores":
        """Return what is known of the score that one report gives to a band nobody holds."""
        return BandScores(len(band) * self.unheld, len(band) * (1 - law.q) / law.gap)

    def variances(self, votes: Floats, users: int) -> Floats:
        return users * self.unheld + np.clip(votes, 0, users) * self.held

    def covariance(self, votes: Floats, users: int) -> Floats:
        return np.diag(self.variances(votes, users))

    def grouped(self, groups: Ints, votes: Floats, users: int) -> tuple[Floats, Floats]:
        sums = np.bincount(groups, votes).astype(np.float64)
        sizes = np.bincount(groups)
        variances = sizes * users * self.unheld + self.held * np.clip(sums, 0, users)
        return sums, np.diag(variances)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        squares = coefficients**2
        return float(
            users * self.unheld * squares.sum() + self.held * held_sum(squares, votes, users)
        )

    def draw(
        self, held: Floats, users: int, generator: np.random.Generator, replicates: int
    ) -> Floats:
        normal = generator.standard_normal((replicates, len(held)))
        return np.asarray(np.sqrt(self.variances(held, users)) * normal)


@dataclass(frozen=True)
class ListedNoise(IndependentNoise):
    """Independent noise where only some candidates are estimated."""

    complete = False

    def among(self) -> Noise:
        return self


@dataclass(frozen=True)
class SetNoise(ListedNoise):
    """The noise of counts of items, if everybody may hold several items.

    The error of a total of several items depends on how many people hold them together.  That is
    not known, so such totals are refused.
    """

    has_sums = False

    @classmethod
    def sampled(cls, p: float, q: float, length: int) -> "SetNoise":
        """Return the noise of votes times ``length``: a user reports one of ``length`` elements."""
        # The probability that the report of a person who holds the item supports it.
        supports = q + (p - q) / length
        unheld = length**2 * q * (1 - q) / (p - q) ** 2
        return cls(unheld, length * (1 - q - supports) / (p - q))

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        if np.count_nonzero(coefficients) > 1:
            raise ParameterError(_NO_SUM)
        return super().linear(coefficients, votes, users)


@dataclass(frozen=True, eq=False)
class StatedNoise(Noise):
    """A stated variance for every cell, including the sampling of users.

    The covariances of cells are not known, so totals of several cells are refused.
    """

    stated: Floats

    complete = False
    has_sums = False

    def variances(self, votes: Floats, users: int) -> Floats:
        return self.stated

    def picked(self, indices: Ints) -> "StatedNoise":
        return StatedNoise(self.stated[indices])

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        if np.count_nonzero(coefficients) > 1:
            raise ParameterError(_NO_COVARIANCE)
        return float(coefficients**2 @ self.stated)


@dataclass(frozen=True)
class BalancedNoise(IndependentNoise):
    """Every report supports the same number of values: GRR, subset selection, affine response.

    One user's votes then sum to one over the ``cells`` of a padded domain.  Nobody holds the
    padding, so a sum may give it the mean coefficient m, and the total over everybody is exact.  A
    sum with coefficients c over n users, each holding some value v, has the variance

        spread * n * sum of (c - m)^2 over all cells  +  swing * sum of (c_v - m)^2 over all users
    """

    spread: float  # multiplies the squared distances of the coefficients from their mean
    swing: float  # multiplies the squared distance of the coefficient that is held
    cells: int  # of the padded domain

    @classmethod
    def subsets(cls, p: float, cells: int, chosen: float) -> "BalancedNoise":
        """Return the noise of reports that support ``chosen`` of ``cells`` values.

        The value that the user holds is among them with probability p.
        """
        q = (chosen - p) / (cells - 1)
        gain = p * cells - chosen  # (p - q)(cells - 1)
        plain = IndependentNoise.of(p, q)
        if cells == 2:  # the two cells mirror each other
            return cls(plain.unheld, plain.held, 2 * plain.unheld, 0.0, 2)
        numerator = (cells - 1) * (chosen * (cells - 1 - chosen) - p * (cells - 2 * chosen))
        spread = numerator / ((cells - 2) * gain**2)
        swing = (cells - 2 * chosen) * (cells - 1) / ((cells - 2) * gain) - 1
        return cls(plain.unheld, plain.held, spread, swing, cells)

    @property
    def score_moments(self) -> ScoreMoments:
        return ScoreMoments(self.spread, self.swing, centred=True)

    def among(self) -> Noise:
        law = self.band_supports
        constants = (self.unheld, self.held, self.spread, self.swing, self.cells)
        return PartialNoise(*constants, band_supports=law)

    def _empty_scores(self, law: SupportLaw, band: Ints, cells: int) -> BandScores:
        # With the mean coefficient m, a report that supports s of the band scores at most
        # (1 - m) s / (p - q) + m.
        width = len(band)
        mean = width / cells
        variance = self.spread * width * (1 - mean) + self.swing * mean**2
        most = (1 - mean) * min(width, self._chosen(law)) / law.gap + mean
        return BandScores(variance, most)

    def _chosen(self, law: SupportLaw) -> int:
        """Return how many cells a report supports: p + (cells - 1) q."""
        return round(law.gap + self.cells * law.q)

    def covariance(self, votes: Floats, users: int) -> Floats:
        held = np.clip(votes, 0, users)
        spread = users * self.spread * (np.eye(len(votes)) - 1 / self.cells)
        return np.asarray(spread + self.swing * _centred_outer(held, self.cells))

    def grouped(self, groups: Ints, votes: Floats, users: int) -> tuple[Floats, Floats]:
        """Return sums and covariance of groups of equal size.

        Each group also gets an equal part of the padding, so that all sums together are exact.
        """
        sums = np.bincount(groups, votes)
        count = len(sums)
        group_size = len(votes) // count
        sums = sums + (users - sums.sum()) / count
        held = np.clip(sums, 0, users)
        # Every padded cell carries the mean coefficient of a group, group_size / len(votes).
        mean_square = (group_size / len(votes)) ** 2
        padding = (self.cells - len(votes)) * mean_square
        products = group_size * np.eye(count) + padding - self.cells * mean_square
        return sums, users * self.spread * products + self.swing * _centred_outer(held, count)

    def total(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return float(coefficients @ votes + coefficients.mean() * (users - votes.sum()))

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        squares = (coefficients - coefficients.mean()) ** 2
        filled = votes + (users - votes.sum()) / len(votes)
        spread = users * self.spread * squares.sum()
        return float(spread + self.swing * held_sum(squares, filled, users))

    def draw(
        self, held: Floats, users: int, generator: np.random.Generator, replicates: int
    ) -> Floats:
        """Return errors that sum to 0 over the padded domain: independent ones less their mean."""
        spread = users * self.spread
        scale = np.sqrt(np.maximum(spread + self.swing * held, 0.0))
        errors = scale * generator.standard_normal((replicates, len(held)))
        others = (self.cells - len(held)) * spread + self.swing * (users - held.sum())
        rest = np.sqrt(max(others, 0.0)) * generator.standard_normal((replicates, 1))
        return np.asarray(errors - (errors.sum(axis=1, keepdims=True) + rest) / self.cells)


@dataclass(frozen=True)
class PartialNoise(BalancedNoise):
    """Balanced noise where only some candidates are estimated; other cells have coefficient 0."""

    complete = False

    def among(self) -> Noise:
        return self

    def total(self, coefficients: Floats, votes: Floats, users: int) -> float:
        return float(coefficients @ votes)

    def _empty_scores(self, law: SupportLaw, band: Ints, cells: int) -> BandScores:
        width = len(band)
        mean = width / self.cells
        variance = self.spread * width * (1 - mean) + self.swing * mean**2
        return BandScores(variance, (min(width, self._chosen(law)) - width * law.q) / law.gap)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        mean = coefficients.sum() / self.cells
        others = self.cells - len(coefficients)
        spread = ((coefficients - mean) ** 2).sum() + others * mean**2
        # Users who hold a value that is not listed stand at distance ``mean``.
        squares = (coefficients - mean) ** 2 - mean**2
        held = users * mean**2 + held_sum(np.append(squares, 0.0), np.append(votes, 0.0), users)
        return float(users * self.spread * spread + self.swing * held)


@dataclass(frozen=True, eq=False)
class JointNoise(Noise):
    """The full covariance ``matrix`` of the cells, including the sampling of users."""

    matrix: Floats

    def picked(self, indices: Ints) -> "JointNoise":
        return JointNoise(self.matrix[np.ix_(indices, indices)])

    def variances(self, votes: Floats, users: int) -> Floats:
        return np.diagonal(self.matrix).copy()

    def covariance(self, votes: Floats, users: int) -> Floats:
        return self.matrix

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        # What is known exactly may round to a number below 0.
        return max(0.0, float(coefficients @ self.matrix @ coefficients))


@dataclass(frozen=True, eq=False)
class SampledNoise(Noise):
    """The spread of bootstrap replicates, (replicates, cells): for decoders without a formula.

    ``floor`` is the least standard error of a cell: what a decoder that leaves cells out cannot
    see.  ``around`` are the votes that the replicates were drawn from; where they are known, errors
    include the bias.
    """

    samples: Floats
    floor: float = 0.0
    around: Floats | None = None

    @property
    def replicates(self) -> Floats:
        return self.samples

    def picked(self, indices: Ints) -> "SampledNoise":
        around = None if self.around is None else self.around[indices]
        return SampledNoise(self.samples[:, indices], self.floor, around)

    def transformed(self, function: Callable[[Floats], Floats]) -> Noise:
        if self.around is None:
            return super().transformed(function)
        return replace(self, samples=function(self.samples))

    def variances(self, votes: Floats, users: int) -> Floats:
        return np.maximum(_spread(self.samples, self.around), self.floor**2)

    def linear(self, coefficients: Floats, votes: Floats, users: int) -> float:
        unseen = self.variances(votes, users) - _spread(self.samples, self.around)
        around = None if self.around is None else self.around @ coefficients
        return float(_spread(self.samples @ coefficients, around) + coefficients**2 @ unseen)

    def draw(
        self, held: Floats, users: int, generator: np.random.Generator, replicates: int
    ) -> Floats:
        again = generator.integers(len(self.samples), size=replicates)
        return np.asarray(self.samples[again] - self.samples.mean(axis=0))


def held_sum(squares: Floats, votes: Floats, users: int) -> float:
    """Return the estimated sum over users of the square at the value they hold, kept possible."""
    return float(np.clip(squares @ votes, users * squares.min(), users * squares.max()))


def _centred_outer(held: Floats, cells: int) -> Floats:
    """Return the sum over users of (e - 1/cells)(e - 1/cells)'.

    ``e`` is the unit vector of the cell that a user holds.
    """
    even = 1 / cells
    return np.asarray(np.diag(held) - (held[:, None] + held) * even + held.sum() * even**2)


def _spread(samples: Floats, around: Floats | None) -> Floats:
    if around is None:
        return np.asarray(samples.var(axis=0, ddof=1), np.float64)
    return np.asarray(((samples - around) ** 2).mean(axis=0), np.float64)
