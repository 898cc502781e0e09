"""Binomial probabilities in plain floats against exact decimals."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import pytest

from sottovoce.maths import binomial

CASES = [
    (7, 2_448_815, 1.1065749521204801e-05),
    (16, 320_182, 0.00016480750131137118),
    (3, 5, 0.3),
    (0, 40, 0.02),
    (40, 40, 0.98),
    (30, 40, 0.5),
    (10, 40, 0.75),
    (2_000, 4_000, 0.5),
    (2_190, 4_000, 0.5),
    (1_810, 4_000, 0.5),
    (999, 1_000, 0.999),
]
RELATIVE_ERROR = 1e-12


def exactly(count, trials, chance):
    """Return P[X = count] in sixty digits."""
    with localcontext(prec=60):
        p = Decimal(chance)
        return Decimal(comb(trials, count)) * p**count * (1 - p) ** (trials - count)


def exact_tail(counts, trials, chance):
    with localcontext(prec=60):
        return sum((exactly(count, trials, chance) for count in counts), Decimal(0))


@pytest.mark.parametrize(("count", "trials", "chance"), CASES)
def test_one_outcome_has_twelve_digits(count, trials, chance):
    expected = float(exactly(count, trials, chance))
    assert binomial.probability(count, trials, chance) == pytest.approx(expected, RELATIVE_ERROR)


@pytest.mark.parametrize(("count", "trials", "chance"), CASES)
def test_both_tails_have_twelve_digits(count, trials, chance):
    below = exact_tail(range(count), trials, chance)
    found_below = binomial.fewer_than(count, trials, chance)
    found_above = binomial.at_least(count, trials, chance)
    assert found_below == pytest.approx(float(below), RELATIVE_ERROR)
    with localcontext(prec=60):
        assert found_above == pytest.approx(float(1 - below), RELATIVE_ERROR)


def test_a_tail_far_from_the_mean_has_twelve_digits():
    expected = exact_tail(range(2_300, 4_001), 4_000, 0.5)
    assert binomial.at_least(2_300, 4_000, 0.5) == pytest.approx(float(expected), RELATIVE_ERROR)


def test_the_edges_are_exact():
    assert binomial.probability(0, 5, 0.0) == binomial.probability(5, 5, 1.0) == 1.0
    assert binomial.probability(-1, 5, 0.5) == binomial.probability(6, 5, 0.5) == 0.0
    assert binomial.at_least(0, 5, 0.5) == binomial.fewer_than(6, 5, 0.5) == 1.0
    assert binomial.at_least(6, 5, 0.5) == binomial.fewer_than(0, 5, 0.5) == 0.0
    assert binomial.at_least(5, 5, 1.0) == binomial.fewer_than(1, 5, 0.0) == 1.0
    assert binomial.probability(0, 0, 0.5) == 1.0


@pytest.mark.parametrize(("low", "high"), [(0, 3), (3, 9), (9, 21), (0, 21), (19, 20)])
def test_an_interval_is_the_sum_of_its_outcomes(low, high):
    outcomes = (binomial.probability(count, 20, 0.3) for count in range(low, high))
    assert binomial.between(low, high, 20, 0.3) == pytest.approx(sum(outcomes), 1e-11)


@pytest.mark.parametrize("tail", [0.3, 0.01, 1e-6, 1e-12])
@pytest.mark.parametrize("chance", [0.03, 0.5, 0.9])
def test_quantiles_leave_out_at_most_their_tail(tail, chance):
    low = binomial.lower_quantile(tail, 500, chance)
    high = binomial.upper_quantile(tail, 500, chance)
    assert binomial.fewer_than(low, 500, chance) <= tail < binomial.fewer_than(low + 1, 500, chance)
    assert binomial.at_least(high + 1, 500, chance) <= tail
    assert binomial.at_least(high, 500, chance) > tail


@pytest.mark.parametrize("trials", [1, 2, 7, 40, 301])
@pytest.mark.parametrize("distance", [0.0, 0.25, 1.0, 3.75, 19.5])
def test_the_excess_is_the_mean_above_a_distance(trials, distance):
    mean = Fraction(trials, 2) + Fraction(distance)
    parts = (comb(trials, k) * (k - mean) for k in range(trials + 1) if k > mean)
    expected = float(sum(parts, Fraction(0)) / 2**trials)
    assert binomial.fair_excess(trials, distance) == pytest.approx(expected, 1e-11, abs=1e-300)


def test_no_coins_exceed_nothing():
    assert binomial.fair_excess(0, 0.0) == 0.0
