"""Ostrich: plain EM in every group, averaged by a rule of weights."""

import numpy as np
import pytest

from sottovoce.lab.baselines.numbers.ostrich import averaged, ostrich
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.numbers.emf import OutputCounts, unfiltered


def reported(epsilon, seed, rows=1):
    wave = SquareWave(epsilon=epsilon, size=16)
    counts = np.random.default_rng(seed).integers(5, 50, (rows, wave.outputs)).astype(float)
    return OutputCounts(counts, wave.sliding, 16, epsilon)


def test_one_group_is_plain_em():
    alone = reported(1.0, seed=1)
    np.testing.assert_allclose(ostrich([alone]), unfiltered(alone).distribution, rtol=1e-14)


def test_groups_are_averaged_by_the_weights():
    groups = [reported(1.0, seed=1), reported(0.5, seed=2)]
    ends = [np.eye(16)[:1], np.eye(16)[15:]]
    none, some = np.zeros(1), np.full(1, 0.25)
    by_variance = averaged(groups, ends, none, "paper")
    assert by_variance.sum() == pytest.approx(1)
    assert by_variance[0, 0] == pytest.approx(0.2442 / (0.2442 + 0.18663), abs=1e-3)
    calibrated = averaged(groups, ends, some, "calibrated")
    assert calibrated[0, 0] == pytest.approx(averaged(groups, ends, none, "calibrated")[0, 0])


def test_collections_in_rows_are_weighted_by_their_own_reports():
    groups = [reported(1.0, seed=1, rows=2), reported(0.5, seed=2, rows=2)]
    groups[1].counts[1] *= 10
    ends = [np.eye(16)[[0, 0]], np.eye(16)[[15, 15]]]
    both = averaged(groups, ends, np.zeros(2), "calibrated")
    for row in range(2):
        alone = [group.rows(np.array([row])) for group in groups]
        single = averaged(alone, [end[row : row + 1] for end in ends], np.zeros(1), "calibrated")
        np.testing.assert_allclose(both[row], single[0], rtol=1e-14)
    assert both[1, 15] > 1.5 * both[0, 15]
