"""The power law of counts 1 to n: its sums without O(n) work, and the exponent for a given mean.

Source: Wang et al. 2020, section IV-E.
"""

import numpy as np

from sottovoce.arrays import Floats

LISTED = 256  # counts summed one by one; beyond, sums are integrals with corrections
LEAST, MOST = -10.0, 60.0  # exponents with means of nearly n and nearly 1
_WITHOUT_MEAN = 1.01  # the exponent where the mean count is not above 1
_CLOSE = 1e-13


def harmonic(exponents: Floats, users: int) -> Floats:
    """Return the sum of k^-s for k from 1 to n, by Euler and Maclaurin beyond the listed counts.

    >>> bool(abs(harmonic(np.array([2.0]), 10**9)[0] - np.pi**2 / 6) < 1e-8)
    True
    """
    s = np.asarray(exponents, np.float64)
    first = float(min(users, LISTED))
    listed = (np.arange(1.0, first + 1) ** -s[..., None]).sum(axis=-1)
    return np.asarray(listed + _tail(s, first, float(users)))


def exponent(mean: Floats, users: int) -> Floats:
    """Return the exponent of the power law with these mean counts, by bisection."""
    low, high = np.full(np.shape(mean), LEAST), np.full(np.shape(mean), MOST)
    while (high - low > _CLOSE).any():
        middle = (low + high) / 2
        above = harmonic(middle - 1, users) > mean * harmonic(middle, users)  # the mean falls with the exponent
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(np.asarray(mean) <= 1, _WITHOUT_MEAN, (low + high) / 2)


def _tail(s: Floats, first: float, last: float) -> Floats:
    """Return the sum of k^-s for first < k <= last."""
    span, rest = np.log(last / first), 1 - s
    flat = np.abs(rest * span) < 1e-12
    integral = first**rest * np.where(flat, span, np.expm1(rest * span) / np.where(flat, 1.0, rest))
    ends = (last**-s - first**-s) / 2
    slopes = s * (first ** (-s - 1) - last ** (-s - 1)) / 12
    thirds = s * (s + 1) * (s + 2) * (last ** (-s - 3) - first ** (-s - 3)) / 720
    return np.asarray(integral + ends + slopes + thirds)
