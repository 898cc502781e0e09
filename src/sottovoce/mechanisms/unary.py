"""Unary encoding: one bit per value of the domain, each randomised on its own.

What SUE, OUE and THE share; they differ only in their two probabilities.  A report is a row of packed bits, least
significant bit first, and a user's bits err independently, so sums over values need no covariance.

Source: Wang 2021, section 3.3.3.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Bools, Bytes, Floats, Ints, Reports, Values
from sottovoce.core.packing import bit_rows, bits_at, pack_bits, unpack_bits
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import PureMechanism, threshold

DRAWN_AT_ONCE = 1 << 20  # words; frozen, since a block's keep draws follow its flip draws
LISTED = 16  # bits of the longest reports that can all be listed


@dataclass(frozen=True)
class Unary(PureMechanism):
    """Set the held bit with probability ``keep``, every other one with ``flip``, both of 2^64."""

    epsilon: float
    size: int
    keep: int = threshold()
    flip: int = threshold()

    largest = DRAWN_AT_ONCE  # bits of a report: hash larger domains

    @abstractmethod
    def ideal(self) -> tuple[Decimal, Decimal]:
        """Return the probabilities to keep and to flip before they are rounded."""

    def prepare(self) -> None:
        keep, flip = self.ideal()
        self.settle("keep", exact.threshold_below(keep))  # either way of rounding lowers the worst ratio
        self.settle("flip", exact.threshold_above(flip))
        if not 0 < self.flip < self.keep < exact.UNIT:
            raise ParameterError("a held bit must be set more often than another one, and neither always nor never")

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return self.flip / exact.UNIT

    @property
    def worst_ratio(self) -> Fraction:
        # One value's bit is set and the other's is not; all other bits have the same law under both.
        return Fraction(self.keep * (exact.UNIT - self.flip), self.flip * (exact.UNIT - self.keep))

    @property
    def width(self) -> int:
        return -(-self.size // 8)

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one packed row per value.

        The order of draws is frozen.  Users come in blocks of max(1, 2^20 // size); a block takes ``size`` flip
        draws for each of its users in turn, then one keep draw for each.  So one user alone takes ``size`` flip draws
        and one keep draw, whatever the value.
        """
        return np.concatenate([self._randomize(block, rng) for block in self.blocks(self.check(values))])

    def blocks(self, users: Reports) -> Iterator[Reports]:
        """Yield as many users at a time as may draw one word per bit together."""
        step = max(1, DRAWN_AT_ONCE // self.size)
        return (users[start : start + step] for start in range(0, len(users), step))

    def pack(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def unpack(self, data: bytes) -> Reports:
        return bit_rows(data, self.size)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        return bits_at(reports, candidates)

    def count(self, reports: Reports, candidates: Values) -> Ints:
        from sottovoce.kernels.unary import bit_counts

        return bit_counts(reports, self.size)[candidates]

    def outcomes(self) -> Reports:
        if self.size > LISTED:
            raise ParameterError(f"reports of more than {LISTED} bits are too many to list")
        rows = np.arange(1 << self.size).astype("<u2").view(np.uint8).reshape(-1, 2)
        return rows[:, : self.width]

    def likelihood(self, reports: Reports) -> Floats:
        bits = unpack_bits(reports, self.size)
        held, other = np.where(bits, self.p, 1 - self.p), np.where(bits, self.q, 1 - self.q)
        return np.asarray(other.prod(axis=1, keepdims=True) * held / other)

    def _randomize(self, values: Values, rng: Rng) -> Bytes:
        bits = rng.bernoulli(self.flip, len(values) * self.size).reshape(-1, self.size)
        bits[np.arange(len(values)), values] = rng.bernoulli(self.keep, len(values))
        return pack_bits(bits)
