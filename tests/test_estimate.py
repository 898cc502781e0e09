"""Estimates: intervals, sums, thresholds and the drawing of a group."""

import numpy as np
import pytest

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.estimate import BalancedNoise, Estimate, IndependentNoise, SampledNoise, quantile, upper_quantile

NOISE = IndependentNoise.of(0.5, 0.2)


def test_an_estimate_without_reports_cannot_exist():
    with pytest.raises(NoDataError):
        Estimate(np.zeros(3), NOISE, 0, 1.0)


def test_a_population_smaller_than_its_group_is_refused():
    with pytest.raises(ParameterError):
        Estimate(np.zeros(3), NOISE, 10, 1.0, population=5)


def test_intervals_are_symmetric_and_simultaneous_ones_are_wider():
    estimate = Estimate(np.array([100.0, 5.0]), NOISE, 1000, 1.0)
    low, high = estimate.interval()
    assert (low + high) / 2 == pytest.approx(estimate.totals)
    assert (high - low) / 2 == pytest.approx(1.959964 * estimate.errors)
    wide = estimate.interval(simultaneous=True)[1]
    assert (wide - estimate.totals) / estimate.errors == pytest.approx(quantile(1 - 0.05 / 2))


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 2, float("nan")])
def test_an_impossible_level_is_refused(level):
    with pytest.raises(ParameterError):
        quantile(level)


def test_quantiles_of_the_smallest_tails_are_exact():
    """2^-128 would vanish in 1 - tail."""
    assert upper_quantile(2.0**-128) == pytest.approx(13.0559468, abs=1e-6)


def test_a_group_standing_for_a_population_adds_its_drawing():
    """Wang 2021 with the sampling term: noise Q^2 plus n f (1-f)(Q-1)."""
    whole = Estimate(np.array([300.0, 700.0]), NOISE, 1000, 1.0)
    scaled = whole.of(4000)
    drawing = 4000**2 / 1000 * 3000 / 3999 * 0.3 * 0.7
    assert scaled.totals == pytest.approx([1200, 2800])
    assert scaled.variance == pytest.approx(16 * whole.variance + drawing)
    assert scaled.weighted(np.array([1.0, 0.0])).variance == pytest.approx(scaled.variance[0])


def test_the_sampled_drawing_matches_the_formula():
    """Groups of 500 out of 2,000 people, no noise at all: the spread is the formula's, within five sigma."""
    rng = np.random.default_rng(5)
    people = np.repeat([1.0, 0.0], [600, 1400])
    silent = IndependentNoise(0.0, 0.0)
    totals = [rng.choice(people, 500, replace=False).sum() * 4 for _ in range(4000)]
    stated = Estimate(np.array([150.0, 350.0]), silent, 500, 1.0, population=2000).variance[0]
    assert np.var(totals) == pytest.approx(stated, rel=5 * np.sqrt(2 / 4000))


def test_the_sum_of_everything_is_exact_where_reports_are_balanced():
    noise = BalancedNoise.subsets(0.6, 8, 2)
    estimate = Estimate(np.array([50.0, 20.0, 40.0, -5.0, 10.0]), noise, 100, 1.0)
    everyone = estimate.sum(np.arange(5))
    assert everyone.total == pytest.approx(100)
    assert everyone.variance == pytest.approx(0, abs=1e-9)
    assert everyone.interval() == pytest.approx((100, 100))


def test_a_sum_of_one_cell_is_that_cell_where_cells_are_independent():
    estimate = Estimate(np.array([50.0, 20.0, 30.0]), NOISE, 100, 1.0)
    one = estimate.sum(np.array([1]))
    assert (one.total, one.variance) == pytest.approx((20, estimate.variance[1]))
    assert one.error == pytest.approx(estimate.errors[1])


def test_candidates_of_a_balanced_mechanism_have_the_covariance_of_the_whole_domain():
    """Partial noise equals the full law with coefficient 0 on every other cell."""
    full = BalancedNoise.subsets(0.6, 16, 4)
    votes = np.zeros(16)
    votes[:4] = [50, 20, 20, 10]
    coefficients = np.zeros(16)
    coefficients[:4] = [1.0, -2.0, 0.5, 3.0]
    partial = full.among().linear(coefficients[:4], votes[:4], 100)
    assert partial == pytest.approx(full.linear(coefficients, votes, 100))


def test_the_threshold_is_that_of_a_value_nobody_holds():
    """alpha / d of the null estimates exceed it: 10^5 normal draws, five sigma."""
    estimate = Estimate(np.zeros(10), NOISE, 1000, 1.0)
    null = np.random.default_rng(1).normal(0, np.sqrt(1000 * NOISE.unheld), 100_000)
    expected = 100_000 * 0.05 / 10
    assert abs((null > estimate.threshold()).sum() - expected) < 5 * np.sqrt(expected)
    assert not estimate.significant().any()


def test_replicates_give_variances_and_covariances():
    draws = np.random.default_rng(2).multivariate_normal([0, 0], [[4, -3], [-3, 4]], 50_000)
    noise = SampledNoise(draws)
    assert noise.variances(np.zeros(2), 1) == pytest.approx([4, 4], rel=0.05)
    assert noise.linear(np.array([1.0, 1.0]), np.zeros(2), 1) == pytest.approx(2, rel=0.05)


def test_no_replicate_may_state_less_than_the_floor():
    """A cell that no replicate ever selects still has an error, alone and in sums."""
    noise = SampledNoise(np.zeros((10, 3)), floor=2.0)
    assert noise.variances(np.zeros(3), 1) == pytest.approx([4, 4, 4])
    assert noise.linear(np.array([1.0, 1.0, 0.0]), np.zeros(3), 1) == pytest.approx(8)
