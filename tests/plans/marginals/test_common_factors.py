from itertools import combinations

import numpy as np
import pytest

from sottovoce.plans.marginals.common_factors import PairResiduals, contrasts

SIZES = (2,) * 12


def residuals(loadings, variance, seed=0):
    """Return the true residuals of pairs of bits with these loadings, and noisy ones."""
    generator = np.random.default_rng(seed)
    basis = contrasts(2)
    true = {}
    noisy = {}
    for first, second in combinations(range(len(loadings)), 2):
        value = float(loadings[first] @ loadings[second])
        true[first, second] = value * (basis @ basis.T)
        error = np.sqrt(variance) * generator.standard_normal()
        noisy[first, second] = (value + error) * (basis @ basis.T)
    variances = dict.fromkeys(true, variance)
    return true, PairResiduals((2,) * len(loadings), noisy, variances)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_contrasts_are_orthonormal_and_sum_to_nothing(size):
    columns = contrasts(size)
    np.testing.assert_allclose(columns.T @ columns, np.eye(size - 1), atol=1e-14)
    np.testing.assert_allclose(columns.sum(axis=0), 0, atol=1e-14)


def test_one_hidden_inclination_is_found_whatever_the_signs():
    loadings = np.where(np.arange(12) % 3, 0.6, -0.7)[:, None]
    true, noisy = residuals(loadings, 0.02)
    count, common = noisy.factors()
    assert count == 1
    errors = [((common[pair] - true[pair]) ** 2).sum() for pair in true]
    print("squared error", np.mean(errors), "noise", 0.02)
    assert np.mean(errors) < 0.01  # a half of what was reported
    assert noisy.noise_share(1) == pytest.approx(2 / 12)


def test_noise_and_single_pairs_have_no_common_factor():
    for seed in range(5):
        _, noise = residuals(np.zeros((12, 1)), 0.02, seed)
        count, common = noise.factors()
        assert count == 0
        assert all(not block.any() for block in common.values())


def test_attributes_of_several_values_have_blocks_of_their_contrasts():
    generator = np.random.default_rng(1)
    sizes = (3, 4, 2, 5, 3, 4, 3, 2)
    loadings = [contrasts(size) @ np.full(size - 1, 0.5) for size in sizes]
    true = {
        (first, second): np.outer(loadings[first], loadings[second])
        for first, second in combinations(range(len(sizes)), 2)
    }
    noisy = {}
    for (first, second), value in true.items():
        normal = generator.standard_normal((sizes[first] - 1, sizes[second] - 1))
        noisy[first, second] = (
            value + 0.05 * contrasts(sizes[first]) @ normal @ contrasts(sizes[second]).T
        )
    count, common = PairResiduals(sizes, noisy, dict.fromkeys(true, 0.0025)).factors()
    assert count == 1
    before = np.mean([((noisy[pair] - true[pair]) ** 2).sum() for pair in true])
    after = np.mean([((common[pair] - true[pair]) ** 2).sum() for pair in true])
    assert after < before / 2
