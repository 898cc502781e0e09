"""SH: generalised randomised response, shuffled.  A message is a value.

For a central target the local epsilon follows from e^local = m - d + 1; below m = d nothing is
amplified, and the reports are those of plain randomised response with the central epsilon.  A fake
is a uniform value.

Source: Wang 2021, section 9.2.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Reports, Values
from sottovoce.core.rng import Rng
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.base import PublishedClaim, PureOracle
from sottovoce.mechanisms.grr import GRR


@dataclass(frozen=True)
class DirectReports(PureOracle):
    """Shuffled reports of generalised randomised response."""

    mechanism: GRR

    def messages(self, values: Values, rng: Rng) -> Reports:
        return self.mechanism.privatize(values, rng)

    def fakes(self, count: int, rng: Rng) -> Reports:
        return rng.integers(self.mechanism.size, count)

    def supports(self, messages: Reports) -> Ints:
        return self.mechanism.count(messages, np.arange(self.mechanism.size))

    def draw_supports(self, truth: Ints, fakes: int, generator: np.random.Generator) -> Ints:
        """Draw by the joint law: a report is the value with probability p - q, else uniform."""
        honest = generator.binomial(truth, self.mechanism.p - self.mechanism.q)
        uniform = int(truth.sum() - honest.sum()) + fakes
        cells = np.full(len(truth), 1 / len(truth))
        return np.asarray(honest + generator.multinomial(uniform, cells))


def sh(target: PublishedTarget, size: int, *, fallback: bool = True) -> DirectReports:
    """Return SH for a central target.

    >>> round(sh(PublishedTarget(1.0, 602_325, 1e-9), 915).mechanism.epsilon, 3)
    6.998
    """
    local = target.amplified(target.m - size + 1, fallback)
    claim = PublishedClaim(target.central, target.delta, local)
    return DirectReports(GRR(local, size), claim)
