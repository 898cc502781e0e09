"""Randomisers of a number: the mean and its error from a tally, whatever the mechanism."""

from itertools import product

import numpy as np
import pytest

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.numeric import MeanNoise
from sottovoce.mechanisms.piecewise import Piecewise


def test_the_mean_and_its_variance_are_those_of_the_numbers():
    mechanism = Piecewise(1.0, 21, cells=64)
    reports = mechanism.privatize(np.arange(500) % 21, SeededRng(3))
    numbers = mechanism.numbers(mechanism.codes(reports))
    mean = mechanism.mean(mechanism.tally(reports))
    assert mean.total == pytest.approx(numbers.mean())
    assert mean.variance == pytest.approx(numbers.var(ddof=1) / 500)


def test_equal_reports_still_have_the_error_of_the_randomiser():
    mechanism = Duchi(1.0, 21)
    mean = mechanism.mean(mechanism.tally(np.ones(10, np.int64)))
    least = mechanism.variance(np.arange(21)).min()
    assert mean.variance == pytest.approx(least / 10)


def test_the_estimate_is_one_cell_whose_share_is_the_mean():
    mechanism = Duchi(1.0, 21)
    tally = mechanism.tally(np.array([1, 1, 0, 1]))
    estimate = mechanism.estimate(tally)
    mean = mechanism.mean(tally)
    assert estimate.frequencies == pytest.approx([mean.total])
    assert estimate.variance / 16 == pytest.approx([mean.variance])


def test_one_report_has_no_error():
    mechanism = Duchi(1.0, 21)
    with pytest.raises(NoDataError, match="at least two reports"):
        mechanism.mean(mechanism.tally(np.array([1])))


def test_the_variance_of_a_sum_is_that_of_every_outcome_listed():
    """Three independent numbers, each -1 or 1 with equal probability, of variance 1."""
    sums = [sum(outcome) for outcome in product((-1.0, 1.0), repeat=3)]
    noise = MeanNoise(1.0)
    assert noise.variances(np.zeros(1), 3) == pytest.approx([np.var(sums)])
    assert noise.linear(np.array([2.0]), np.zeros(1), 3) == pytest.approx(4 * np.var(sums))


def test_a_channel_that_is_too_large_is_refused():
    with pytest.raises(ParameterError, match="too large to list: choose a coarser grid"):
        Piecewise(1.0, 1 << 20).channel()
