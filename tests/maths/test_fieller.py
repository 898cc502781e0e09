"""Fieller's interval: exactly the ratios that a test does not refuse, and as often true as it
says.
"""

from math import inf

import numpy as np
import pytest

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.maths.fieller import RatioLaw, fieller

REACH = 1.96


def test_its_ends_are_refused_by_the_test_exactly():
    law = RatioLaw(4.0, 1.0, 0.5)
    for end in fieller(20.0, 10.0, law, REACH):
        variance = law.above - 2 * end * law.both + end**2 * law.below
        assert (20.0 - end * 10.0) ** 2 == pytest.approx(REACH**2 * variance)


def test_a_number_below_that_may_be_nought_leaves_everything_possible():
    assert fieller(20.0, 1.9, RatioLaw(4.0, 1.0), REACH) == (-inf, inf)
    assert fieller(20.0, 2.0, RatioLaw(4.0, 1.0), REACH)[1] < inf


def test_a_ratio_of_exact_numbers_is_exact():
    assert fieller(6.0, 3.0, RatioLaw(0.0, 0.0), REACH) == (2.0, 2.0)


@pytest.mark.parametrize("below", [3.0, 5.0, 50.0])
def test_it_holds_the_truth_as_often_as_it_says(below):
    runs = 20_000
    dice = np.random.default_rng(4)
    above = 2 * below + dice.normal(0, 1, runs)
    divisors = below + dice.normal(0, 1, runs)
    ends = [fieller(a, b, RatioLaw(1.0, 1.0), REACH) for a, b in zip(above, divisors, strict=True)]
    covered = np.mean([low <= 2.0 <= high for low, high in ends])
    bounded = np.mean([high < inf for _, high in ends])
    spread = np.sqrt(0.95 * 0.05 / runs)
    assert abs(covered - 0.95) < FIVE_SIGMA * spread + (1 - bounded)
    careless = [
        fieller(a, b, RatioLaw(1.0, 0.0), REACH) for a, b in zip(above, divisors, strict=True)
    ]  # as if the number below were exact
    assert np.mean([low <= 2.0 <= high for low, high in careless]) < 0.9
