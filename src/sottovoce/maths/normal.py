"""Quantiles of the normal and the chi-squared distribution, for intervals and tests."""

from statistics import NormalDist

from sottovoce.errors import ParameterError


def quantile(level: float, tests: int = 1) -> float:
    """Return how many standard errors a two-sided interval of this confidence level reaches.

    With several ``tests`` all intervals hold together with that confidence (Bonferroni).

    >>> round(quantile(0.95), 3)
    1.96
    """
    return upper_quantile(checked_tail(level) / tests)


def checked_tail(level: float) -> float:
    """Return the probability on either side of an interval of this confidence level.

    >>> checked_tail(0.5)
    0.25
    """
    if not 0 < level < 1:
        raise ParameterError(f"`level` must be a number above 0 and below 1, not {level!r}")
    return (1 - level) / 2


def upper_quantile(tail: float) -> float:
    """Return the normal quantile with this much probability above it.

    The lower tail is inverted and its sign turned, because ``1 - tail`` would lose a tiny tail.

    >>> round(upper_quantile(0.05 / 41270), 6)
    4.714499
    """
    return -NormalDist().inv_cdf(tail)


def chi_squared_quantile(tail: float, degrees: int) -> float:
    """Return the quantile of the chi-squared distribution with this much probability above it.

    The cube root of chi-squared over its degrees k is nearly normal (Wilson and Hilferty), with the
    mean 1 - 2 / (9 k) and the variance 2 / (9 k).  For tails down to 1e-6 the quantile is off by
    at most a quarter of 1 / k, to the safe side where the tail is small.

    >>> round(chi_squared_quantile(0.05, 10), 2)
    18.29
    """
    spread = 2 / (9 * degrees)
    return float(degrees * (1 - spread + upper_quantile(tail) * spread**0.5) ** 3)


def chi_squared_tail(quantile: float, degrees: int) -> float:
    """Return the probability above a quantile: the inverse of ``chi_squared_quantile``.

    >>> round(chi_squared_tail(chi_squared_quantile(0.05, 10), 10), 3)
    0.05
    """
    spread = 2 / (9 * degrees)
    root = (max(quantile, 0.0) / degrees) ** (1 / 3)
    return NormalDist().cdf((1 - spread - root) / spread**0.5)
