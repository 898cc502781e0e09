"""Norm-Sub: golden shares, the two mistakes it invites, and speed."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, BELOW, TOP
from sottovoce.postprocess.norm_sub import norm_sub


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (ABOVE, [0.47, 0.27, 0.17, 0.07, 0.02, 0, 0]),
        (BELOW, [0.5125, 0.3125, 0.1625, 0.0125]),
        (TOP, [1, 0, 0]),
        ([-3.0, -5.0, -3.0], [0.5, 0, 0.5]),
        ([0.3], [1.0]),
        ([1e15, 0.0], [1.0, 0.0]),
    ],
)
def test_golden_shares(raw, expected):
    assert norm_sub(raw) == pytest.approx(expected, abs=1e-12)


def test_dropping_negatives_first_is_wrong_where_shares_must_rise():
    """A slightly negative share may have to become positive."""
    clipped = norm_sub(np.maximum(BELOW, 0))
    assert np.linalg.norm(norm_sub(BELOW) - BELOW) < np.linalg.norm(clipped - BELOW) - 1e-3


def test_rows_are_projected_alone():
    rows = np.random.default_rng(1).normal(0.1, 0.3, (3, 4, 9))
    together = norm_sub(rows)
    assert all(
        together[i, j] == pytest.approx(norm_sub(rows[i, j]), abs=1e-15)
        for i in range(3)
        for j in range(4)
    )
