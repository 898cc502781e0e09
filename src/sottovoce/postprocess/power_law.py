"""The power law of counts 1 to n: its sums without O(n) work, and the exponent for a given mean.

The law gives count k a weight of k^-s.  Its sum from 1 to n is computed term by term up to a few
hundred, and beyond by the formula of Euler and Maclaurin: an integral with corrections at its ends.

Source: Wang et al. 2020, section IV-E.
"""

import numpy as np

from sottovoce.arrays import Floats

SUMMED_COUNTS = 256  # that are summed one by one; beyond, sums are integrals with corrections
MIN_EXPONENT = -10.0  # the mean is nearly n
MAX_EXPONENT = 60.0  # the mean is nearly 1
_EXPONENT_WITHOUT_MEAN = 1.01  # if the mean count is not above 1
_TOLERANCE = 1e-13


def harmonic(exponents: Floats, users: int) -> Floats:
    """Return the sum of k^-s for k from 1 to n.

    >>> bool(abs(harmonic(np.array([2.0]), 10**9)[0] - np.pi**2 / 6) < 1e-8)
    True
    """
    s = np.asarray(exponents, np.float64)
    first = float(min(users, SUMMED_COUNTS))
    summed = (np.arange(1.0, first + 1) ** -s[..., None]).sum(axis=-1)
    return np.asarray(summed + _tail(s, first, float(users)))


def exponent(mean: Floats, users: int) -> Floats:
    """Return the exponent of the power law with these mean counts, by bisection."""
    low = np.full(np.shape(mean), MIN_EXPONENT)
    high = np.full(np.shape(mean), MAX_EXPONENT)
    while (high - low > _TOLERANCE).any():
        middle = (low + high) / 2
        # The mean of the law, sum of k^(1-s) / sum of k^-s, falls with the exponent.
        too_low = harmonic(middle - 1, users) > mean * harmonic(middle, users)
        low = np.where(too_low, middle, low)
        high = np.where(too_low, high, middle)
    return np.where(np.asarray(mean) <= 1, _EXPONENT_WITHOUT_MEAN, (low + high) / 2)


def _tail(s: Floats, first: float, last: float) -> Floats:
    """Return the sum of k^-s for first < k <= last, by Euler and Maclaurin."""
    # integral of x^-s = first^(1-s) ((last / first)^(1-s) - 1) / (1 - s)
    log_ratio = np.log(last / first)
    power = 1 - s
    is_log = np.abs(power * log_ratio) < 1e-12  # then the integral is a logarithm
    quotient = np.expm1(power * log_ratio) / np.where(is_log, 1.0, power)
    integral = first**power * np.where(is_log, log_ratio, quotient)
    ends = (last**-s - first**-s) / 2
    slopes = s * (first ** (-s - 1) - last ** (-s - 1)) / 12
    third = s * (s + 1) * (s + 2) * (last ** (-s - 3) - first ** (-s - 3)) / 720
    return np.asarray(integral + ends + slopes + third)
