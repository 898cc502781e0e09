"""Quantiles of the normal distribution, which intervals and tests of significance are made of."""

from statistics import NormalDist

from sottovoce.errors import ParameterError


def quantile(level: float, tests: int = 1) -> float:
    """Return how many standard errors a two-sided interval of this confidence level reaches.

    With several ``tests`` all intervals hold together with that confidence (Bonferroni).

    >>> round(quantile(0.95), 3)
    1.96
    """
    if not 0 < level < 1:
        raise ParameterError(f"`level` must be a number above 0 and below 1, not {level!r}")
    return upper_quantile((1 - level) / (2 * tests))


def upper_quantile(tail: float) -> float:
    """Return the normal quantile with this much probability above it.

    The lower tail is inverted and its sign turned, because ``1 - tail`` would lose a tiny tail.

    >>> round(upper_quantile(0.05 / 41270), 6)
    4.714499
    """
    return -NormalDist().inv_cdf(tail)
