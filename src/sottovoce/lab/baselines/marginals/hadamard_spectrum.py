"""Hadamard coefficients: everybody reports one parity.

A marginal is a signed sum of a few coefficients.

A marginal of some attributes needs only the coefficients that touch no other attribute.  InpHT
draws from all coefficients that marginals of the order need; it is the best unbiased method for
attributes of two values.  MargHT draws a set of attributes first and then a coefficient of it.

Source: Cormode 2018, section 4.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.parities import Parities, bits_of
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.marginal_table import MarginalTable, View, shape_of
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected, yes_counts


def ask_parity(
    epsilon: float, sizes: tuple[int, ...], order: int, *, within: bool = False
) -> Choice:
    """Return the question about one coefficient; with ``within`` it is that of MargHT."""
    return Choice(Parities(GRR(epsilon, 2), sizes, order, within))


@dataclass(frozen=True, eq=False)
class HadamardSpectrum:
    """For every coefficient of a family how often it was asked, and how many parities were odd."""

    family: Parities
    times: Ints
    ones: Ints

    @classmethod
    def read(cls, collected: Collected) -> "HadamardSpectrum":
        """Return the coefficients of a collection of one round."""
        ask: Any = collected.rounds[0].ask
        times, ones = yes_counts(collected, 0)
        return cls(ask.members, times, ones)

    @property
    def users(self) -> int:
        return int(self.times.sum())

    @cached_property
    def signs(self) -> Floats:
        """Return the estimated mean sign of every coefficient, 0 where nobody was asked."""
        asked = self.times > 0
        zeros = np.zeros(len(self.times))
        reported = np.divide(self.times - 2 * self.ones, self.times, out=zeros, where=asked)
        return np.asarray(self._stretch * reported)

    @cached_property
    def variances(self) -> Floats:
        """Return the variances of the signs, 1 where nobody was asked.

            (c^2 - 1 + (n - m) / (n - 1) (1 - w^2)) / m

        with n users, m of them asked, the sign w and the stretch c.
        """
        others = (self.users - self.times) / max(self.users - 1, 1)
        sampling = others * (1 - np.clip(self.signs, -1, 1) ** 2)
        noise = self._stretch**2 - 1 + sampling
        unknown = np.ones(len(self.times))
        return np.divide(noise, self.times, out=unknown, where=self.times > 0)

    def unbiased(self, view: View) -> MarginalTable:
        """Return the same table: it is unbiased."""
        return self.table(view)

    def table(self, view: View) -> MarginalTable:
        """Return the table of a view from all coefficients within it."""
        family = self.family
        if not view or len(view) > family.order:
            raise ParameterError(f"`view` must have from 1 to {family.order} attributes")
        if not family.within:
            return self._table(view, self.coefficients_within(view))
        if len(view) < family.order:
            return self._pooled.table(view)
        coefficients = family.start(view) + np.arange(self._code_count(view) - 1)
        return self._table(view, coefficients)

    @cached_property
    def _pooled(self) -> "HadamardSpectrum":
        """Return the coefficients pooled over all sets of attributes in which they were asked."""
        family = self.family
        pooled = Parities(family.mechanism, family.sizes, family.order)
        numbers = {pooled.coefficient(index): index for index in range(len(pooled))}
        pooled_index = [numbers[family.coefficient(index)] for index in range(len(family))]
        times = np.bincount(pooled_index, self.times, len(pooled)).astype(np.int64)
        ones = np.bincount(pooled_index, self.ones, len(pooled)).astype(np.int64)
        return HadamardSpectrum(pooled, times, ones)

    def _table(self, view: View, coefficients: Ints) -> MarginalTable:
        """Return the table: shares 2^-b sum (-1)^(a.g) w_a of independent coefficients w_a."""
        sizes = shape_of(self.family.sizes, view)
        code_count = self._code_count(view)
        signs = np.concatenate([[1.0], self.signs[coefficients]])
        variances = np.concatenate([[0.0], self.variances[coefficients]])
        codes = _codes(sizes)
        shares = transform(signs)[codes].reshape(sizes) / code_count
        covariance = transform(variances)[codes[:, None] ^ codes] / code_count**2
        return MarginalTable(view, shares, covariance)

    def coefficients_within(self, view: View) -> Ints:
        """Return the coefficients within a view, in the order of its spectrum from 1 on."""
        bits = [bits_of(self.family.sizes[attribute]) for attribute in view]
        coefficients = []
        for position in range(1, self._code_count(view)):
            masks = []
            rest = position
            for width in reversed(bits):
                masks.append(rest & ((1 << width) - 1))
                rest >>= width
            touched = [pair for pair in zip(view, reversed(masks), strict=True) if pair[1]]
            coefficients.append(self._numbers[tuple(touched)])
        return np.array(coefficients, np.int64)

    @cached_property
    def _numbers(self) -> dict[tuple[tuple[int, int], ...], int]:
        """Return the index of every coefficient in the family."""
        family = self.family
        return {
            tuple(zip(*family.coefficient(index), strict=True)): index
            for index in range(len(family))
        }

    def _code_count(self, view: View) -> int:
        """Return how many codes the bits of all attributes of a view have together."""
        return 1 << sum(bits_of(self.family.sizes[attribute]) for attribute in view)

    @property
    def _stretch(self) -> float:
        mechanism: Any = self.family.mechanism
        return 1 / float(mechanism.p - mechanism.q)


def _codes(sizes: tuple[int, ...]) -> Ints:
    """Return the codes of all cells: the bits of every attribute's value, one after another."""
    codes = np.zeros(1, np.int64)
    for size in sizes:
        codes = (codes[:, None] << bits_of(size) | np.arange(size)).ravel()
    return codes
