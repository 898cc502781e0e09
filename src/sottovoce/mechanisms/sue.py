"""Symmetric unary encoding, also known as Basic RAPPOR: every bit lies with the same probability f / 2.

Prefer OUE for one question; prefer this one for the same question asked again and again.  A device then remembers its
*permanent* response to a value, or draws it anew from the same ``KeyedRng``, and sends *instantaneous* responses to it:
however many are averaged, they lead to the permanent response and no further.  Every distinct value has a permanent
response of its own, and their epsilons add up.  The f of RAPPOR is 2 / (1 + exp(epsilon / 2)).

Source: Wang 2021, sections 3.1.1 and 3.3.3.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Bytes, Reports, Values
from sottovoce.core.packing import pack_bits, unpack_bits
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import threshold
from sottovoce.mechanisms.unary import Unary


@dataclass(frozen=True)
class SUE(Unary, kind="sue"):
    """Report a row of bits, each true with probability ``p``.

    ``second_keep`` and ``second_flip`` are the instantaneous thresholds for a permanent 1 and 0; both 0 leave that
    round out.  ``epsilon`` and ``worst_ratio`` are those of the permanent response, because that is what reports of
    one value reveal together and what is charged; ``epsilon_once`` is what a single report reveals.

    >>> rappor = SUE(epsilon=2.1972245773362196, size=4, second_keep=3 << 62, second_flip=1 << 62)
    >>> round(rappor.p, 9), round(rappor.q, 9), round(rappor.epsilon_once, 4)
    (0.625, 0.375, 1.0217)
    """

    second_keep: int = threshold()
    second_flip: int = threshold()

    def ideal(self) -> tuple[Decimal, Decimal]:
        odds = exact.exp(exact.divide(exact.stated(self.epsilon), 2))
        return exact.divide(odds, exact.add(odds, 1)), exact.divide(1, exact.add(odds, 1))

    def prepare(self) -> None:
        super().prepare()
        alone = self.second_keep == self.second_flip == 0
        if not alone and not 0 < self.second_flip < self.second_keep < exact.UNIT:
            raise ParameterError("an instantaneous round sets a permanent 1 more often than a 0, never always or never")

    @property
    def p(self) -> float:
        return float(self._reported(self.keep))

    @property
    def q(self) -> float:
        return float(self._reported(self.flip))

    @property
    def epsilon_once(self) -> float:
        """Return the epsilon of one report to somebody who sees no other."""
        p, q = self._reported(self.keep), self._reported(self.flip)
        return float(exact.log(p * (1 - q) / (q * (1 - p))))

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one packed row per value: all permanent draws, then all instantaneous ones."""
        return self.instantaneous(self.permanent(values, rng), rng)

    def permanent(self, values: Values, rng: Rng) -> Reports:
        """Return the response to remember, drawn in the frozen order of ``Unary.privatize``."""
        return super().privatize(values, rng)

    def instantaneous(self, rows: Reports, rng: Rng) -> Reports:
        """Return a fresh response to permanent ones, one word per bit, user by user; the rows themselves without it."""
        if not self.second_keep:
            return rows
        return np.concatenate([self._again(block, rng) for block in self.blocks(rows)])

    def _again(self, rows: Reports, rng: Rng) -> Bytes:
        words = rng.longs(len(rows) * self.size).reshape(-1, self.size)
        ones = (words < np.uint64(self.second_keep)) & unpack_bits(rows, self.size)
        return pack_bits(ones | (words < np.uint64(self.second_flip)))  # below flip is below keep as well

    def _reported(self, first: int) -> Fraction:
        """Return the chance to report a bit that the permanent response sets with this threshold."""
        if not self.second_keep:
            return exact.probability(first)
        ones = first * self.second_keep + (exact.UNIT - first) * self.second_flip
        return Fraction(ones, exact.UNIT**2)
