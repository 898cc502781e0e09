"""Base-Cut: its threshold, its survivors and its edges."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, SIGMA, TIED, estimate
from sottovoce.core.noise import SampledNoise
from sottovoce.errors import ParameterError
from sottovoce.postprocess.base_cut import base_cut, base_cut_top, rule_for, threshold


@pytest.mark.parametrize(
    ("alpha", "cut", "kept"),
    [(2, 0.0309982936, [0.5, 0.3, 0.2, 0.1, 0.05]), (0.05, 0.1341918985, [0.5, 0.3, 0.2])],
)
def test_golden_shares(alpha, cut, kept):
    assert threshold(SIGMA, 7, alpha) == pytest.approx(cut, abs=1e-9)
    assert base_cut(ABOVE, cut).tolist() == kept + [0] * (7 - len(kept))
    rule = rule_for(estimate(ABOVE), alpha=alpha)
    assert rule(ABOVE).tolist() == kept + [0] * (7 - len(kept))
    assert rule.step(ABOVE) == f"base-cut (alpha {alpha:g})"


def test_alpha_values_survive_by_chance():
    """1023 values nobody holds, 500 collections: a Poisson count of mean 2 * 1023 / 1024, within
    five sigma.
    """
    noise = np.random.default_rng(2).normal(0, 1, (500, 1023))
    survivors = (base_cut(noise, threshold(1.0, 1024)) > 0).sum() / 500
    assert abs(survivors - 2 * 1023 / 1024) < 5 * np.sqrt(2 / 500)
    strict = (base_cut(noise, 1.1 * threshold(1.0, 1024)) > 0).sum() / 500
    assert abs(strict - 2 * 1023 / 1024) > 5 * np.sqrt(
        2 / 500
    )  # a threshold ten percent off is caught


def test_so_many_survivors_that_only_negatives_are_cut():
    assert threshold(1.0, 10, alpha=5) == threshold(1.0, 10, alpha=50) == 0
    assert base_cut(ABOVE, -1.0).tolist() == np.maximum(ABOVE, 0).tolist()


def test_an_alpha_that_lets_nothing_survive_is_refused():
    for alpha in (0.0, -1.0, float("nan")):
        with pytest.raises(ParameterError):
            threshold(1.0, 10, alpha)


def test_the_largest_are_kept_with_their_ties():
    assert base_cut_top(TIED, 3).tolist() == [0.4, 0.35, 0.2, 0.2, 0]
    assert base_cut_top(np.stack([TIED, -TIED]), 1).tolist() == [
        [0.4, 0, 0, 0, 0],
        [0, 0, 0, 0, 0.1],
    ]
    assert rule_for(estimate(TIED), top=3).step(TIED) == "base-cut (top 3)"
    with pytest.raises(ParameterError):
        base_cut_top(TIED, 6)


def test_noise_without_a_formula_has_no_threshold_but_a_top():
    sampled = estimate(TIED, SampledNoise(np.zeros((10, 5))))
    with pytest.raises(ParameterError):
        rule_for(sampled)
    assert rule_for(sampled, top=1)(TIED).tolist() == [0.4, 0, 0, 0, 0]
