import numpy as np
import pytest

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.plans.marginals.shrinkage import SCALES, Residuals, Shrinkage


def drawn(count, degrees, variance, chances, seed):
    """Return true residuals and reported ones, of scales with these chances."""
    generator = np.random.default_rng(seed)
    scale = generator.choice(len(SCALES), count, p=chances)
    truth = np.sqrt(SCALES[scale])[:, None] * generator.standard_normal((count, degrees))
    noise = np.sqrt(variance) * generator.standard_normal((count, degrees))
    return truth, truth + noise


def fitted(reported, variance):
    count, degrees = reported.shape
    squares = (reported**2).sum(axis=1)
    residuals = Residuals(squares, np.full(count, float(degrees)), np.full(count, variance))
    return Shrinkage.fit(residuals)


CHANCES = np.zeros(len(SCALES))
CHANCES[[0, 6, 10]] = [0.6, 0.3, 0.1]


def test_shrinkage_of_known_scale_is_that_of_the_formula():
    """All weight on one scale: belief t^2 / (t^2 + s^2), error its product with s^2."""
    weights = np.zeros(len(SCALES))
    weights[8] = 1.0
    residuals = Residuals(np.array([0.4, 9.0]), np.array([1.0, 3.0]), np.array([0.05, 0.2]))
    shrinkage = Shrinkage(residuals, weights)
    expected = SCALES[8] / (SCALES[8] + residuals.variances)
    np.testing.assert_allclose(shrinkage.belief, expected)
    np.testing.assert_allclose(shrinkage.errors, expected * residuals.variances)


@pytest.mark.parametrize(("degrees", "variance"), [(1, 0.02), (6, 0.02), (1, 0.3)])
def test_the_error_formula_is_the_measured_error(degrees, variance):
    truth, reported = drawn(4000, degrees, variance, CHANCES, seed=degrees)
    shrinkage = fitted(reported, variance)
    squared = ((shrinkage.belief[:, None] * reported - truth) ** 2).mean(axis=1)
    difference = squared - shrinkage.errors
    sigmas = difference.mean() / (difference.std() / np.sqrt(len(difference)))
    print("squared error", squared.mean(), "formula", shrinkage.errors.mean(), "sigmas", sigmas)
    assert abs(sigmas) < FIVE_SIGMA
    assert squared.mean() < 0.8 * variance  # less than without shrinkage


def test_an_error_formula_that_forgets_the_doubt_is_caught():
    """The broken twin: noise alone, as if the scale of every residual were known."""
    truth, reported = drawn(4000, 1, 0.02, CHANCES, seed=1)
    shrinkage = fitted(reported, 0.02)
    squared = ((shrinkage.belief[:, None] * reported - truth) ** 2).mean(axis=1)
    difference = squared - shrinkage.belief**2 * 0.02
    assert difference.mean() / (difference.std() / np.sqrt(len(difference))) > FIVE_SIGMA


def test_pure_noise_is_not_believed_and_clear_residuals_are():
    _, noise = drawn(200, 1, 0.05, np.eye(len(SCALES))[0], seed=2)
    assert fitted(noise, 0.05).belief.mean() < 0.15
    _, clear = drawn(200, 4, 1e-6, CHANCES, seed=3)
    believed = fitted(clear, 1e-6).belief[(clear**2).sum(axis=1) > 0.001]
    assert believed.min() > 0.95


def test_the_law_is_found_again():
    _, reported = drawn(5000, 8, 0.001, CHANCES, seed=4)
    shrinkage = fitted(reported, 0.001)
    assert shrinkage.mean_scale == pytest.approx(float(CHANCES @ SCALES), rel=0.1)
    assert shrinkage.weights.sum() == pytest.approx(1)
