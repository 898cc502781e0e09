"""Hadamard coefficients: everybody reports one sign, and a marginal is a signed sum of a few of them (InpHT, MargHT).

A marginal of some attributes needs only the coefficients that touch no other.  InpHT draws from all that marginals of
the order need, the best choice for few attributes of two values and unbiased answers; MargHT draws a set of attributes
first and a coefficient of it then.

Source: Cormode 2018, section 4.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.encodings.parity import bits_of
from sottovoce.errors import ParameterError
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.tables import Table, View
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected, yes_counts
from sottovoce.tasks.families.parities import Parities


def ask(epsilon: float, sizes: tuple[int, ...], order: int, *, within: bool = False) -> Choice:
    """Return the question for one coefficient."""
    return Choice(Parities(GRR(epsilon, 2), sizes, order, within))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Estimated coefficients: how often each was asked for, and how many odd parities were reported."""

    family: Parities
    times: Ints
    ones: Ints

    @classmethod
    def read(cls, collected: Collected) -> "Spectrum":
        """Return the coefficients of a collection of one round."""
        choice: Any = collected.rounds[0].ask
        return cls(choice.members, *yes_counts(collected, 0))

    @property
    def users(self) -> int:
        return int(self.times.sum())

    @cached_property
    def signs(self) -> Floats:
        """Return the estimated mean sign of every coefficient, 0 where nobody was asked."""
        reported = np.divide(
            self.times - 2 * self.ones, self.times, out=np.zeros(len(self.times)), where=self.times > 0
        )
        return np.asarray(self._stretch * reported)

    @cached_property
    def variances(self) -> Floats:
        """Return the variances of the signs, 1 where nobody was asked: (c^2 - 1 + (n - m)/(n - 1) (1 - w^2))/m."""
        others = (self.users - self.times) / max(self.users - 1, 1)
        noise = self._stretch**2 - 1 + others * (1 - np.clip(self.signs, -1, 1) ** 2)
        return np.divide(noise, self.times, out=np.ones(len(self.times)), where=self.times > 0)

    def table(self, view: View) -> Table:
        """Return the table of a view from all coefficients within it."""
        family = self.family
        if not view or len(view) > family.order:
            raise ParameterError(f"marginals are of 1 to {family.order} attributes")
        if not family.within:
            return self._table(view, self._within(view))
        if len(view) < family.order:
            return self._pooled.table(view)
        return self._table(view, family.start(view) + np.arange(self._length(view) - 1))

    @cached_property
    def _pooled(self) -> "Spectrum":
        """Return the coefficients whatever set they were asked in: those of fewer attributes were asked in several."""
        family = self.family
        every = Parities(family.mechanism, family.sizes, family.order)
        numbers = {every.coefficient(index): index for index in range(len(every))}
        places = [numbers[family.coefficient(index)] for index in range(len(family))]
        times, ones = (np.bincount(places, counts, len(every)).astype(np.int64) for counts in (self.times, self.ones))
        return Spectrum(every, times, ones)

    def _table(self, view: View, coefficients: Ints) -> Table:
        """Return the table of the cells that there are: shares 2^-b sum (-1)^(a.g) w_a of independent coefficients."""
        sizes, length = [self.family.sizes[one] for one in view], self._length(view)
        signs = np.concatenate([[1.0], self.signs[coefficients]])
        variances = np.concatenate([[0.0], self.variances[coefficients]])
        cells = _cells(sizes)
        shares = transform(signs)[cells].reshape(sizes) / length
        return Table(view, shares, transform(variances)[cells[:, None] ^ cells] / length**2)

    def _within(self, view: View) -> Ints:
        """Return the coefficients within a view, those of its spectrum from position 1 on."""
        bits = [bits_of(self.family.sizes[one]) for one in view]
        found = []
        for position in range(1, self._length(view)):
            masks, rest = [], position
            for width in reversed(bits):
                masks.append(rest & ((1 << width) - 1))
                rest >>= width
            touched = [(one, mask) for one, mask in zip(view, reversed(masks), strict=True) if mask]
            found.append(self._numbers[tuple(touched)])
        return np.array(found, np.int64)

    @cached_property
    def _numbers(self) -> dict[tuple[tuple[int, int], ...], int]:
        """Return the place of every coefficient in the family."""
        family = self.family
        return {tuple(zip(*family.coefficient(index), strict=True)): index for index in range(len(family))}

    def _length(self, view: View) -> int:
        return 1 << sum(bits_of(self.family.sizes[one]) for one in view)

    @property
    def _stretch(self) -> float:
        mechanism: Any = self.family.mechanism
        return 1 / float(mechanism.p - mechanism.q)


def _cells(sizes: list[int]) -> Ints:
    """Return where the cells that there are stand among all codes of the bits of their attributes."""
    codes = np.zeros(1, np.int64)
    for size in sizes:
        codes = (codes[:, None] << bits_of(size) | np.arange(size)).ravel()
    return codes
