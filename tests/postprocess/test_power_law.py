"""The power law: sums and exponents against plain summation."""

import numpy as np
import pytest

from sottovoce.postprocess.power_law import exponent, harmonic


@pytest.mark.parametrize("users", [1, 7, 256, 257, 5000, 200_000])
def test_sums_equal_plain_ones(users):
    exponents = np.array([-10.0, -2.5, -1.0, 0.0, 0.5, 1.0, 1.0 + 1e-14, 1.5, 3.0, 60.0])
    plain = (np.arange(1.0, users + 1) ** -exponents[:, None]).sum(axis=1)
    assert harmonic(exponents, users) == pytest.approx(plain, rel=2e-12)


def test_the_exponent_gives_the_mean():
    assert exponent(np.array([150.0, 0.5, 1.0]), 1000) == pytest.approx(
        [0.956363801326, 1.01, 1.01], abs=1e-11
    )
    assert exponent(np.array(976.6), 10**6) == pytest.approx(1.4764400511, abs=1e-10)
    fitted = exponent(np.array([2.0, 50.0, 500.0]), 1000)
    counts = np.arange(1.0, 1001)
    weights = counts ** -fitted[:, None]
    assert (weights @ counts) / weights.sum(axis=1) == pytest.approx([2, 50, 500], rel=1e-9)


def test_means_nobody_can_have_get_the_nearest_exponent():
    assert exponent(np.array([999.9, 2000.0]), 1000) == pytest.approx([-10, -10])
