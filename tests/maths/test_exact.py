"""Sixty-digit arithmetic: thresholds round the way they promise, and stated decimals add up."""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import inf, nextafter

import pytest

from sottovoce.maths import exact

EPSILONS = (1e-6, 0.1, 0.5, 1.0, 3.0, 20.0)


def test_operators_round_to_sixty_digits_inside_the_context_and_nowhere_else():
    before = getcontext().prec
    with exact.sixty_digits():
        third = Decimal(1) / 3
        assert third == Decimal("0." + 60 * "3")
    assert getcontext().prec == before
    assert Decimal(1) / 3 != third


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_exp_and_log_undo_each_other(epsilon):
    odds = exact.exp(epsilon)
    assert abs(exact.log(Fraction(odds)) - exact.stated(epsilon)) < Decimal(10) ** -55


def test_exp_is_that_of_the_stated_decimal_and_not_of_the_binary_number():
    with exact.sixty_digits():
        assert exact.exp(0.1) == Decimal("0.1").exp()
        binary = Decimal(Fraction(0.1).numerator) / Fraction(0.1).denominator
        assert exact.exp(0.1) != binary.exp()


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 3, 1000])
def test_thresholds_enclose_their_probability(epsilon, size):
    with exact.sixty_digits():
        odds = exact.exp(epsilon)
        keep = odds / (odds + size - 1)
    below = exact.threshold_below(keep)
    above = exact.threshold_above(keep)
    assert above == below + 1
    assert exact.probability(below) < Fraction(keep) < exact.probability(above)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_threshold_rounded_down_spends_no_more_than_epsilon(epsilon):
    with exact.sixty_digits():
        odds = exact.exp(epsilon)
        keep = exact.probability(exact.threshold_below(odds / (odds + 1)))
    assert exact.log(keep / (1 - keep)) <= exact.stated(epsilon)


def test_a_threshold_is_exact_where_the_probability_is():
    half = Decimal("0.5")
    assert exact.threshold_below(half) == exact.threshold_above(half) == exact.UNIT // 2


def test_a_threshold_never_means_never_or_always():
    assert exact.threshold_below(Decimal(0)) == 1
    assert exact.threshold_above(Decimal(1)) == exact.UNIT - 1


@pytest.mark.parametrize("whole", [0.3, 0.7, 1.0, 1.2, 20.0])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 999])
def test_equal_parts_never_exceed_the_whole_and_are_the_largest_that_do_not(whole, count):
    part = exact.part(whole, count)
    assert exact.stated(part) * count <= exact.stated(whole)
    larger = nextafter(part, inf)
    assert exact.stated(larger) * count > exact.stated(whole) or larger > whole / count


@pytest.mark.parametrize("text", ["0.1", "1.0000000000000000001", "0.30000000000000001"])
def test_at_least_is_the_smallest_float_that_is_not_below(text):
    number = Decimal(text)
    result = exact.at_least(number)
    assert exact.stated(result) >= number
    assert exact.stated(nextafter(result, 0.0)) < number
