"""The test of numbers: honest populations pass whatever they hold, crowded outputs alarm."""

import numpy as np
import pytest

from sottovoce.integrity.misfit import MAX_GRID, misfit
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.hybrid import Hybrid
from sottovoce.mechanisms.square_wave import SquareWave

WAVE = SquareWave(epsilon=1.0, size=64)


def evidence(values, false=()):
    honest = WAVE.privatize(values, SeededRng(1))
    return WAVE.evidence(np.concatenate([honest, np.asarray(false, honest.dtype)]))


@pytest.mark.parametrize("held", [0, 31, 63], ids=["low", "middle", "high"])
def test_people_who_all_hold_one_number_are_plausible(held):
    found = misfit(WAVE, evidence(np.full(4000, held)))
    assert not found.test.alarm
    assert found.test.p_value > 1e-3


def test_outputs_that_no_population_explains_alarm_and_have_a_share():
    spike = np.full(600, WAVE.outputs // 2)
    found = misfit(WAVE, evidence(np.arange(4000) % 64, spike))
    assert found.test.alarm
    assert found.test.p_value < 1e-6
    assert 0.05 < found.share < 0.5  # true: 0.13; a filter at epsilon 1 finds too many


def test_counts_and_fine_grids_are_not_tested():
    affine = AffineResponse(epsilon=1.0, size=16)
    reports = affine.privatize(np.arange(10), SeededRng(1))
    assert misfit(affine, affine.evidence(reports)) is None
    fine = Hybrid(epsilon=1.0, size=MAX_GRID + 1)
    assert misfit(fine, fine.evidence(fine.privatize(np.arange(10), SeededRng(1)))) is None
