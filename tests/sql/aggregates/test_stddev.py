"""STDDEV is the root of the mean square less the squared mean."""

from math import sqrt

import numpy as np
import pytest

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.stddev import Stddev
from sottovoce.sql.aggregates.variance import Variance
from sottovoce.sql.query import Column
from sql.aggregates.derivatives import check_nothing, check_slopes

DEVIATION = Stddev("d", (MeasureTerm(1.0, Column(0, 0)),))


def test_a_deviation_is_that_of_the_numbers():
    numbers = np.array([1.0, 4.0, 4.0, 9.0])
    totals = [numbers.sum(), len(numbers), (numbers**2).sum()]
    assert DEVIATION.combine(totals).value == pytest.approx(numbers.std())
    assert (DEVIATION.squares, DEVIATION.argument) == (True, "column")
    assert DEVIATION.divisors(totals) == ((4.0, (0.0, 1.0, 0.0)),)
    check_slopes(DEVIATION, totals)
    check_nothing(DEVIATION, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("totals", [[10.0, 5.0, 10.0], [6.0, 2.0, 18.0]])
def test_a_spread_that_noise_makes_negative_or_nought_is_nought_without_a_slope(totals):
    assert DEVIATION.combine(totals) == (0.0, None)
    assert DEVIATION.truth(totals) == 0.0


NUMBERS = np.arange(-12.0, 13.0)
PEOPLE = 1000


def noisy_moments(runs):
    """Return true moments, the covariance of noise on the count of every number, and noisy ones."""
    dice = np.random.default_rng(4)
    people = np.clip(dice.normal(0, 5, PEOPLE), -12, 12).round()
    true = np.array([people.sum(), PEOPLE, (people**2).sum()])
    powers = np.stack([NUMBERS, np.ones(25), NUMBERS**2])
    covariance = powers @ powers.T * 20.0**2
    return true, covariance, dice.multivariate_normal(true, covariance, runs)


def bias(runs, estimate):
    """Return the bias of an estimate in its standard deviations."""
    true, covariance, drawn = noisy_moments(runs)
    estimates = np.array([estimate(totals.tolist(), covariance) for totals in drawn])
    return (estimates.mean() - DEVIATION.truth(true.tolist())) / estimates.std()


def test_a_noisy_deviation_is_not_too_small_and_a_plain_root_is():
    """What is left of the bias, of the third order, is held to a calibrated tenth of the error."""
    runs = 20_000
    sampling = FIVE_SIGMA / sqrt(runs)
    assert abs(bias(runs, DEVIATION.estimate)) < 0.02 + sampling
    assert bias(runs, lambda totals, _: DEVIATION.combine(totals).value) < -0.02 - sampling


def test_the_root_of_a_variance_without_bias_is_still_too_small():
    variance = Variance("v", DEVIATION.measure)
    root = bias(5000, lambda *noisy: sqrt(max(0.0, variance.estimate(*noisy))))
    assert root < bias(5000, DEVIATION.estimate) - 0.03


def test_the_correction_is_never_more_than_an_eighth():
    totals, covariance = [0.0, 10.0, 1.0], np.diag([0.0, 0.0, 1e6])
    assert DEVIATION.combine(totals).value == pytest.approx(sqrt(0.1))
    assert DEVIATION.estimate(totals, covariance) == pytest.approx(sqrt(0.1) * 1.125)
    assert DEVIATION.estimate(totals, np.zeros((3, 3))) == pytest.approx(sqrt(0.1))
