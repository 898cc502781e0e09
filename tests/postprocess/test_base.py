"""The contract of post-processors: what a rule is, and shares that are refused."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, SIGMA, estimate
from sottovoce.core.noise import StatedNoise
from sottovoce.errors import ParameterError
from sottovoce.postprocess.base import Rule, checked_shares, unheld_deviation


def test_a_rule_is_its_function_and_lists_its_remark():
    rule = Rule("halve", lambda raw: raw / 2, remark=lambda raw: "large" if raw.max() > 1 else "")
    assert rule(np.array([0.5, 2.0])).tolist() == [0.25, 1.0]
    assert rule.step(np.array([0.5])) == "halve"
    assert rule.step(np.array([2.0])) == "halve (large)"
    assert not rule.whole


def test_shares_are_arrays_of_finite_numbers():
    assert checked_shares([1, 0]).dtype == np.float64
    for none in (np.zeros(0), np.zeros((3, 0)), 0.5):
        with pytest.raises(ParameterError, match="at least one value"):
            checked_shares(none)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ParameterError, match="must be a finite number"):
            checked_shares([0.5, wrong])


def test_the_deviation_is_that_of_the_share_of_an_unheld_value():
    made = estimate(ABOVE)
    assert unheld_deviation(made) == pytest.approx(SIGMA)
    variance = made.noise.variances(np.zeros(1), made.users)[0]
    assert unheld_deviation(made) == pytest.approx(np.sqrt(variance) / made.users)


def test_noise_without_a_formula_has_no_deviation():
    with pytest.raises(ParameterError, match="raw votes"):
        unheld_deviation(estimate(ABOVE, StatedNoise(np.ones(7))))
