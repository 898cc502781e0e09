"""Sums of quantiles: their values, and intervals that hold whatever the dependence."""

from math import isnan

import numpy as np
import pytest

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.sql.aggregates.avg import Avg
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.max import Max
from sottovoce.sql.aggregates.median import Median
from sottovoce.sql.aggregates.min import Min
from sottovoce.sql.formula import Constant
from sottovoce.sql.quantile_sums import summed
from sottovoce.sql.query import Column

TERM = (MeasureTerm(1.0, Column(0, 0)),)
VALUES = np.arange(10.0)
HALF = Median(measure=TERM, numbers=VALUES)
SMALLEST, LARGEST = Min(measure=TERM, numbers=VALUES), Max(measure=TERM, numbers=VALUES)
LAST_DAY = Max(measure=TERM, numbers=VALUES, of_dates=True)
FIRST_DAY = Min(measure=TERM, numbers=VALUES, of_dates=True)
PEOPLE = np.array([2, 3, 3, 5, 5, 5, 7])


def totals_of(number, people=PEOPLE):
    """Return the moments of people whose values are given."""
    return [float(moment.measure[0].function.numbers[people].sum()) for moment in number.moments]


def check_exact(number, value):
    totals = totals_of(number)
    exact = np.zeros((len(totals), len(totals)))
    assert number.truth(totals) == value
    assert number.bounds(totals, exact, 1.96) == (value, value)
    assert number.variance(totals, exact) == 0.0


def test_without_noise_sums_are_those_of_the_parts():
    spread = summed("-", LARGEST, SMALLEST)
    check_exact(spread, 5.0)
    check_exact(summed("/", spread, Constant(value=2.0)), 2.5)
    check_exact(summed("*", Constant(value=-2.0), spread), -10.0)
    check_exact(summed("-", summed("*", HALF, Constant(value=2.0)), Constant(value=1.0)), 9.0)
    check_exact(summed("-", LAST_DAY, FIRST_DAY), 5.0)
    assert spread.separate
    assert not spread.dated


def test_of_nobody_there_is_none():
    spread = summed("-", LARGEST, SMALLEST)
    assert isnan(spread.combine([0.0] * len(spread.moments)).value)


@pytest.mark.parametrize(
    ("operator", "left", "right"),
    [
        ("*", LARGEST, SMALLEST),
        ("/", LARGEST, SMALLEST),
        ("/", Constant(value=1.0), HALF),
        ("/", HALF, Constant(value=0.0)),
        ("-", LARGEST, Avg(measure=TERM)),
        ("+", LAST_DAY, Constant(value=1.0)),
        ("+", LAST_DAY, FIRST_DAY),
    ],
)
def test_other_formulas_are_no_sums(operator, left, right):
    assert summed(operator, left, right) is None


def covered(runs, difference, ends_of):
    """Return how often the interval of MEDIAN - MEDIAN of other people holds the difference.

    The noise of the second is the first's with the other sign: the worst dependence.
    """
    dice = np.random.default_rng(3)
    people, others = np.repeat(np.arange(10), 60), np.repeat(np.arange(2, 8), 100)
    true, other = np.array(totals_of(HALF, people)), np.array(totals_of(HALF, others))
    held = 0
    for noise in np.cumsum(dice.normal(0, 25, (runs, 9)), axis=1):
        totals = np.concatenate([true + noise, other - noise]).tolist()
        low, high = ends_of(totals, np.diag(np.tile(625.0 * np.arange(1, 10), 2)))
        held += low <= difference <= high
    return held / runs


def test_intervals_hold_whatever_the_dependence_and_shorter_ones_do_not():
    spread, runs = summed("-", HALF, HALF), 2000
    people, others = np.repeat(np.arange(10), 60), np.repeat(np.arange(2, 8), 100)
    difference = HALF.truth(totals_of(HALF, people)) - HALF.truth(totals_of(HALF, others))
    share = covered(runs, difference, lambda totals, law: spread.bounds(totals, law, 1.96))
    assert share > 0.95 - FIVE_SIGMA * np.sqrt(0.05 * 0.95 / runs)
    broken = covered(runs, difference, lambda totals, law: spread.bounds(totals, law, 0.1))
    assert broken < 0.9


def test_the_error_is_at_most_the_sum_of_the_errors():
    totals = totals_of(HALF)
    law = 4.0 * np.eye(9)
    both = summed("+", HALF, summed("*", Constant(value=3.0), HALF))
    single = HALF.variance(totals, law)
    doubled = np.kron(np.eye(2), law)
    assert both.variance(totals + totals, doubled) == pytest.approx(16 * single)
