"""Ninety-five per cent intervals cover ninety-five per cent: twelve thousand collections per mechanism."""

import numpy as np
import pytest

from sottovoce.lab.aggregate import collections
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE

RUNS = 12_000
USERS = 4_000


def population(size):
    """Zipf with the last value held by nobody."""
    weights = 1 / np.arange(1, size) ** 1.1
    truth = np.append((weights / weights.sum() * USERS).astype(np.int64), 0)
    truth[0] += USERS - truth.sum()
    return truth


def coverage(mechanism, truth, seed, widen=1.0):
    """Shares of collections whose interval holds the truth: common, rare, unheld, aligned and unaligned range."""
    size = len(truth)
    ranges = [np.arange(size // 2), np.arange(size // 5, size - size // 7)]
    cells = [0, size // 2, size - 1]
    hits = np.zeros(5)
    for counts in collections(mechanism, truth, RUNS, seed):
        estimate = mechanism.estimate_counts(counts, USERS)
        errors = widen * 1.959964 * estimate.errors
        hits[:3] += np.abs(estimate.totals - truth)[cells] <= errors[cells]
        for index, chosen in enumerate(ranges):
            total = estimate.sum(chosen)
            hits[3 + index] += abs(total.total - truth[chosen].sum()) <= widen * 1.959964 * total.error
    return hits / RUNS


@pytest.mark.parametrize(
    ("mechanism", "seed"),
    [
        (GRR(1.0, 8), 1),
        (GRR(3.0, 20), 2),
        (OUE(1.0, 32), 3),
        (OUE(3.0, 32), 4),
        (AffineResponse(1.0, 64), 5),
        (AffineResponse(1.0, 65), 6),
        (AffineResponse(3.0, 200), 7),
    ],
    ids=lambda one: f"{one.kind}-{one.epsilon:g}-{one.size}" if hasattr(one, "kind") else "",
)
def test_intervals_cover_as_often_as_they_say(mechanism, seed):
    """Between 94 and 96 %: five standard deviations of the count of hits."""
    covered = coverage(mechanism, population(mechanism.size), seed)
    assert ((covered >= 0.94) & (covered <= 0.96)).all(), covered


def test_intervals_a_tenth_too_narrow_are_caught():
    covered = coverage(OUE(1.0, 32), population(32), 8, widen=0.9)
    assert (covered < 0.94).all(), covered


def test_ranges_without_covariance_are_caught():
    """Adding the variances of cells, as if hashed reports were independent, covers too much of a large range."""
    mechanism, truth = AffineResponse(1.0, 64), population(64)
    chosen, hits = np.arange(58), 0
    for counts in collections(mechanism, truth, 3000, 9):
        estimate = mechanism.estimate_counts(counts, USERS)
        error = np.sqrt(estimate.variance[chosen].sum())
        hits += abs(estimate.sum(chosen).total - truth[chosen].sum()) <= 1.959964 * error
    assert hits / 3000 > 0.99
