"""Quantiles of the normal distribution, which every interval and threshold is made of."""

from statistics import NormalDist

from sottovoce.errors import ParameterError


def quantile(level: float, tests: int = 1) -> float:
    """Return how many standard errors a two-sided interval of this confidence level reaches.

    With several ``tests`` all intervals together hold with that confidence (Bonferroni).

    >>> round(quantile(0.95), 3)
    1.96
    """
    if not 0 < level < 1:
        raise ParameterError("`level` must lie between 0 and 1, both excluded")
    return upper_quantile((1 - level) / (2 * tests))


def upper_quantile(tail: float) -> float:
    """Return the normal quantile with this much probability above it; exact for the smallest tails.

    >>> round(upper_quantile(0.05 / 41270), 6)
    4.714499
    """
    return -NormalDist().inv_cdf(tail)
