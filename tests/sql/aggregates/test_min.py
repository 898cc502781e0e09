"""MIN mirrors MAX."""

import numpy as np

from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.min import Min
from sottovoce.sql.query import Column

SMALLEST = Min("m", (MeasureTerm(1.0, Column(0, 0)),), numbers=np.arange(10.0))


def test_it_is_the_smallest_value_and_its_interval_begins_with_the_range():
    people = np.repeat([4, 5, 8], 500)
    totals = [
        float(moment.measure[0].function.numbers[people].sum()) for moment in SMALLEST.moments
    ]
    assert SMALLEST.truth(totals) == 4.0
    assert SMALLEST.bounds(totals, np.zeros((9, 9)), 1.96) == (4.0, 4.0)
    assert SMALLEST.bounds(totals, 100.0 * np.eye(9), 1.96) == (0.0, 4.0)
    assert SMALLEST.bounds(totals, 300.0**2 * np.eye(9), 1.96) == (0.0, 5.0)
