"""Thresholding with histogram encoding."""

from math import exp, log

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.checks import (
    PURE_CHECKS,
    SAMPLED_CHECKS,
    epsilon_is_spent_whole,
    samples_follow_the_likelihood,
)
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.the import THE

SMALL = [THE(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5)] + [
    THE(1.0, 9, theta=1.0)
]
CHECKS = [check for check in PURE_CHECKS if check is not epsilon_is_spent_whole]
# Epsilon, the best theta, and the variance per user of a rare value there: a scan of theta in [-2,
# 4].
BEST = [
    (0.1, 0.5125, 409.85),
    (0.5, 0.5616, 17.828),
    (1.0, 0.6186, 4.8072),
    (1.5, 0.6681, 2.2370),
    (2.0, 0.7096, 1.2836),
    (3.0, 0.7724, 0.55645),
    (4.0, 0.8157, 0.28517),
    (6.0, 0.8691, 0.09075),
    (10.0, 0.9192, 0.01149),
]


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize(("epsilon", "theta", "variance"), BEST)
def test_the_best_theta_and_its_variance(epsilon, theta, variance):
    the = THE(epsilon, 4)
    assert the.theta == pytest.approx(theta, abs=1e-3)
    assert the.noise.unheld == pytest.approx(variance, rel=5e-4)
    for other in np.linspace(0.01, 1, 100):
        assert THE(epsilon, 4, theta=float(other)).noise.unheld >= the.noise.unheld * (1 - 1e-9)


def test_bits_follow_the_tails_of_laplace_noise():
    """The chance that noise of scale 2 / epsilon lifts a 1, and a 0, over theta."""
    the = THE(epsilon=2.0, size=4, theta=0.75)
    assert the.p == pytest.approx(1 - exp(-0.25) / 2)
    assert the.q == pytest.approx(exp(-0.75) / 2)
    noise = np.random.default_rng(13).laplace(0, 2 / 2.0, 1_000_000)
    for seen, stated in (((1 + noise > 0.75).mean(), the.p), ((noise > 0.75).mean(), the.q)):
        assert abs(seen - stated) < 5 * np.sqrt(stated * (1 - stated) / len(noise)), (seen, stated)


@pytest.mark.parametrize(("epsilon", "realised"), [(1.0, log(2 * exp(0.5) - 1)), (2.0, 1.490)])
def test_bits_at_theta_one_reveal_less_than_the_noise_they_come_from(epsilon, realised):
    assert THE(epsilon, 4, theta=1.0).epsilon_realised == pytest.approx(realised, abs=5e-4)
    with pytest.raises(AssertionError):
        epsilon_is_spent_whole(THE(epsilon, 4))


@pytest.mark.parametrize(
    "check", [samples_follow_the_likelihood, *SAMPLED_CHECKS], ids=lambda check: check.__name__
)
def test_a_device_that_spends_the_rest_in_silence_is_caught(check):
    class Retuned(THE):
        def privatize(self, values, rng):
            return OUE(self.epsilon, self.size).privatize(values, rng)

    with pytest.raises(AssertionError):
        check(Retuned(epsilon=2.0, size=5))


def test_the_document_keeps_theta_as_a_decimal():
    assert THE(1.0, 4, theta=1) == THE(1.0, 4, theta=1.0)
    assert repr(THE(1.0, 4, theta=1).theta) == "1.0"


@pytest.mark.parametrize("theta", [-0.1, 1.001, float("nan"), float("inf")])
def test_an_impossible_theta_is_refused(theta):
    with pytest.raises(ParameterError, match="theta"):
        THE(1.0, 4, theta=theta)
