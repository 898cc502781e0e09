"""Unary encoding: one bit per value of the domain, each randomised by itself.

SUE, OUE and THE share this code and differ only in their two probabilities: the bit of the user's
value is set with probability p, every other bit with probability q.  Two values differ in two bits:

    worst ratio = p (1 - q) / (q (1 - p))

A report is a row of packed bits, least significant bit first.  The bits of a user err
independently, so a sum over values needs no covariance.

Source: Wang 2021, section 3.3.3.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Bools, Bytes, Floats, Ints, Reports, Values
from sottovoce.core.empty_band import IndependentSupports
from sottovoce.core.interval_counts import ExactLaw, interval_counts
from sottovoce.core.noise import IndependentNoise
from sottovoce.core.packing import bit_rows, bits_at, own_bits, pack_bits, unpack_bits
from sottovoce.core.plausibility import FALSE_ALARM, PairLaw, PlausibilityTest
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.chosen_bits import bits_with

# Random words that a block of users draws together.  Never change it: within a block the keep draws
# of all users follow their flip draws, so it fixes the order of draws.
MAX_BLOCK_WORDS = 1 << 20
MAX_LISTED_BITS = 16  # of reports that can all be listed


@dataclass(frozen=True)
class Unary(PureMechanism):
    """Set the held bit with probability ``keep``, every other bit with ``flip``, both of 2^64."""

    epsilon: float
    size: int
    keep: int = threshold()
    flip: int = threshold()

    max_size = MAX_BLOCK_WORDS  # one bit each: hash larger domains

    @abstractmethod
    def probabilities(self) -> tuple[Decimal, Decimal]:
        """Return p and q before they are rounded to thresholds."""

    def prepare(self) -> None:
        p, q = self.probabilities()
        # A smaller p and a larger q both lower the worst ratio.
        self.set_default("keep", exact.threshold_below(p))
        self.set_default("flip", exact.threshold_above(q))

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return self.flip / exact.UNIT

    @property
    def noise(self) -> IndependentNoise:
        law = IndependentSupports(self.q)
        return replace(IndependentNoise.of(self.p, self.q), band_supports=law)

    @property
    def worst_ratio(self) -> Fraction:
        # One value's bit is set and the other's is not; other bits have the same law under both.
        both_true = self.keep * (exact.UNIT - self.flip)
        both_false = self.flip * (exact.UNIT - self.keep)
        return Fraction(both_true, both_false)

    @property
    def share(self) -> float:
        # In the blanket every bit is set with probability q, independently of the others.
        return self.q

    @property
    def overlap(self) -> float:
        return self.q

    @property
    def width(self) -> int:
        return -(-self.size // 8)

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one packed row per value.

        The order of draws never changes.  Users come in blocks of max(1, 2^20 // size).  A block
        takes ``size`` flip draws for each of its users in turn, then one keep draw for each.  So a
        user alone takes ``size`` flip draws and one keep draw, whatever the value.
        """
        blocks = [self._randomize(block, rng) for block in self.blocks(self.check(values))]
        return np.concatenate(blocks)

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        """Return packed rows of which every bit is set as that of a value nobody holds."""
        blocks = [self._draw_unheld(len(block), rng) for block in self.blocks(np.arange(count))]
        return np.concatenate(blocks)

    def draw_uniform(self, count: int, rng: Rng) -> Reports:
        """Return packed rows of fair coins."""
        fair = exact.UNIT // 2
        blocks = [
            pack_bits(rng.bernoulli(fair, len(block) * self.size).reshape(-1, self.size))
            for block in self.blocks(np.arange(count))
        ]
        return np.concatenate(blocks)

    def draw_supporting(self, wanted: Values, tries: int, rng: Rng) -> Reports:
        """Return rows with the bits of all wanted values.

        Other bits are set at random, so that a row has as many ones as an honest one has on
        average: p + (size - 1) q.
        """
        weight = int(self.p + (self.size - 1) * self.q)
        blocks = [
            pack_bits(bits_with(block, max(weight, wanted.shape[1]), self.size, rng))
            for block in self.blocks(wanted)
        ]
        return np.concatenate(blocks)

    def supports_own(self, reports: Reports, values: Values) -> Bools:
        return own_bits(reports, values)

    def blocks(self, users: Reports) -> Iterator[Reports]:
        """Yield as many users at a time as may draw one word per bit together."""
        step = max(1, MAX_BLOCK_WORDS // self.size)
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

    @property
    def pair_law(self) -> PairLaw:
        return PairLaw(self.p * self.q, self.q**2)  # bits are independent

    def evidence(self, reports: Reports) -> Tally:
        """Return how many reports have each number of ones, whose law no value changes."""
        weights = np.bitwise_count(reports).sum(axis=1, dtype=np.int64)
        counts = np.bincount(weights, minlength=self.size + 1).astype(np.int64)
        return Tally(f"weights({self.key})", len(reports), {"weights": counts})

    def plausibility(
        self, evidence: Tally, *, fakes: int = 0, alpha: float = FALSE_ALARM
    ) -> tuple[PlausibilityTest, ...]:
        law = self._weight_law(fakes / evidence.users)
        return (interval_counts("weights", evidence["weights"], ExactLaw.of(law), alpha),)

    def _weight_law(self, fake_share: float) -> Floats:
        """Return the probability of each number of ones, where a share is drawn as blanket."""
        from scipy.stats import binom

        ones = np.arange(self.size + 1)
        unheld = binom.pmf(ones, self.size - 1, self.q)
        people = (1 - self.p) * unheld + self.p * np.r_[0.0, unheld[:-1]]
        if not fake_share:
            return np.asarray(people)
        blanket = binom.pmf(ones, self.size, self.q)
        return np.asarray((1 - fake_share) * people + fake_share * blanket)

    def outcomes(self) -> Reports:
        if self.size > MAX_LISTED_BITS:
            raise ParameterError(
                f"reports of more than {MAX_LISTED_BITS} bits are too many to list"
            )
        packed = np.arange(1 << self.size).astype("<u2").view(np.uint8).reshape(-1, 2)
        return packed[:, : self.width]

    def likelihood(self, reports: Reports) -> Floats:
        bits = unpack_bits(reports, self.size)
        if_held = np.where(bits, self.p, 1 - self.p)
        if_unheld = np.where(bits, self.q, 1 - self.q)
        return np.asarray(if_unheld.prod(axis=1, keepdims=True) * if_held / if_unheld)

    def _draw_unheld(self, count: int, rng: Rng) -> Bytes:
        return pack_bits(rng.bernoulli(self.flip, count * self.size).reshape(-1, self.size))

    def _randomize(self, values: Values, rng: Rng) -> Bytes:
        bits = rng.bernoulli(self.flip, len(values) * self.size).reshape(-1, self.size)
        bits[np.arange(len(values)), values] = rng.bernoulli(self.keep, len(values))
        return pack_bits(bits)
