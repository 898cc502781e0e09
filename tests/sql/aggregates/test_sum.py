"""SUM is the first moment of a measure."""

from sottovoce.sql.aggregates.base import MeasureTerm, Moment
from sottovoce.sql.aggregates.sum import Sum
from sottovoce.sql.query import Column
from sql.aggregates.derivatives import check_slopes

MEASURE = (MeasureTerm(2.0, Column(0, 0)), MeasureTerm(-1.0, Column(0, 1)))


def test_a_sum_is_its_moment():
    total = Sum("s", MEASURE)
    assert total.moments == (Moment(MEASURE),)
    assert (total.counts_records, total.of_everybody, total.squares) == (False, False, False)
    check_slopes(total, [-7.0])
