"""The enumeration of shuffled reports, against cases that can be done by hand."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from sottovoce.lab.truth import shuffled
from sottovoce.lab.truth.shuffled import DirectResponse, RationalBlanket
from sottovoce.mechanisms.grr import GRR

COIN = np.array([[0.75, 0.25], [0.25, 0.75]])  # randomised response of odds 3


def test_a_person_alone_has_the_delta_of_the_report():
    found = shuffled.shuffled_delta(COIN, (0, 1), [], log(2))
    assert found == pytest.approx(0.75 - 2 * 0.25)


def test_two_people_are_counted_by_hand():
    """With another person who holds 1: P[no 1s] = 3/16 against 1/16, and so on."""
    first = {0: 3 / 16, 1: 10 / 16, 2: 3 / 16}
    second = {0: 1 / 16, 1: 6 / 16, 2: 9 / 16}
    expected = sum(max(0, first[ones] - 1.2 * second[ones]) for ones in first)
    assert shuffled.shuffled_delta(COIN, (0, 1), [1], log(1.2)) == pytest.approx(expected)


def test_reports_that_tell_the_same_may_be_merged():
    doubled = np.concatenate([COIN / 2, COIN / 2])
    assert shuffled.merged(doubled).shape == (2, 2)
    apart = shuffled.shuffled_delta(doubled, (0, 1), [1, 0], 0.1)
    together = shuffled.shuffled_delta(shuffled.merged(doubled), (0, 1), [1, 0], 0.1)
    assert apart == pytest.approx(together, rel=1e-12)


def test_the_blanket_of_a_person_alone_is_its_report():
    blanket = RationalBlanket(Fraction(3), Fraction(1, 2), Fraction(0))
    found = shuffled.blanket_delta(blanket, 1, 0, Fraction(2))
    assert found == Fraction(3, 4) - 2 * Fraction(1, 4)


@pytest.mark.parametrize("users", [2, 4, 8])
@pytest.mark.parametrize("size", [3, 4])
def test_the_large_batch_formula_is_the_enumeration(users, size):
    law = GRR(1.5, size).likelihood(np.arange(size))
    for epsilon in (0.1, 0.6):
        expected = shuffled.shuffled_delta(law, (0, 1), [2] * (users - 1), epsilon)
        found = DirectResponse(1.5, size, users).delta(epsilon)
        assert found == pytest.approx(expected, rel=1e-9)


def test_epsilon_is_where_delta_is_reached():
    population = DirectResponse(1.5, 4, 300)
    epsilon = population.epsilon(1e-3)
    assert population.delta(epsilon) == pytest.approx(1e-3, rel=1e-5)
    assert exp(epsilon) < exp(1.5)
