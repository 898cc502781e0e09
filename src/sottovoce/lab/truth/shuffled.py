"""The exact divergence of shuffled reports, by enumeration: what every bound must stay above.

``shuffled_delta`` lists all multisets of reports of a small batch.  ``blanket_delta`` is the bound
of the privacy blanket in exact fractions.  ``DirectResponse`` is a lower bound for large batches
of generalised randomised response, for one population: all others hold the same third value.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, exp, log, tanh
from typing import Any

import numpy as np

from sottovoce.accounting.binomial_sums import fair_excess
from sottovoce.arrays import Floats
from sottovoce.maths.crossing import crossing

_TAIL = 1e-20  # probability of counts outside the listed ones
_BLOCKS = 64
_TOLERANCE = 1e-8

Counts = tuple[int, ...]


def merged(likelihood: Floats) -> Floats:
    """Return (reports, values) with reports of proportional rows added up.

    They tell the same, so that a collector who sees only which kind they are loses nothing.
    """
    shapes = np.round(likelihood / likelihood.sum(axis=1, keepdims=True), 12)
    _, kinds = np.unique(shapes, axis=0, return_inverse=True)
    total = np.zeros((kinds.max() + 1, likelihood.shape[1]))
    np.add.at(total, kinds, likelihood)
    return total


def shuffled_delta(
    likelihood: Floats, pair: tuple[int, int], others: Sequence[int], epsilon: float
) -> float:
    """Return delta between two values of one person, given what all others hold.

    ``likelihood`` is (reports, values).
    """
    rest: dict[Counts, float] = {(0,) * len(likelihood): 1.0}
    for value in others:
        rest = _with_report(rest, likelihood[:, value])
    first = _with_report(rest, likelihood[:, pair[0]])
    second = _with_report(rest, likelihood[:, pair[1]])
    odds = exp(epsilon)
    return sum(max(0.0, chance - odds * second[counts]) for counts, chance in first.items())


def _with_report(law: dict[Counts, float], report: Floats) -> dict[Counts, float]:
    """Return the law of the counts with one more report."""
    following: dict[Counts, float] = defaultdict(float)
    for counts, chance in law.items():
        for kind, probability in enumerate(report):
            moved = (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])
            following[moved] += chance * float(probability)
    return following


@dataclass(frozen=True)
class RationalBlanket:
    """A blanket in fractions: ``odds`` is e^epsilon_local."""

    odds: Fraction
    share: Fraction
    overlap: Fraction

    @property
    def mass(self) -> Fraction:
        """Return the probability that a report is a draw from the blanket."""
        return 1 / (1 + self.share * (self.odds - 1))


def blanket_delta(
    blanket: RationalBlanket, users: int, fakes: int, central_odds: Fraction
) -> Fraction:
    """Return the bound of the privacy blanket without any rounding or simplification."""
    mass = blanket.mass
    total = Fraction(0)
    for draws in range(users):
        chance = comb(users - 1, draws) * mass**draws * (1 - mass) ** (users - 1 - draws)
        total += chance * _delta_of_draws(blanket, 1 + draws + fakes, central_odds)
    return total


def _delta_of_draws(blanket: RationalBlanket, draws: int, odds: Fraction) -> Fraction:
    """Return mass / m * E[(sum over the draws of what each says for one value)+]."""
    one_only = blanket.share * (1 - blanket.overlap)
    both = blanket.share * blanket.overlap
    neither = 1 - 2 * one_only - both
    total = Fraction(0)
    for first in range(draws + 1):
        for second in range(draws + 1 - first):
            for shared in range(draws + 1 - first - second):
                rest = draws - first - second - shared
                # A draw that supports both values counts for the first and for the second.
                gain = (blanket.odds - 1) * (first + shared - odds * (second + shared))
                gain -= (odds - 1) * draws
                if gain > 0:
                    ways = (
                        comb(draws, first) * comb(draws - first, second) * comb(rest + shared, rest)
                    )
                    chance = one_only ** (first + second) * both**shared * neither**rest
                    total += ways * chance * gain
    return blanket.mass * total / draws


@dataclass(frozen=True)
class DirectResponse:
    """Generalised randomised response of many people, all but one of whom hold one third value.

    Of all n reports let A and A' be those that name the two values of the one person, C those that
    name the third value, and W all others.  With E = e^epsilon_local and e = e^epsilon,

        delta(epsilon) = E[((E - e) A + (1 - e E) A' - (e - 1) (W + C / E))+] / n

    over the multinomial law of n people who all hold the third value.  W is cut into blocks, each
    of which counts with its mean.  That can only lower the result (Jensen), so that it is a lower
    bound of what any valid bound must state.
    """

    epsilon_local: float
    size: int
    users: int

    def delta(self, epsilon: float) -> float:
        """Return a lower bound of delta between the two values of the one person."""
        odds = exp(self.epsilon_local)
        singles, single_law, others, other_law = self._laws
        third = self.users - singles[:, None] - others
        base = singles[:, None] / 2 * (odds + 1) + others + third / odds
        distances = tanh(epsilon / 2) / (odds - 1) * base
        excess = fair_excess(singles[:, None], distances)
        scale = (odds - 1) * (exp(epsilon) + 1) / self.users
        return float(scale * (single_law @ (other_law * excess).sum(axis=1)))

    def epsilon(self, delta: float) -> float:
        """Return a lower bound of the epsilon at which delta is reached."""

        def surplus(candidate: float) -> float:
            return log(max(self.delta(candidate) / delta, 1e-6))

        return crossing(surplus, 0.0, self.epsilon_local, _TOLERANCE)

    @cached_property
    def _laws(self) -> tuple[Any, Floats, Floats, Floats]:
        """Return A + A' and its law, then the mean of W and its probability in each block."""
        from scipy.stats import binom

        other = 1 / (exp(self.epsilon_local) + self.size - 1)
        low = int(binom.ppf(_TAIL, self.users, 2 * other))
        high = self.users - int(binom.ppf(_TAIL, self.users, 1 - 2 * other))
        singles = np.arange(low, high + 1)
        single_law = binom.pmf(singles, self.users, 2 * other)
        rest = (self.users - singles)[:, None]
        chance = (self.size - 3) * other / (1 - 2 * other)
        starts = np.unique(binom.ppf(np.linspace(0, 1, _BLOCKS + 1)[:-1], rest[0], chance))
        edges = np.concatenate([[0.0], starts[starts > 0], [self.users + 1.0]])
        law = np.diff(binom.cdf(edges - 1, rest, chance), axis=1)
        # E[W; W < w] = n p P[Bin(n - 1, p) < w - 1]
        sums = np.diff(
            rest * chance * binom.cdf(edges - 2, np.maximum(rest - 1, 0), chance), axis=1
        )
        means = np.divide(sums, law, out=np.zeros_like(law), where=law > 0)
        return singles, single_law, means, law
