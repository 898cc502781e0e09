"""The one statistic that tests of uniformity use."""

import numpy as np


def chi_square_deviation(counts, probabilities=None):
    """Return by how many standard deviations a chi-square statistic exceeds its expectation."""
    counts = np.asarray(counts, float).ravel()
    if probabilities is None:
        probabilities = np.full(len(counts), 1 / len(counts))
    expected = counts.sum() * np.asarray(probabilities, float).ravel()
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(counts) - 1
    return (statistic - freedom) / (2 * freedom) ** 0.5
