"""Subset selection: report a random set of k values that holds the true one more often than chance.

    k = size / (e^epsilon + 1)        p = k e^epsilon / (k e^epsilon + size - k)

p is the probability that the set holds the true value; the other values are drawn uniformly.  The
most accurate mechanism known, for every domain and epsilon, hence the reference that others are
measured by.  A report has one bit per value, as in unary encoding.  It is the default where it
beats GRR, up to 80 values.  Affine response comes close with ten bytes.

A report is a row of bits, least significant bit first.  Draws come in this order: whether to hold
the value, which of the chosen values is replaced by it, then a uniform subset of the other values
by Floyd's algorithm, one integer for each that is chosen.

Source: Ye and Barg 2018.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from sottovoce.arrays import Bools, Bytes, Floats, Ints, Reports, Values
from sottovoce.core import settings
from sottovoce.core.empty_band import UniformSets
from sottovoce.core.influence import SizedSetInfluence
from sottovoce.core.noise import BalancedNoise
from sottovoce.core.packing import bit_rows, bits_at, own_bits, pack_bits
from sottovoce.core.plausibility import PairLaw
from sottovoce.core.rng import Rng
from sottovoce.errors import CodecError, ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import PureMechanism, threshold
from sottovoce.mechanisms.chosen_bits import bits_with

_MAX_BLOCK_BITS = 1 << 20  # bits of chosen sets that are in memory together
MAX_LISTED_SIZE = 16  # of a domain whose reports can all be listed


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

    max_size = 1 << 16

    def prepare(self) -> None:
        odds = exact.exp(self.epsilon)
        # k = size / (e^epsilon + 1)
        self.set_default("chosen", max(1, round(self.size / (odds + 1))))
        settings.whole("chosen", self.chosen, 1, self.size - 1)
        # p = k e^epsilon / (k e^epsilon + size - k)
        weight = self.chosen * odds
        keep = weight / (weight + self.size - self.chosen)
        self.set_default("keep", exact.threshold_below(keep))

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        # A set has k values, so that p + (size - 1) q = k.
        return (self.chosen - self.p) / (self.size - 1)

    @property
    def pair_law(self) -> PairLaw | None:
        if self.size < 3:
            return None
        # A set of k values has k - 1 others, or k (k - 1) ordered pairs.
        others = self.size - 1
        one_held = self.p * (self.chosen - 1) / others
        pairs = (self.chosen - 1) * (self.chosen - 2 * self.p)
        # All sets have k values, so that the scores of the pairs of a value sum to 0: d (d - 1) / 2
        # scores of variance 1 lie in d (d - 3) / 2 dimensions.
        spread = others / (self.size - 3) if self.size > 3 else 1.0
        return PairLaw(one_held, pairs / (others * (others - 1)), spread)

    @property
    def worst_ratio(self) -> Fraction:
        # Each set with the value has p / C(size - 1, k - 1), each other one (1 - p) / C(size - 1,
        # k).
        others = self.size - self.chosen
        return Fraction(self.keep * others, (exact.UNIT - self.keep) * self.chosen)

    @property
    def share(self) -> float:
        # The blanket is uniform over the sets of k values.
        return self.chosen / self.size

    @property
    def overlap(self) -> float:
        return (self.chosen - 1) / (self.size - 1)

    @property
    def noise(self) -> BalancedNoise:
        law = UniformSets(self.p, self.size, self.chosen)
        return replace(BalancedNoise.subsets(self.p, self.size, self.chosen), band_supports=law)

    @property
    def influence_law(self) -> SizedSetInfluence:
        return SizedSetInfluence(self.p, self.q, self.chosen, self.size)

    @property
    def max_supported(self) -> int:
        return self.chosen

    @property
    def width(self) -> int:
        return -(-self.size // 8)

    @property
    def steps(self) -> int:
        return self.chosen

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        holds = rng.bernoulli(self.keep, len(values))
        replaced = rng.integers(self.chosen, len(values))
        subsets, replaced_values = self._other_values(values, replaced, rng)
        holders = np.flatnonzero(holds)
        # Without one of its values a uniform subset is a uniform subset of one less.
        _toggle(subsets, holders, replaced_values[holders])
        _toggle(subsets, holders, values[holders])
        return subsets

    def report(self, value: int, rng: Rng) -> bytes:
        value = self.check_value(value)
        holds = rng.coin(self.keep)
        replaced = rng.integer(self.chosen)
        picked_values: list[int] = []
        subset: set[int] = set()
        steps = range(self.size - 1 - self.chosen, self.size - 1)
        limits = range(steps.start + 1, steps.stop + 1)
        draws = rng.integers_one_by_one(limits, self.chosen)
        for last, drawn in zip(steps, draws, strict=True):
            if drawn >= value:
                drawn += 1  # skip the held value
            if drawn in subset:
                drawn = last + (last >= value)  # and skip it here as well
            subset.add(drawn)
            picked_values.append(drawn)
        if holds:
            subset.remove(picked_values[replaced])
            subset.add(value)
        bits = 0
        for member in subset:
            bits |= 1 << member
        return bits.to_bytes(self.width, "little")

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        """Return uniform sets, by Floyd's algorithm.

        At each step a value up to ``last`` is drawn, and ``last`` itself taken if the draw is in
        the set.
        """
        fakes = np.arange(count)
        subsets = np.zeros((count, self.width), np.uint8)
        for last in range(self.size - self.chosen, self.size):
            drawn = rng.integers(last + 1, count)
            _toggle(subsets, fakes, np.where(_contains(subsets, fakes, drawn), last, drawn))
        return subsets

    def draw_supporting(self, wanted: Values, tries: int, rng: Rng) -> Reports:
        """Return sets with as many wanted values as they have room for, filled up at random."""
        step = max(1, _MAX_BLOCK_BITS // self.size)
        blocks = [wanted[start : start + step] for start in range(0, len(wanted), step)]
        drawn = [pack_bits(bits_with(block, self.chosen, self.size, rng)) for block in blocks]
        return np.concatenate(drawn)

    def supports_own(self, reports: Reports, values: Values) -> Bools:
        return own_bits(reports, values)

    def pack(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def unpack(self, data: bytes) -> Reports:
        subsets = bit_rows(data, self.size)
        if (np.bitwise_count(subsets).sum(axis=1) != self.chosen).any():
            raise CodecError(f"a report of this task must hold {self.chosen} values")
        return subsets

    def support(self, reports: Reports, candidates: Values) -> Bools:
        return bits_at(reports, candidates)

    def count(self, reports: Reports, candidates: Values) -> Ints:
        from sottovoce.kernels.unary import bit_counts

        return bit_counts(reports, self.size)[candidates]

    def outcomes(self) -> Reports:
        if self.size > MAX_LISTED_SIZE:
            raise ParameterError(f"sets of more than {MAX_LISTED_SIZE} values are too many to list")
        subsets = np.array(list(combinations(range(self.size), self.chosen)))
        return pack_bits((subsets[:, :, None] == np.arange(self.size)).any(axis=1))

    def likelihood(self, reports: Reports) -> Floats:
        if_held = self.p / comb(self.size - 1, self.chosen - 1)
        if_missing = (1 - self.p) / comb(self.size - 1, self.chosen)
        return np.where(self.support(reports, np.arange(self.size)), if_held, if_missing)

    def _other_values(self, values: Values, replaced: Ints, rng: Rng) -> tuple[Bytes, Ints]:
        """Return uniform sets of values that their users do not hold, and one value of each.

        The second result is the value that was picked at step ``replaced`` of Floyd's algorithm: at
        each step a value up to ``last`` is drawn, and ``last`` itself taken if the draw is in the
        set.
        """
        users = np.arange(len(values))
        subsets = np.zeros((len(values), self.width), np.uint8)
        replaced_values = np.zeros(len(values), np.int64)
        for step, last in enumerate(range(self.size - 1 - self.chosen, self.size - 1)):
            drawn = rng.integers(last + 1, len(values))
            drawn += drawn >= values  # skip the held value
            fallback = last + (last >= values)  # and skip it here as well
            picked = np.where(_contains(subsets, users, drawn), fallback, drawn)
            _toggle(subsets, users, picked)
            replaced_values = np.where(replaced == step, picked, replaced_values)
        return subsets, replaced_values


def _contains(subsets: Bytes, users: Ints, values: Ints) -> Bools:
    bytes_of_values = subsets[users, values >> 3]
    return np.asarray(bytes_of_values >> (values & 7).astype(np.uint8) & 1, bool)


def _toggle(subsets: Bytes, users: Ints, values: Ints) -> None:
    subsets[users, values >> 3] ^= np.uint8(1) << (values & 7).astype(np.uint8)
