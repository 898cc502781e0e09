"""Summation with histogram encoding, and why it stays in the laboratory."""

import numpy as np
import pytest

from sottovoce.errors import DomainError, ParameterError
from sottovoce.lab.baselines.she import SHE
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.the import THE

TRUTH = np.array([20_000, 10_000, 5_000, 0])


def test_estimates_are_unbiased_with_the_stated_variance():
    """Totals within five standard errors, and the spread of single reports 8 / epsilon^2: Wang
    2021, theorem 3.3.3.
    """
    she = SHE(epsilon=1.0, size=4)
    reports = she.privatize(np.repeat(np.arange(4), TRUTH), SeededRng(21))
    estimate = she.estimate_reports(reports)
    assert estimate.variance == pytest.approx(TRUTH.sum() * 8)
    assert np.abs((estimate.totals - TRUTH) / estimate.errors).max() < 5
    spread, fourth = reports[:, 3].var(), 24 * she.scale**4
    assert abs(spread - 8) < 5 * np.sqrt((fourth - 8**2) / len(reports)), spread


def test_noise_of_another_scale_is_caught_by_the_spread():
    reports = SHE(epsilon=1.1, size=4).privatize(np.zeros(35_000, np.int64), SeededRng(21))
    assert abs(reports[:, 3].var() - 8) > 5 * np.sqrt((24 * 2**4 - 8**2) / len(reports))


def test_thresholded_reports_follow_the():
    she, the = SHE(2.0, 2), THE(2.0, 2, theta=0.75)
    reports = she.privatize(np.zeros(200_000, np.int64), SeededRng(22))
    error = np.sqrt(np.array([the.p * (1 - the.p), the.q * (1 - the.q)]) / len(reports))
    assert (np.abs((reports > 0.75).mean(axis=0) - [the.p, the.q]) < 5 * error).all()


def test_densities_of_real_noise_keep_epsilon():
    she = SHE(1.0, 3)
    reports = np.array(np.meshgrid(*[np.linspace(-3, 4, 29)] * 3)).reshape(3, -1).T
    densities = she.likelihood(reports)
    assert np.log(densities.max(axis=1) / densities.min(axis=1)).max() == pytest.approx(she.epsilon)
    assert she.epsilon_realised <= she.epsilon


@pytest.mark.parametrize(
    ("epsilon", "betrayed"), [(0.5, 0.08), (1.0, 0.15), (2.0, 0.27), (4.0, 0.45)]
)
def test_the_last_digits_of_float_noise_betray_the_value(epsilon, betrayed):
    """One plus any float is a multiple of 2^-53, so a finer report cannot come from a 1: its
    epsilon is infinite.

    Near -1, where 1 + noise falls on small numbers, floats are 2^-53 apart and the sum is exact;
    nothing finer is left.
    """
    reports = SHE(epsilon, 2).privatize(np.ones(400_000, np.int64), SeededRng(23))
    finer = np.mod(reports * 2.0**53, 1) != 0
    of_a_zero, of_a_one = finer.mean(axis=0)
    assert of_a_zero == pytest.approx(betrayed, abs=0.005)
    assert of_a_one == 0


def test_nothing_of_it_can_travel():
    she = SHE(1.0, 4)
    reports = she.privatize(np.array([0]), SeededRng(1))
    for action in (
        lambda: she.pack(reports),
        lambda: she.unpack(b""),
        lambda: she.width,
        lambda: she.outcomes(),
        lambda: she.tally(reports),
        lambda: she.estimate(None),
    ):
        with pytest.raises(ParameterError, match="raw floats and cannot be packed"):
            action()
    with pytest.raises(ParameterError, match="unknown mechanism kind"):
        Mechanism.kinds["she"]


def test_a_value_outside_the_domain_is_refused():
    with pytest.raises(DomainError):
        SHE(1.0, 4).privatize(np.array([4]), SeededRng(1))
