"""MAX is the last value beyond which there are records, as far as reports can tell."""

from math import isnan

import numpy as np

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.max import Max
from sottovoce.sql.query import Column

VALUES = np.arange(10.0)
LARGEST = Max("m", (MeasureTerm(1.0, Column(0, 0)),), numbers=VALUES)


def totals_of(aggregate, people):
    return [float(moment.measure[0].function.numbers[people].sum()) for moment in aggregate.moments]


def test_without_noise_it_is_the_largest_value():
    totals = totals_of(LARGEST, np.array([2, 7, 3, 3]))
    assert LARGEST.truth(totals) == 7.0
    assert LARGEST.bounds(totals, np.zeros((9, 9)), 1.96) == (7.0, 7.0)
    assert isnan(LARGEST.combine([0.0] * 9).value)


def test_the_interval_reaches_to_the_end_of_the_range_and_holds_the_truth():
    runs, people = 4000, np.repeat(np.arange(8), 100)
    true = np.array(totals_of(LARGEST, people))
    noise = np.random.default_rng(5).normal(0, 60, (runs, 9))
    ends = [LARGEST.bounds((true + one).tolist(), 3600 * np.eye(9), 1.96) for one in noise]
    assert all(high == 9.0 for _, high in ends)
    covered = np.mean([low <= 7.0 for low, _ in ends])
    assert covered > 0.975 - FIVE_SIGMA * np.sqrt(0.025 / runs)
    assert np.mean([low for low, _ in ends]) > 3  # most of the range is left out
