"""AUE, appended unary encoding: everybody sends the value itself, and a coin for every value.

A person sends the value, and for every value of the domain, with probability P, one more message
with that value.

    P = 1 - 200 ln(4/delta) / (central^2 n)        share of v = c_v / n - P

    variance = P (1 - P) / n

The variance is printed without 1 / n in the dissertation.  **There is no local guarantee**: a value
that one person sends twice is that person's value, so that a shuffler sees it.  Below P = 1/2 the
noise shrinks together with P, and the central guarantee is lost; such a target is refused.

Source: Wang 2021, section 9.3.4; Balcer and Cheu 2020.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.base import PublishedClaim, ShuffledOracle
from sottovoce.maths import exact

MIN_CHANCE = 0.5  # the least P for which the privacy claim holds


@dataclass(frozen=True)
class AppendedUnary(ShuffledOracle):
    """Values and coins in messages of their own; ``chance`` is P."""

    size: int
    chance: float
    stated: PublishedClaim

    def __post_init__(self) -> None:
        settings.whole("size", self.size, 2)
        settings.open_share("chance", self.chance)
        if self.chance < MIN_CHANCE:
            raise ParameterError(
                f"`chance` must be at least {MIN_CHANCE}: with fewer coins nothing is hidden;"
                " use more users or a larger `central`"
            )

    @property
    def claim(self) -> PublishedClaim:
        return self.stated

    def messages(self, values: Values, rng: Rng) -> Reports:
        threshold = int(self.chance * exact.UNIT)
        coins = rng.bernoulli(threshold, len(values) * self.size).reshape(-1, self.size)
        return np.concatenate([np.asarray(values), np.nonzero(coins)[1]])

    def supports(self, messages: Reports) -> Ints:
        return np.bincount(messages, minlength=self.size).astype(np.int64)

    def shares(self, supports: Ints, batch: ShuffledBatch) -> Floats:
        return np.asarray(supports / batch.users - self.chance)

    def variances(self, shares: Floats, batch: ShuffledBatch) -> Floats:
        return np.full(len(shares), self.chance * (1 - self.chance) / batch.users)

    def draw_supports(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Ints:
        coins = generator.binomial(truth.sum(), self.chance, len(truth))
        return np.asarray(truth + coins)


def aue(target: PublishedTarget, size: int) -> AppendedUnary:
    """Return AUE for a central target.

    >>> aue(PublishedTarget(1.0, 602_325, 1e-9), 915).claim.local is None
    True
    """
    spared = 200 * log(4 / target.delta) / (target.central**2 * target.users)
    claim = PublishedClaim(target.central, target.delta, None)
    return AppendedUnary(size, max(1 - spared, 1e-12), claim)
