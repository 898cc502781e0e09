"""Power: golden shares, and the quadrature against sums over every count."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, SIGMA, USERS, estimate
from sottovoce.core.noise import SampledNoise
from sottovoce.errors import ParameterError
from sottovoce.postprocess.power import power, rule_for
from sottovoce.postprocess.power_law import exponent

FITTED = [
    0.4941183773,
    0.2896714429,
    0.1812541990,
    0.0596102831,
    0.0282949977,
    0.0131038399,
    0.0086261629,
]
FORCED = [
    0.4907082356,
    0.2833683897,
    0.1607041833,
    0.0234974292,
    0.0101927261,
    0.0054164698,
    0.0040504457,
]


def brute(raw, deviation, users):
    """The posterior mean as a sum over all counts."""
    counts = np.arange(1.0, users + 1)
    fitted = exponent(users * raw.mean(), users)
    logs = -((users * raw[:, None] - counts) ** 2) / (
        2 * (users * deviation) ** 2
    ) - fitted * np.log(counts)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return (chances @ counts) / chances.sum(axis=1) / users


def test_golden_shares():
    assert power(ABOVE, SIGMA, USERS) == pytest.approx(FITTED, abs=1e-9)
    assert power(ABOVE, SIGMA, USERS, exponent=1.5) == pytest.approx(FORCED, abs=1e-9)
    assert rule_for(estimate(ABOVE))(ABOVE) == pytest.approx(FITTED, abs=1e-9)


@pytest.mark.parametrize(
    ("users", "deviation"),
    [
        (50, 0.3),
        (300, 0.3),
        (1000, 0.05),
        (1000, 0.001),
        (10_000, 0.02),
        (10_000, 1e-5),
        (100_000, 5e-4),
    ],
)
def test_quadrature_equals_the_sum_over_every_count(users, deviation):
    """Few users and many, noise below one count and above all: within 10^-7 standard errors."""
    rng = np.random.default_rng(6)
    raw = np.concatenate(
        [rng.normal(0, deviation, 30), deviation * np.linspace(-4, 45, 50), [0.5, 0.9, 1.0]]
    )
    raw = np.minimum(raw, 1 + 2 * deviation)
    assert power(raw, deviation, users) == pytest.approx(
        brute(raw, deviation, users), abs=1e-7 * deviation
    )


def test_no_estimate_is_too_extreme():
    raw = np.array([-1e6, -50.0, 0.0, 50.0, 1e6])
    shares = power(raw, 0.01, 5000, exponent=1.5)
    assert (np.diff(shares) >= 0).all()
    assert shares.min() >= 1 / 5000
    assert shares.max() <= 1.001


def test_every_row_has_its_own_exponent():
    rows = np.array([[0.3, 0.1, 0.05], [0.9, 0.4, 0.2]])
    assert power(rows, 0.05, 1000) == pytest.approx(
        np.stack([power(row, 0.05, 1000) for row in rows]), abs=1e-14
    )


def test_no_posterior_without_noise():
    with pytest.raises(ParameterError):
        power(ABOVE, 0.0, 1000)
    with pytest.raises(ParameterError):
        rule_for(estimate(ABOVE, SampledNoise(np.zeros((10, 7)))))
