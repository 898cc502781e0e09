"""Square Wave: report a bucket near the true one more likely than one far from it, and recover the whole distribution.

The choice for the distribution of a number, its quantiles and its shape; for the mean alone take the hybrid mechanism.
Index i is bucket i of ``size`` equal ones, and a report is one of ``size + 2 reach`` buckets that are as wide, the
first ``reach`` of which lie below the range.  With a reach of 0 it is generalised randomised response.

Prefer many buckets, 256 or more: the decoder smooths over neighbours, so that narrow peaks of few buckets come out
flat, and their errors too small.

Source: Li et al. 2020.
"""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SampledNoise
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.window import Window

if TYPE_CHECKING:
    from sottovoce.maths.em import Sliding

REPLICATES = 50
TOLERANCE = 1e-9  # EMS needs no early stop, and with 1e-7 a million users see hardly more than 100,000
_TERMS = 160  # of the series; at the largest epsilon the rest is below 1e-60


@dataclass(frozen=True)
class SquareWave(Window, kind="square_wave"):
    """Report a bucket, most likely one within ``reach`` of the true one; a reach of 0 is computed.

    >>> SquareWave(epsilon=1.0, size=1024).reach
    262
    """

    reach: int = 0

    largest = 4096

    def prepare(self) -> None:
        best = exact.scale(self.size, half_width(self.epsilon))
        self.settle("reach", int(best.to_integral_value(ROUND_FLOOR)))
        if isinstance(self.reach, bool) or not isinstance(self.reach, int) or not 0 <= self.reach <= self.size // 2:
            raise ParameterError("a reach is a whole number of buckets, at most half of them")
        super().prepare()

    @property
    def outputs(self) -> int:
        return self.size + 2 * self.reach

    @property
    def window(self) -> int:
        return 2 * self.reach + 1

    @property
    def end(self) -> float:
        return (self.size - 1) / self.size  # an index stands for the middle of its bucket

    def estimate(self, tally: Tally) -> Estimate:
        """Return how many people are in each bucket, decoded with EMS, with the errors of a parametric bootstrap.

        Replicates are drawn from the fitted distribution, seeded by the tally itself.  Their distance from the fit is
        the error, not that from their mean: smoothing flattens peaks, and so they show by how much.
        """
        from sottovoce.maths.em import em

        counts, channel = self.check_tally(tally)["outputs"], self.sliding
        end = em(counts, channel, smooth=True, tolerance=TOLERANCE)
        fit = end.frequencies
        chances = channel.forward(fit)
        again = np.random.default_rng(counts).multinomial(tally.users, chances / chances.sum(), REPLICATES)
        drawn = em(again, channel, smooth=True, tolerance=TOLERANCE).frequencies
        noise = SampledNoise(tally.users * drawn, around=tally.users * fit)
        step = "ems" if end.converged else f"ems (stopped after {int(end.iterations):,} steps)"
        return Estimate(tally.users * fit, noise, tally.users, self.epsilon, steps=(step, "bootstrap"))

    @property
    def sliding(self) -> "Sliding":
        """Return the channel in the form that decodes fast."""
        from sottovoce.maths.em import Sliding

        return Sliding(self.inside, self.outside, self.window)


def half_width(epsilon: float) -> Decimal:
    """Return b, the reach of the continuous law in parts of the range, which maximises the mutual information.

    The closed form (e epsilon - e + 1) / (2 e (e - 1 - epsilon)), e = exp(epsilon), cancels at small epsilon; all terms
    of its series are positive.

    >>> round(half_width(1.0), 10), round(half_width(1e-9), 10)
    (Decimal('0.2560829375'), Decimal('0.4999999997'))
    """
    power, term = exact.stated(epsilon), Decimal("0.5")
    above = below = Decimal(0)
    for k in range(2, _TERMS):  # term is epsilon^(k - 2) / k!
        above, below = exact.add(above, exact.scale(k - 1, term)), exact.add(below, term)
        term = exact.divide(exact.scale(term, power), k + 1)
    return exact.divide(above, exact.scale(2, exact.scale(below, exact.exp(epsilon))))
