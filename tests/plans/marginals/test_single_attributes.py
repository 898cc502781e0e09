"""Shares of single attributes: exact against integrals, and their errors against draws."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.plans.marginals.single_attributes import SingleShares, shrink_singles
from sottovoce.postprocess.norm_sub import norm_sub

CONCENTRATIONS = np.geomspace(0.3, 60.0, 16)


def integrated(reported, deviation, laws):
    """Return the expected shares by brute force: a fine grid over every share."""
    equal = (np.arange(4_000) + 0.5) / 4_000
    grid = equal**4 / (equal**4 + (1 - equal) ** 4)  # dense at both ends
    lengths = np.gradient(grid, equal)
    likelihood = lengths * stats.norm.pdf(np.array(reported)[:, None], grid, deviation)
    densities = np.stack([stats.beta.pdf(grid, *law) for law in laws])
    evidence = np.einsum("sg,lg->ls", likelihood, densities)
    means = np.einsum("sg,lg,g->ls", likelihood, densities, grid) / evidence
    chances = evidence.prod(axis=1)
    return chances / chances.sum() @ means


def test_bits_have_the_mean_of_the_integral():
    reported, deviation = [-0.05, 0.12, 0.4], 0.1
    laws = [(first, second) for first in CONCENTRATIONS for second in CONCENTRATIONS]
    shares = SingleShares(np.array(reported), np.full(3, deviation**2), 2)
    np.testing.assert_allclose(shares.mean, integrated(reported, deviation, laws), atol=2e-4)


def test_more_values_share_one_law_with_mean_one_over_values():
    reported, deviation = [0.5, 0.3, 0.15, 0.05], 0.05
    laws = [(first, 3 * first) for first in CONCENTRATIONS]
    shares = SingleShares(np.array(reported), np.full(4, deviation**2), 4)
    np.testing.assert_allclose(shares.mean, integrated(reported, deviation, laws), atol=2e-4)


def drawn(count=2_000, deviation=0.15):
    generator = np.random.default_rng(5)
    truth = generator.beta(2.0, 8.0, count)
    reported = truth + deviation * generator.standard_normal(count)
    return truth, SingleShares(reported, np.full(count, deviation**2), 2)


def sigmas_of(differences):
    return differences.mean() / (differences.std() / sqrt(len(differences)))


def test_the_variance_is_the_measured_error():
    truth, shares = drawn()
    squared = (shares.mean - truth) ** 2
    sigmas = sigmas_of(squared - shares.variance)
    print("squared error", squared.mean(), "stated", shares.variance.mean(), "sigmas", sigmas)
    assert abs(sigmas) < FIVE_SIGMA
    clipped = (np.clip(shares.reported, 0, 1) - truth) ** 2
    assert squared.mean() < 0.7 * clipped.mean()


def test_a_variance_of_the_report_alone_is_caught():
    """The broken twin: as if nothing had been learnt from other attributes."""
    truth, shares = drawn()
    assert sigmas_of((shares.mean - truth) ** 2 - shares.variances) < -FIVE_SIGMA


def test_clear_reports_stay_and_unclear_ones_move():
    shares = {(0,): np.array([0.9, 0.1]), (1,): np.array([0.2, 0.8]), (3,): np.array([0.5, 0.5])}
    clear = shrink_singles(shares, dict.fromkeys(shares, 1e-10))
    for attribute, single in clear.items():
        np.testing.assert_allclose(single.shares, shares[attribute], atol=1e-8)
        assert single.belief == pytest.approx(1, abs=1e-3)
    unclear = shrink_singles(shares, dict.fromkeys(shares, 1.0))
    for single in unclear.values():
        assert abs(single.shares[0] - 0.5) < 0.1
        assert single.belief < 0.2


def test_attributes_of_all_sizes_become_distributions():
    generator = np.random.default_rng(2)
    truth = {
        (index,): generator.dirichlet(np.ones(values))
        for index, values in enumerate((2, 3, 3, 7, 2))
    }
    reported = {
        attribute: shares + 0.1 * generator.standard_normal(len(shares))
        for attribute, shares in truth.items()
    }
    singles = shrink_singles(reported, dict.fromkeys(reported, 0.01))
    assert list(singles) == list(reported)
    for single in singles.values():
        assert single.shares.min() >= 0
        assert single.shares.sum() == pytest.approx(1)
    ours = sum(np.abs(singles[one].shares - truth[one]).sum() for one in truth)
    clipped = sum(np.abs(norm_sub(reported[one]) - truth[one]).sum() for one in truth)
    assert ours < clipped
