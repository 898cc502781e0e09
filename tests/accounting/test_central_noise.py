"""The noise of a trusted curator, against the definition of differential privacy."""

from math import exp, sqrt
from statistics import NormalDist

import pytest

from sottovoce.accounting.central_noise import gaussian_variance, laplace_variance
from sottovoce.accounting.targets import CentralTarget
from sottovoce.errors import ParameterError


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 1e-9), (0.5, 1e-6), (1.0, 1e-3), (4.0, 1e-9), (1.0, 0.3)]
)
def test_gaussian_noise_meets_its_target_and_no_less_noise_does(epsilon, delta):
    deviation = sqrt(gaussian_variance(CentralTarget(epsilon, delta)))
    assert divergence(deviation, epsilon) <= delta * (1 + 1e-6)
    assert divergence(0.999 * deviation, epsilon) > delta


def divergence(deviation, epsilon):
    """Return delta between N(0, s^2) and N(sqrt 2, s^2): the mass beyond where the odds are e."""
    first = NormalDist(sqrt(2), deviation)
    second = NormalDist(0, deviation)
    # the log-odds at x are (sqrt(2) x - 1) / s^2
    edge = (epsilon * deviation**2 + 1) / sqrt(2)
    # 1 - cdf loses a small tail; the distributions are symmetric
    above = NormalDist(-sqrt(2), deviation).cdf(-edge), second.cdf(-edge)
    assert first.mean == sqrt(2)
    return above[0] - exp(epsilon) * above[1]


def test_laplace_noise_has_twice_the_square_of_its_scale():
    scale = 2 / 0.25
    assert laplace_variance(0.25) == pytest.approx(2 * scale**2)


def test_an_epsilon_out_of_range_is_refused_by_name():
    with pytest.raises(ParameterError, match="`epsilon` must be"):
        laplace_variance(0.0)
