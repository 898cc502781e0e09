"""Thresholding with histogram encoding: add Laplace noise to every bit, and report which exceed theta.

A baseline: always better than summing the noisy histograms (SHE), always worse than OUE.  The device draws the
thresholded bits directly, so that no floating-point noise exists.

It does not spend its budget whole.  Epsilon pays for the noisy histogram; the bits reveal less of it, only
p (1 - q) / (q (1 - p)) < exp(epsilon), and the rest is lost.  Giving the bits all of epsilon would be another unary
encoding, not this one; so epsilon is stated and charged as that of the noise.

Source: Wang 2021, section 3.3.2.
"""

from dataclasses import dataclass
from decimal import Decimal
from math import exp, log, sqrt

from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.unary import Unary


@dataclass(frozen=True)
class THE(Unary, kind="the"):
    """Report a row of bits; a theta of 0 stands for the most accurate one.

    >>> THE(epsilon=1.0, size=4).theta
    0.618553
    """

    theta: float = 0.0

    def prepare(self) -> None:
        self.settle("theta", best_theta(self.epsilon))
        if not 0 < self.theta <= 1:
            raise ParameterError("theta lies above 0 and is at most 1")
        object.__setattr__(self, "theta", float(self.theta))
        super().prepare()

    def ideal(self) -> tuple[Decimal, Decimal]:
        theta = exact.stated(self.theta)
        missed, false = self._tail(exact.add(theta, -1)), self._tail(exact.scale(-1, theta))
        return exact.add(1, exact.scale(-1, missed)), false

    def _tail(self, drop: Decimal) -> Decimal:
        """Return the chance that Laplace noise of scale 2 / epsilon is at most ``drop``, which is not positive."""
        return exact.divide(exact.exp(exact.divide(exact.scale(exact.stated(self.epsilon), drop), 2)), 2)


def best_theta(epsilon: float) -> float:
    """Return the theta of the smallest variance for rare values, to six decimals.

    With a = exp(epsilon theta / 2) and b = exp(-epsilon / 2) that variance is (2 a - 1) / (1 + b a^2 - 2 a)^2 per
    user, and its derivative is zero where 3 b a^2 - 2 (1 + b) a + 1 is.
    """
    b = exp(-epsilon / 2)
    a = (1 + b + sqrt(1 - b + b * b)) / (3 * b)
    return round(2 * log(a) / epsilon, 6)
