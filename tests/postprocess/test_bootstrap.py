"""The bootstrap: draws have the covariance of the mechanism, and nothing depends on luck."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, NOISE, estimate
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import BalancedNoise, SampledNoise
from sottovoce.errors import ParameterError
from sottovoce.postprocess.apply import apply
from sottovoce.postprocess.bootstrap import draws, population

MANY = 40_000
BALANCED = BalancedNoise.subsets(0.6, 8, 2)
SUMS = [np.eye(7)[0], np.eye(7)[6], np.ones(7), np.arange(7.0), np.array([1.0, 1, 0, 0, 0, 0, 0])]


@pytest.mark.parametrize(
    "noise", [NOISE, BALANCED, BALANCED.among()], ids=["independent", "balanced", "partial"]
)
def test_draws_have_the_stated_covariance(noise):
    """Variances of five sums of 40,000 draws, within five sigma of the law; the mean is the fit."""
    raw = estimate(ABOVE, noise)
    made, held = draws(raw, MANY), population(raw)
    law = (
        noise.among() if isinstance(noise, BalancedNoise) else noise
    )  # sums of the listed cells and no others
    for coefficients in SUMS:
        spread = (made @ coefficients).var()
        assert spread == pytest.approx(
            law.linear(coefficients, held, 1000), rel=5 * np.sqrt(2 / MANY)
        )
    assert abs(made.mean(axis=0) - held).max() < 5 * np.sqrt(
        noise.variances(held, 1000).max() / MANY
    )


def test_independent_draws_in_place_of_balanced_ones_are_caught():
    raw = estimate(ABOVE, BALANCED)
    independent = estimate(ABOVE, NOISE.__class__(BALANCED.unheld, BALANCED.held))
    stated = BALANCED.among().linear(np.ones(7), population(raw), 1000)
    assert draws(independent, MANY).sum(axis=1).var() > 2 * stated


def test_the_sum_over_a_domain_without_padding_does_not_vary():
    whole = estimate(np.append(ABOVE, -0.05), BALANCED)
    assert draws(whole, 50).sum(axis=1) == pytest.approx(1000, abs=1e-9)


def test_noise_without_a_formula_is_drawn_from_its_replicates():
    sampled = estimate(
        ABOVE, SampledNoise(np.random.default_rng(1).normal(3, 5, (400, 7)), floor=9.0)
    )
    made = draws(sampled, MANY)
    assert made.mean(axis=0) == pytest.approx(population(sampled), abs=0.3)
    assert apply(sampled, "norm-sub", errors="bootstrap").noise.floor == 9


def test_the_same_votes_give_the_same_draws():
    assert (draws(estimate(ABOVE), 20) == draws(estimate(ABOVE), 20)).all()
    assert (draws(estimate(ABOVE), 20) != draws(estimate(ABOVE + 1e-9), 20)).any()


def test_errors_are_about_the_population_and_so_include_the_bias():
    """Base-Pos of a value nobody holds: mean square 1/2 of the variance; its spread alone would be
    1/2 - 1/(2 pi).
    """
    raw = Estimate(np.array([1e6, -1.0]), NOISE, 1_000_000, 1.0)
    made = apply(raw, "base-pos", errors="bootstrap", replicates=MANY)
    share = made.variance[1] / (3 * 1_000_000)
    assert share == pytest.approx(0.5, rel=5 * np.sqrt(5 / MANY))
    assert share > 1.2 * (0.5 - 1 / (2 * np.pi))
    assert made.sum(np.array([1])).variance == pytest.approx(made.variance[1])


def test_a_second_step_goes_on_from_the_replicates_of_the_first():
    once = apply(estimate(ABOVE), "power", errors="bootstrap")
    twice = apply(once, "norm-sub", errors="bootstrap")
    direct = apply(estimate(ABOVE), "power-ns", errors="bootstrap")
    assert twice.variance == pytest.approx(direct.variance)
    assert twice.steps == ("power", "bootstrap", "norm-sub", "bootstrap")
    with pytest.raises(ParameterError):
        apply(apply(estimate(ABOVE), "power"), "norm-sub", errors="bootstrap")


def test_too_few_replicates_are_refused():
    with pytest.raises(ParameterError):
        apply(estimate(ABOVE), "norm", errors="bootstrap", replicates=9)
