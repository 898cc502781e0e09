"""Zipf populations: whole numbers of holders that fall as a power of the rank."""

import numpy as np

from sottovoce.arrays import Ints


def zipf(size: int, users: int, exponent: float = 1.1) -> Ints:
    """Return how many users hold each value; what rounding down leaves goes to the first value."""
    weights = 1 / np.arange(1, size + 1) ** exponent
    counts: Ints = (weights / weights.sum() * users).astype(np.int64)
    counts[0] += users - counts.sum()
    return counts


def rounded_power_law(size: int, users: int, exponent: float) -> Ints:
    """Return counts in proportion to k^-exponent, rounded; the first value takes the rest."""
    weights = np.arange(1.0, size + 1) ** -exponent
    counts: Ints = np.rint(users * weights / weights.sum()).astype(np.int64)
    counts[0] += users - counts.sum()
    return counts
