"""AVG is a sum over a count."""

from sottovoce.sql.aggregates.avg import Avg
from sottovoce.sql.aggregates.base import COUNTED, MeasureTerm, Moment
from sottovoce.sql.query import Column
from sql.aggregates.derivatives import check_nothing, check_slopes

MEASURE = (MeasureTerm(1.0, Column(0, 0)),)


def test_an_average_is_a_sum_over_a_count():
    mean = Avg("a", MEASURE)
    assert mean.moments == (Moment(MEASURE), COUNTED)
    assert mean.ratio([6.0, 2.0]) == ((6.0, (1.0, 0.0)), (2.0, (0.0, 1.0)))
    assert mean.divisors([6.0, 2.0]) == ((2.0, (0.0, 1.0)),)
    assert mean.combine([60.0, 4.0]).value == 15.0
    check_slopes(mean, [60.0, 4.0])
    check_nothing(mean, [0.0, 0.0])
