"""Ostrich: plain EM in every group, averaged by a rule of weights."""

import numpy as np
import pytest

from sottovoce.lab.baselines.numbers.ostrich import averaged, ostrich
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts, unfiltered
from sottovoce.plans.numbers.graded_estimate import Group


def group(epsilon, reports, seed):
    wave = SquareWave(epsilon=epsilon, size=16)
    counts = np.random.default_rng(seed).integers(5, 50, (1, wave.outputs)).astype(float)
    return Group(100, reports, OutputCounts(counts, wave.sliding, 16, epsilon))


def test_one_group_is_plain_em():
    alone = group(1.0, 1, seed=1)
    np.testing.assert_array_equal(ostrich([alone]), unfiltered(alone.observed).distribution[0])


def test_groups_are_averaged_by_the_weights():
    groups = [group(1.0, 1, seed=1), group(0.5, 2, seed=2)]
    ends = [np.eye(16)[0], np.eye(16)[15]]
    by_variance = averaged(groups, ends, 0.0, "paper")
    assert by_variance.sum() == pytest.approx(1)
    assert by_variance[0] == pytest.approx(0.2442 / (0.2442 + 0.18663), abs=1e-3)
    calibrated = averaged(groups, ends, 0.25, "calibrated")
    assert calibrated[0] == pytest.approx(averaged(groups, ends, 0.0, "calibrated")[0])
