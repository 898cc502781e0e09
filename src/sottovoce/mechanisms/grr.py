"""Generalised randomised response: report the true value, or a uniformly random other one.

Preferred for small domains, size < 3 e^epsilon + 2.  Beyond that its variance, which grows with the
size of the domain, exceeds that of unary encoding and hashing, which does not.  Also known as
direct encoding and as k-ary randomised response.

Source: Wang 2021, section 3.3.1.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.empty_band import UniformSets
from sottovoce.core.influence import SizedSetInfluence
from sottovoce.core.noise import BalancedNoise
from sottovoce.core.packing import below, index_bytes, rows, unsigned
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import PureMechanism, threshold

if TYPE_CHECKING:
    from sottovoce.maths.em import Dense

MAX_FILTERED = 64  # categories whose reports the filters of numbers decode


@dataclass(frozen=True)
class GRR(PureMechanism, kind="grr"):
    """Generalised randomised response.

    With probability p the report is the user's value, otherwise any other value with equal
    probability:

        p = e^epsilon / (e^epsilon + size - 1)        q = (1 - p) / (size - 1)

    so that p / q = e^epsilon.  ``keep`` is p in units of 2^-64, rounded down.

    >>> round(GRR(epsilon=1.0, size=4).p, 3)
    0.475
    """

    epsilon: float
    size: int
    keep: int = threshold()

    def prepare(self) -> None:
        # p = e^epsilon / (e^epsilon + size - 1); a smaller p spends less
        odds = exact.exp(self.epsilon)
        self.set_default("keep", exact.threshold_below(odds / (odds + self.size - 1)))

    @property
    def p(self) -> float:
        return self.keep / exact.UNIT

    @property
    def q(self) -> float:
        return (1 - self.p) / (self.size - 1)

    @property
    def worst_ratio(self) -> Fraction:
        # p / q
        return Fraction(self.keep * (self.size - 1), exact.UNIT - self.keep)

    def worst_ratio_of_sample(self, length: int) -> Fraction:
        # A report y has the probability q + (p - q) s, where s is the probability that y was drawn.
        # For every set s lies between 0 and 1 / length, so the ratio is 1 + (p / q - 1) / length.
        return 1 + (self.worst_ratio - 1) / length

    @property
    def share(self) -> float:
        # The blanket is uniform over the values, and a report supports one of them.
        return 1 / self.size

    @property
    def noise(self) -> BalancedNoise:
        law = UniformSets(self.p, self.size, 1)
        return replace(BalancedNoise.subsets(self.p, self.size, 1), band_supports=law)

    @property
    def influence_law(self) -> SizedSetInfluence:
        return SizedSetInfluence(self.p, self.q, 1, self.size)

    @property
    def max_supported(self) -> int:
        return 1

    @property
    def width(self) -> int:
        return index_bytes(self.size)

    def privatize(self, values: Values, rng: Rng) -> Reports:
        values = self.check(values)
        honest = rng.bernoulli(self.keep, len(values))
        others = rng.integers(self.size - 1, len(values))
        others += others >= values  # skip the true value: uniform over the remaining ones
        return np.where(honest, values, others)

    def response_to(self, value: int, rng: Rng) -> int:
        """Return the response to one value, with the draws of ``privatize``."""
        honest = rng.coin(self.keep)
        false_value = rng.integer(self.size - 1)
        if false_value >= value:
            false_value += 1  # skip the true value
        return value if honest else false_value

    def report(self, value: int, rng: Rng) -> bytes:
        return self.response_to(self.check_value(value), rng).to_bytes(self.width, "little")

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        # Every report has the probability q under all values but one.
        return rng.integers(self.size, count)

    def draw_supporting(self, wanted: Values, tries: int, rng: Rng) -> Reports:
        # A report supports one value: each is about one of its row.
        return np.asarray(
            wanted[np.arange(len(wanted)), rng.integers(wanted.shape[1], len(wanted))]
        )

    def pack(self, reports: Reports) -> bytes:
        return reports.astype(unsigned(self.size)).tobytes()

    def unpack(self, data: bytes) -> Reports:
        return below(self.size, rows(data, unsigned(self.size))).astype(np.int64)

    def support(self, reports: Reports, candidates: Values) -> Bools:
        return np.asarray(reports[:, None] == candidates)

    def output_counts(self, tally: Tally) -> Ints:
        return self.check_tally(tally)["support"]

    @property
    def output_channel(self) -> "Dense":
        from sottovoce.maths.em import Dense

        if self.size > MAX_FILTERED:
            raise ParameterError(
                f"reports of more than {MAX_FILTERED} categories cannot be filtered: in so many,"
                " honest and false reports of one category look alike"
            )
        return Dense(self.likelihood(self.outcomes()))

    def count(self, reports: Reports, candidates: Values) -> Ints:
        return np.bincount(reports, minlength=self.size)[candidates].astype(np.int64)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        # A report supports one value, so its sum of coefficients is a look-up.
        sums = coefficients[reports]
        return np.asarray((sums - self.q * coefficients.sum()) / (self.p - self.q))

    def outcomes(self) -> Reports:
        return np.arange(self.size)

    def likelihood(self, reports: Reports) -> Floats:
        return np.where(self.support(reports, np.arange(self.size)), self.p, self.q)
