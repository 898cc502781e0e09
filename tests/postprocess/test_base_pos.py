"""Base-Pos: no error grows, and the bias is the published one."""

from math import pi, sqrt

import numpy as np
import pytest

from postprocess.vectors import ABOVE
from sottovoce.postprocess.base_pos import base_pos


def test_golden_shares():
    assert base_pos(ABOVE).tolist() == [0.5, 0.3, 0.2, 0.1, 0.05, 0, 0]


def test_a_value_nobody_holds_is_biased_by_sigma_over_the_root_of_two_pi():
    """10^5 normal draws, five sigma of their mean: Wang et al. 2020, lemma 1."""
    draws = np.random.default_rng(1).normal(0, 1, 100_000)
    assert base_pos(draws).mean() == pytest.approx(1 / sqrt(2 * pi), abs=5 * 0.584 / sqrt(100_000))
    assert draws.mean() == pytest.approx(
        0, abs=5 / sqrt(100_000)
    )  # raw ones are not: the check can fail
