"""The k-means defence: clusters of means of subsets, and how little they tell."""

import numpy as np
import pytest

from sottovoce.lab.baselines.numbers.k_means import (
    distribution_mean,
    k_means_mean,
    larger_centre,
    linear_mean,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.square_wave import SquareWave

WAVE = SquareWave(epsilon=2.0, size=32)


def counts(value, users, seed):
    reports = WAVE.privatize(np.full(users, value), SeededRng(seed))
    return np.bincount(reports, minlength=WAVE.outputs)


@pytest.mark.parametrize("read", [linear_mean, distribution_mean])
def test_both_readings_find_the_mean_of_honest_people(read):
    found = k_means_mean(WAVE, counts(8, 40_000, 1), 20, np.random.default_rng(1), read)
    assert found == pytest.approx((8 + 0.5) / 32, abs=0.03)


def test_the_larger_cluster_wins():
    assert larger_centre(np.array([0.0, 0.1, 0.2, 5.0])) == pytest.approx(0.1)
    assert larger_centre(np.array([-5.0, 0.1, 0.2, 0.3])) == pytest.approx(0.2)
    assert larger_centre(np.array([0.4, 0.4, 0.4])) == 0.4


def test_independent_subsets_hardly_see_an_attack():
    """A quarter of all reports at the top moves the answer nearly as far as the plain mean."""
    attacked = counts(8, 30_000, 1)
    attacked[-1] += 10_000
    found = k_means_mean(WAVE, attacked, 50, np.random.default_rng(1))
    assert found == pytest.approx(linear_mean(WAVE, attacked), abs=0.02)
    assert found > (8 + 0.5) / 32 + 0.2
