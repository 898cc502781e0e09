"""STDDEV is the root of the mean square less the squared mean."""

import numpy as np
import pytest

from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.stddev import Stddev
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
