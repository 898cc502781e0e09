"""Constrained least squares proves Norm-Sub, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from sottovoce.lab.experiments.consistency.optimality import optimality_gap
from sottovoce.postprocess.norm import norm
from sottovoce.postprocess.norm_mul import norm_mul
from sottovoce.postprocess.norm_sub import norm_sub

shares = arrays(np.float64, some.integers(1, 60), elements=some.floats(-3, 3))


@given(shares)
def test_norm_sub_meets_the_conditions_of_the_optimum(raw):
    assert optimality_gap(raw, norm_sub(raw)) < 1e-9


@given(shares)
def test_without_negatives_the_optimum_is_norm(raw):
    shifted = norm(raw)
    if (shifted > 1e-9).all():
        assert optimality_gap(raw, shifted) < 1e-9


def test_other_methods_do_not():
    raw = np.array([0.5, 0.3, 0.2, 0.1, 0.05, -0.02, -0.08])
    assert optimality_gap(raw, norm_mul(raw)) > 0.01
    assert optimality_gap(raw, np.maximum(raw, 0)) > 0.01
    assert optimality_gap(raw, np.zeros(7)) == 1


def test_a_share_left_at_zero_too_early_is_seen():
    assert optimality_gap(np.array([0.5, 0.4, 0.3]), np.array([0.55, 0.45, 0.0])) == pytest.approx(
        0.35
    )
