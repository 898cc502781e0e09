"""Fieller's interval of a ratio of two normal numbers.

The ratio r is in the interval if above - r below is within ``reach`` of its standard errors of 0:

    (above - r below)^2 <= reach^2 (v_aa - 2 r v_ab + r^2 v_bb)

That is a bounded interval as long as the number below is more than ``reach`` standard errors away
from 0.  It holds the truth as often as it says, however uncertain the number below is.

Source: Fieller 1954.
"""

from math import inf, sqrt
from typing import NamedTuple


class RatioLaw(NamedTuple):
    """The variances of the two numbers of a ratio, and their covariance."""

    above: float
    below: float
    both: float = 0.0


def fieller(above: float, below: float, law: RatioLaw, reach: float) -> tuple[float, float]:
    """Return the bounds of the interval; infinite ones if it is not bounded.

    >>> [round(bound, 3) for bound in fieller(10.0, 5.0, RatioLaw(0.01, 0.01), 2.0)]
    [1.914, 2.093]
    >>> fieller(10.0, 1.0, RatioLaw(0.01, 1.0), 2.0)
    (-inf, inf)
    """
    # a r^2 - 2 b r + c <= 0
    a = below**2 - reach**2 * law.below
    b = above * below - reach**2 * law.both
    c = above**2 - reach**2 * law.above
    if a <= 0:
        return -inf, inf
    half = sqrt(max(0.0, b**2 - a * c))
    return (b - half) / a, (b + half) / a
