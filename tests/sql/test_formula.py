"""Numbers made of numbers: values, slopes by the chain rule, and what is divided by."""

from math import isnan

import numpy as np
import pytest

from sottovoce.sql.aggregates.avg import Avg
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.aggregates.stddev import Stddev
from sottovoce.sql.aggregates.sum import Sum
from sottovoce.sql.formula import Constant, Formula, Rounded
from sottovoce.sql.query import Column
from sql.aggregates.derivatives import check_slopes

MEASURE = (MeasureTerm(1.0, Column(0, 0)),)
COUNT, SUM, AVG = Count(), Sum(measure=MEASURE), Avg(measure=MEASURE)
TOTALS = {"+": 17.0, "-": 7.0, "*": 60.0, "/": 2.4}


@pytest.mark.parametrize(("operator", "value"), TOTALS.items())
def test_two_numbers_are_joined_with_their_slopes(operator, value):
    formula = Formula(operator=operator, operands=(SUM, COUNT))
    assert formula.combine([12.0, 5.0]).value == pytest.approx(value)
    assert len(formula.moments) == 2
    check_slopes(formula, [12.0, 5.0])


def test_formulas_nest():
    share = Formula(operator="/", operands=(COUNT, COUNT))
    percent = Formula(operator="*", operands=(Constant(value=100.0), share))
    both = Formula(operator="-", operands=(percent, AVG))
    assert both.combine([3.0, 12.0, 30.0, 6.0]).value == 25.0 - 5.0
    check_slopes(both, [3.0, 12.0, 30.0, 6.0])
    assert both.formula == "((100) * ((count) / (count))) - (sum / count)"


def test_everything_that_is_divided_by_is_known():
    share = Formula(operator="/", operands=(AVG, COUNT))
    values = [divisor.value for divisor in share.divisors([30.0, 6.0, 4.0])]
    slopes = [divisor.slopes for divisor in share.divisors([30.0, 6.0, 4.0])]
    assert values == [6.0, 4.0]
    assert slopes == [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    above, below = share.ratio([30.0, 6.0, 4.0])
    assert (above.value, below.value) == (5.0, 4.0)
    assert Formula(operator="+", operands=(COUNT, COUNT)).ratio([1.0, 2.0]) is None


def test_nothing_comes_of_nothing():
    for totals in ([0.0, 0.0, 4.0], [5.0, 5.0, 0.0]):
        value, slopes = Formula(operator="/", operands=(AVG, COUNT)).combine(totals)
        assert isnan(value)
        assert slopes is None


def test_rounding_changes_the_value_and_keeps_the_error():
    rounded = Rounded(number=AVG, digits=1)
    exact, shown = AVG.combine([31.0, 6.0]), rounded.combine([31.0, 6.0])
    assert shown.value == 5.2 != exact.value
    assert shown.slopes == exact.slopes
    assert rounded.divisors([31.0, 6.0]) == AVG.divisors([31.0, 6.0])
    assert rounded.ratio([31.0, 6.0]) == AVG.ratio([31.0, 6.0])
    assert rounded.formula == "round(sum / count, 1)"


def test_a_constant_has_no_moments_and_no_error():
    assert Constant(value=7.0).combine([]) == (7.0, ())
    assert Constant(value=7.0).moments == ()


def test_a_multiple_of_a_corrected_number_is_that_multiple():
    deviation = Stddev(measure=MEASURE)
    totals, covariance = [10.0, 50.0, 300.0], np.diag([4.0, 9.0, 25.0])
    corrected = deviation.estimate(totals, covariance)
    assert corrected != deviation.combine(totals).value
    double = Formula(operator="*", operands=(Constant(value=2.0), deviation))
    assert double.estimate(totals, covariance) == pytest.approx(2 * corrected)
    both = Formula(operator="/", operands=(deviation, COUNT))
    law = np.zeros((4, 4))
    law[:3, :3] = covariance
    assert both.estimate([*totals, 8.0], law) == pytest.approx(corrected / 8)
    assert isnan(both.estimate([*totals, 0.0], law))
