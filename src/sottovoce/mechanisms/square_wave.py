"""Square Wave: report a bucket near the true one more likely than one far from it.

Choose it for the distribution of a number, its quantiles and its shape; for the mean alone choose
the hybrid mechanism.  Index i is bucket i of ``size`` equal ones.  A report is one of ``size + 2
reach`` buckets of the same width, the first ``reach`` of which lie below the range, and the window
around the true bucket has 2 reach + 1 buckets.  With e = e^epsilon the reach that maximises the
mutual information is, in parts of the range,

    b = (epsilon e - e + 1) / (2 e (e - 1 - epsilon))

With a reach of 0 it is generalised randomised response.  EM with smoothing (EMS) recovers the
distribution.  Prefer many buckets, 256 or more: the decoder smooths over neighbours, so that narrow
peaks of few buckets come out flat, and their errors too small.

Source: Li et al. 2020.
"""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SampledNoise
from sottovoce.core.tally import Tally
from sottovoce.maths import exact
from sottovoce.mechanisms.window import WindowMechanism

if TYPE_CHECKING:
    from sottovoce.maths.em import Sliding

REPLICATES = 50
TOLERANCE = 1e-9  # with 1e-7 a million users would see hardly more than 100,000 do
_TERMS = 160  # of the series; at the largest epsilon the rest is below 1e-60


@dataclass(frozen=True)
class SquareWave(WindowMechanism, kind="square_wave"):
    """Report a bucket, most likely one within ``reach`` of the true one; a reach of 0 is computed.

    >>> SquareWave(epsilon=1.0, size=1024).reach
    262
    """

    reach: int = 0

    max_size = 4096

    def prepare(self) -> None:
        best = self.size * half_width(self.epsilon)
        self.set_default("reach", int(best.to_integral_value(ROUND_FLOOR)))
        settings.whole("reach", self.reach, 0, self.size // 2)
        super().prepare()

    @property
    def outputs(self) -> int:
        return self.size + 2 * self.reach

    @property
    def window(self) -> int:
        return 2 * self.reach + 1

    @property
    def end(self) -> float:
        return (self.size - 1) / self.size  # an index means the middle of its bucket

    def estimate(self, tally: Tally) -> Estimate:
        """Return how many people are in each bucket, with the errors of a parametric bootstrap.

        Replicates are drawn from the fitted distribution, seeded by the tally itself.  Their
        distance from the fit is the error, not that from their mean: smoothing flattens peaks, and
        the distance shows by how much.
        """
        from sottovoce.maths.em import em

        counts = self.check_tally(tally)["outputs"]
        channel = self.sliding
        fit = em(counts, channel, smooth=True, tolerance=TOLERANCE)
        chances = channel.forward(fit.frequencies)
        generator = np.random.default_rng(counts)
        redrawn = generator.multinomial(tally.users, chances / chances.sum(), REPLICATES)
        refitted = em(redrawn, channel, smooth=True, tolerance=TOLERANCE).frequencies
        totals = tally.users * fit.frequencies
        noise = SampledNoise(tally.users * refitted, around=totals)
        step = "ems" if fit.converged else f"ems (stopped after {int(fit.iterations):,} steps)"
        return Estimate(totals, noise, tally.users, self.epsilon, steps=(step, "bootstrap"))

    @property
    def output_channel(self) -> "Sliding":
        return self.sliding

    @property
    def sliding(self) -> "Sliding":
        """Return the channel in the form that decodes fast."""
        from sottovoce.maths.em import Sliding

        return Sliding(self.inside, self.outside, self.window)


def half_width(epsilon: float) -> Decimal:
    """Return b, the best reach of the continuous law in parts of the range.

    The closed form cancels at small epsilon.  Divided by epsilon^2, its numerator and denominator
    have the series

        sum of (k - 1) epsilon^(k - 2) / k!        2 e^epsilon * sum of epsilon^(k - 2) / k!

    over k from 2, whose terms are all positive.

    >>> round(half_width(1.0), 10), round(half_width(1e-9), 10)
    (Decimal('0.2560829375'), Decimal('0.4999999997'))
    """
    with exact.sixty_digits():
        power = exact.stated(epsilon)
        term = Decimal("0.5")  # epsilon^(k - 2) / k!
        numerator = Decimal(0)
        denominator = Decimal(0)
        for k in range(2, _TERMS):
            numerator += (k - 1) * term
            denominator += term
            term = term * power / (k + 1)
        return numerator / (2 * (denominator * exact.exp(epsilon)))
