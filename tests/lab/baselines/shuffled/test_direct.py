"""SH: the configuration for a target, and its refusals."""

from math import exp

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import closed_forms
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget, direct_response
from sottovoce.lab.baselines.shuffled.direct import sh
from sottovoce.lab.seeded import SeededRng

CENSUS = PublishedTarget(1.0, 602_325, 1e-9)


def test_the_local_epsilon_meets_the_bound():
    oracle = sh(CENSUS, 915)
    assert exp(oracle.claim.local) == pytest.approx(CENSUS.m - 914)
    assert closed_forms.balle(oracle.claim.local, 915, 602_325, 1e-9) == pytest.approx(1.0)
    formula = direct_response(CENSUS, 915).mse(915)
    truth = np.bincount([0], minlength=915) * CENSUS.users
    assert oracle.mse(truth) == pytest.approx(formula, rel=1e-9)


def test_below_the_threshold_nothing_is_amplified():
    weak = PublishedTarget(0.6, 602_325, 1e-9)
    assert sh(weak, 915).mechanism.epsilon == 0.6
    with pytest.raises(ParameterError, match="`central` must be larger"):
        sh(weak, 915, fallback=False)


def test_fakes_are_uniform_values():
    fakes = sh(CENSUS, 8).fakes(80_000, SeededRng(1))
    counts = np.bincount(fakes, minlength=8)
    statistic = ((counts - 10_000) ** 2 / 10_000).sum()
    print("chi-square", statistic, "with 7 degrees of freedom")
    assert statistic < 7 + 5 * 14**0.5
