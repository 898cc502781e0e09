"""Normal and chi-squared quantiles against tables and against the integral that defines them."""

from math import erfc, sqrt

import pytest

from sottovoce.errors import ParameterError
from sottovoce.maths.normal import chi_squared_quantile, quantile, upper_quantile


@pytest.mark.parametrize(
    ("level", "expected"), [(0.5, 0.674490), (0.9, 1.644854), (0.95, 1.959964), (0.99, 2.575829)]
)
def test_quantiles_are_those_of_the_tables(level, expected):
    assert quantile(level) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("tail", [0.3, 0.05, 1e-6, 1e-30, 1e-300])
def test_the_tail_above_an_upper_quantile_is_the_one_asked_for(tail):
    assert erfc(upper_quantile(tail) / sqrt(2)) / 2 == pytest.approx(tail, rel=1e-9)


def test_several_tests_share_the_error_equally():
    assert quantile(0.95, tests=10) == upper_quantile((1 - 0.95) / 20)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 95, float("nan")])
def test_a_level_outside_of_zero_and_one_is_refused(level):
    with pytest.raises(ParameterError, match="`level` must be a number above 0 and below 1"):
        quantile(level)


def test_the_smallest_tails_do_not_vanish():
    """2^-128 would vanish in 1 - tail."""
    assert upper_quantile(2.0**-128) == pytest.approx(13.0559468, abs=1e-6)


@pytest.mark.parametrize("degrees", [10, 31, 63, 200])
@pytest.mark.parametrize("tail", [0.05, 1e-3, 1e-6])
def test_chi_squared_quantiles_are_nearly_exact(tail, degrees):
    from scipy.special import chdtri

    exact = chdtri(degrees, tail)
    assert chi_squared_quantile(tail, degrees) == pytest.approx(exact, rel=0.25 / degrees)
