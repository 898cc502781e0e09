"""The curator and the guess, against what they draw."""

import numpy as np
import pytest

from sottovoce.lab.baselines.shuffled.yardsticks import CentralLaplace, UniformGuess

TRUTH = np.array([700, 200, 100, 0])


def test_laplace_noise_has_the_stated_error():
    curator = CentralLaplace(0.5)
    generator = np.random.default_rng(3)
    runs = 4000
    errors = np.array([curator.draw(TRUTH, 0, generator) for _ in range(runs)]) - TRUTH / 1000
    expected = 8 / (0.5**2 * 1000**2)
    assert curator.mse(TRUTH) == pytest.approx(expected)
    # The square of a Laplace variable has a relative variance of 5.
    assert (errors**2).mean() == pytest.approx(expected, rel=5 * (5 / (4 * runs)) ** 0.5)
    assert curator.claim.local is None


def test_the_guess_asks_nobody():
    guess = UniformGuess()
    assert guess.claim is None
    assert guess.draw(TRUTH, 0, np.random.default_rng(1)).tolist() == [0.25] * 4
    assert guess.mse(TRUTH) == pytest.approx((0.45**2 + 0.05**2 + 0.15**2 + 0.25**2) / 4)
