"""Subset selection: a random set of values that holds the true one more often than chance.

The most accurate mechanism known, for every domain and epsilon, hence the reference that others are measured by;
a report has one bit per value, as unary encoding's.  Affine response comes close in ten bytes.

A report is a row of bits, least significant first.  Drawn in this order: whether to hold the value, which of the
chosen steps aside for it, then Floyd's uniform subset of the other values, one integer for each that is chosen.

Source: Ye and Barg 2018.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from sottovoce.arrays import Bools, Bytes, Floats, Ints, Reports, Values
from sottovoce.core.noise import BalancedNoise
from sottovoce.core.packing import bit_rows, bits_at, pack_bits
from sottovoce.core.rng import Rng
from sottovoce.errors import CodecError, ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import PureMechanism, threshold

LISTED = 16  # values of the largest domain whose reports can all be listed


@dataclass(frozen=True)
class SubsetSelection(PureMechanism, kind="subset"):
    """Report a set of ``chosen`` values, the true one among them with probability ``p``.

    >>> SubsetSelection(epsilon=1.0, size=100).chosen
    27
    """

    epsilon: float
    size: int
    chosen: int = 0
    keep: int = threshold()

    largest = 1 << 16

    def prepare(self) -> None:
        odds = exact.exp(self.epsilon)
        self.settle("chosen", max(1, round(exact.divide(self.size, exact.add(odds, 1)))))
        if not isinstance(self.chosen, int) or not 1 <= self.chosen < self.size:
            raise ParameterError(f"a subset of {self.size} values has at least one and leaves out at least one")
        with_it = exact.scale(self.chosen, odds)
        self.settle("keep", exact.threshold_below(exact.divide(with_it, exact.add(with_it, self.size - self.chosen))))
        if not self.chosen * exact.UNIT < self.keep * self.size < exact.UNIT * self.size:
            raise ParameterError("the value must be held more often than by chance, and not always")

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return (self.chosen - self.p) / (self.size - 1)  # p and the q of the others add up to the subset

    @property
    def worst_ratio(self) -> Fraction:
        others = self.size - self.chosen
        return Fraction(self.keep * others, (exact.UNIT - self.keep) * self.chosen)

    @property
    def noise(self) -> BalancedNoise:
        return BalancedNoise.subsets(self.p, self.size, self.chosen)

    @property
    def width(self) -> int:
        return -(-self.size // 8)

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        held = rng.bernoulli(self.keep, len(values))
        aside = rng.integers(self.chosen, len(values))
        sets, leaver = self._others(values, aside, rng)
        holders = np.flatnonzero(held)
        _toggle(sets, holders, leaver[holders])  # uniform sets of one less
        _toggle(sets, holders, values[holders])
        return sets

    def pack(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def unpack(self, data: bytes) -> Reports:
        sets = bit_rows(data, self.size)
        if (np.bitwise_count(sets).sum(axis=1) != self.chosen).any():
            raise CodecError(f"a report of this task has {self.chosen} values")
        return sets

    def support(self, reports: Reports, candidates: Values) -> Bools:
        return bits_at(reports, candidates)

    def count(self, reports: Reports, candidates: Values) -> Ints:
        from sottovoce.kernels.unary import bit_counts

        return bit_counts(reports, self.size)[candidates]

    def outcomes(self) -> Reports:
        if self.size > LISTED:
            raise ParameterError(f"sets of more than {LISTED} values are too many to list")
        sets = np.array(list(combinations(range(self.size), self.chosen)))
        return pack_bits((sets[:, :, None] == np.arange(self.size)).any(axis=1))

    def likelihood(self, reports: Reports) -> Floats:
        with_it = self.p / comb(self.size - 1, self.chosen - 1)
        without = (1 - self.p) / comb(self.size - 1, self.chosen)
        return np.where(self.support(reports, np.arange(self.size)), with_it, without)

    def _others(self, values: Values, aside: Ints, rng: Rng) -> tuple[Bytes, Ints]:
        """Return uniform sets of values that their users do not hold, and from each the pick numbered ``aside``."""
        users, sets = np.arange(len(values)), np.zeros((len(values), self.width), np.uint8)
        marked = np.zeros(len(values), np.int64)
        for step, last in enumerate(range(self.size - 1 - self.chosen, self.size - 1)):
            drawn = rng.integers(last + 1, len(values))
            drawn += drawn >= values  # step over the value, as the newcomer does
            picked = np.where(_has(sets, users, drawn), last + (last >= values), drawn)
            _toggle(sets, users, picked)
            marked = np.where(aside == step, picked, marked)
        return sets, marked


def _has(sets: Bytes, users: Ints, elements: Ints) -> Bools:
    return np.asarray(sets[users, elements >> 3] >> (elements & 7).astype(np.uint8) & 1, bool)


def _toggle(sets: Bytes, users: Ints, elements: Ints) -> None:
    sets[users, elements >> 3] ^= np.uint8(1) << (elements & 7).astype(np.uint8)
