"""What a trusted curator would add to a histogram of counts: the yardsticks for shuffled reports.

Replacing one person's value moves two counts by one: the sensitivity is 2 in the first norm and
sqrt(2) in the second.

* Laplace: scale 2 / epsilon, so that the variance of a count is 8 / epsilon^2, without a delta.
* Gaussian, calibrated exactly: with sensitivity D the deviation s is the smallest one with

      Phi(D / 2s - epsilon s / D) - e^epsilon Phi(-D / 2s - epsilon s / D) <= delta

Source: Balle and Wang 2018, section 3.
"""

from math import erfc, exp, log, sqrt

from sottovoce.accounting.targets import CentralTarget
from sottovoce.core import settings
from sottovoce.maths.crossing import crossing

_SENSITIVITY = sqrt(2)
_TOLERANCE = 1e-9  # of the deviation
_SMALLEST = 1e-300


def laplace_variance(epsilon: float) -> float:
    """Return the variance that Laplace noise adds to each count.

    >>> laplace_variance(0.5)
    32.0
    """
    return 8 / settings.epsilon("epsilon", epsilon) ** 2


def gaussian_variance(target: CentralTarget) -> float:
    """Return the least variance of Gaussian noise on each count that meets a target.

    >>> round(gaussian_variance(CentralTarget(epsilon=0.5, delta=1e-9)))
    228
    """

    def surplus(log_deviation: float) -> float:
        delta = _gaussian_delta(target.epsilon, exp(log_deviation))
        return log(max(delta, _SMALLEST) / target.delta)

    low = log(1e-3)
    high = log(1e6 / target.epsilon)
    return exp(2 * crossing(surplus, low, high, _TOLERANCE))


def _gaussian_delta(epsilon: float, deviation: float) -> float:
    ratio = _SENSITIVITY / deviation
    gain = ratio / 2 - epsilon / ratio
    loss = -ratio / 2 - epsilon / ratio
    return _normal(gain) - exp(epsilon) * _normal(loss)


def _normal(point: float) -> float:
    """Return the standard normal distribution function."""
    return erfc(-point / sqrt(2)) / 2
