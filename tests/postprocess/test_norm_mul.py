"""Norm-Mul: golden shares, and the uniform distribution where nothing is positive."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, BELOW, TOP, estimate
from sottovoce.postprocess.norm_mul import norm_mul, rule_for


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (ABOVE, np.maximum(ABOVE, 0) / 1.15),
        (BELOW, [0.5625, 0.3125, 0.125, 0]),
        (TOP, [0.9230769231, 0.0769230769, 0]),
    ],
)
def test_golden_shares(raw, expected):
    assert norm_mul(raw) == pytest.approx(expected, abs=1e-9)


def test_shares_of_which_none_is_positive_become_uniform_and_say_so():
    raw = np.array([[-0.1, 0.0, -0.3, -0.2], [0.2, 0.1, 0.1, -0.4]])
    assert norm_mul(raw, total=8.0).tolist() == [[2, 2, 2, 2], [4, 2, 2, 0]]
    rule = rule_for(estimate(raw[0]))
    assert [rule.step(row) for row in raw] == ["norm-mul (none above 0)", "norm-mul"]
