"""Symmetric unary encoding, also known as Basic RAPPOR: every bit is flipped with one probability.

    p = s / (s + 1)        q = 1 / (s + 1)        s = e^(epsilon / 2)

so that q = f / 2 with RAPPOR's f = 2 / (1 + s).  Prefer OUE for a question that is asked once, and
SUE for a question that is asked again and again.  A device then remembers its *permanent* response
to a value, or draws it anew from the same ``KeyedRng``, and sends *instantaneous* responses to it.
However many of these are averaged, they reveal the permanent response and nothing more.  Every
distinct value has a permanent response of its own, and their epsilons add up.

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

    ``second_keep`` and ``second_flip`` are the thresholds with which the instantaneous response
    sets a permanent 1 and a permanent 0; if both are 0, there is no instantaneous response.
    ``epsilon`` and ``worst_ratio`` are those of the permanent response.  All reports of one value
    together reveal as much, and the ledger charges it.  ``epsilon_once`` is the epsilon of a single
    report.

    >>> rappor = SUE(epsilon=2.1972245773362196, size=4, second_keep=3 << 62, second_flip=1 << 62)
    >>> round(rappor.p, 9), round(rappor.q, 9), round(rappor.epsilon_once, 4)
    (0.625, 0.375, 1.0217)
    """

    second_keep: int = threshold()
    second_flip: int = threshold()

    def probabilities(self) -> tuple[Decimal, Decimal]:
        # s = e^(epsilon / 2),  p = s / (s + 1),  q = 1 / (s + 1)
        s = exact.exp(exact.stated(self.epsilon) / 2)
        return s / (s + 1), 1 / (s + 1)

    def prepare(self) -> None:
        super().prepare()
        if not self.second_keep and not self.second_flip:
            return
        if not 0 < self.second_flip < self.second_keep:
            raise ParameterError(
                "`second_flip` must be above 0 and below `second_keep`:"
                " an instantaneous response sets a permanent 1 more often than a 0"
            )

    @property
    def p(self) -> float:
        return float(self._reported(self.keep))

    @property
    def q(self) -> float:
        return float(self._reported(self.flip))

    @property
    def epsilon_once(self) -> float:
        # The worst ratio of unary encoding with the p and q of both responses together.
        p = self._reported(self.keep)
        q = self._reported(self.flip)
        return float(exact.log(p * (1 - q) / (q * (1 - p))))

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one packed row per value: all permanent draws come first, then all others."""
        return self.instantaneous(self.permanent(values, rng), rng)

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        return self.instantaneous(super().draw_blanket(count, rng), rng)

    def permanent(self, values: Values, rng: Rng) -> Reports:
        """Return the responses to remember, drawn in the fixed order of ``Unary.privatize``."""
        return super().privatize(values, rng)

    def instantaneous(self, reports: Reports, rng: Rng) -> Reports:
        """Return fresh responses to permanent ones; one word per bit is drawn, user by user."""
        if not self.second_keep:
            return reports
        blocks = [self._randomize_again(block, rng) for block in self.blocks(reports)]
        return np.concatenate(blocks)

    def _randomize_again(self, permanent: Reports, rng: Rng) -> Bytes:
        words = rng.longs(len(permanent) * self.size).reshape(-1, self.size)
        kept_ones = (words < np.uint64(self.second_keep)) & unpack_bits(permanent, self.size)
        # second_flip is below second_keep, so that this condition also holds for permanent ones.
        return pack_bits(kept_ones | (words < np.uint64(self.second_flip)))

    def _reported(self, first: int) -> Fraction:
        """Return the probability of a 1 where the permanent bit is 1 with this threshold."""
        if not self.second_keep:
            return exact.probability(first)
        ones = first * self.second_keep + (exact.UNIT - first) * self.second_flip
        return Fraction(ones, exact.UNIT**2)
