"""Thresholding with histogram encoding: add Laplace noise to every bit, report which exceed theta.

A baseline: always better than summing the noisy histograms (SHE), always worse than OUE.  With
noise of scale 2 / epsilon, a bit of the held value (1 + noise) and of any other value (noise)
exceeds theta with the probabilities

    p = 1 - e^(epsilon (theta - 1) / 2) / 2        q = e^(-epsilon theta / 2) / 2

The device draws the thresholded bits directly, so that there is no floating-point noise.

The budget is not spent whole.  Epsilon pays for the noisy histogram, while the bits reveal only p
(1 - q) / (q (1 - p)) < e^epsilon.  Giving the bits all of epsilon would be another unary encoding.
So the stated and charged epsilon is that of the noise.

Source: Wang 2021, section 3.3.2.
"""

from dataclasses import dataclass
from decimal import Decimal
from math import exp, log, sqrt

from sottovoce.core import settings
from sottovoce.maths import exact
from sottovoce.mechanisms.unary import Unary


@dataclass(frozen=True)
class THE(Unary, kind="the"):
    """Report a row of bits; a ``theta`` of 0 means the most accurate one.

    >>> THE(epsilon=1.0, size=4).theta
    0.618553
    """

    theta: float = 0.0

    def prepare(self) -> None:
        self.set_default("theta", best_theta(self.epsilon))
        object.__setattr__(self, "theta", settings.positive("theta", self.theta, 1))
        super().prepare()

    def probabilities(self) -> tuple[Decimal, Decimal]:
        # p = 1 - P[noise <= theta - 1],  q = P[noise <= -theta]
        theta = exact.stated(self.theta)
        return 1 - self._lower_tail(theta - 1), self._lower_tail(-theta)

    def _lower_tail(self, bound: Decimal) -> Decimal:
        """Return P[noise <= bound] of Laplace noise of scale 2 / epsilon, for bound <= 0."""
        # e^(epsilon bound / 2) / 2
        return exact.exp(exact.stated(self.epsilon) * bound / 2) / 2


def best_theta(epsilon: float) -> float:
    """Return the theta with the smallest variance for rare values, to six decimals.

    With a = e^(epsilon theta / 2) and b = e^(-epsilon / 2) that variance is

        (2 a - 1) / (1 + b a^2 - 2 a)^2

    per user, and its derivative is zero where 3 b a^2 - 2 (1 + b) a + 1 is.
    """
    b = exp(-epsilon / 2)
    a = (1 + b + sqrt(1 - b + b * b)) / (3 * b)
    return round(2 * log(a) / epsilon, 6)
