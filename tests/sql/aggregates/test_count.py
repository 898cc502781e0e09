"""COUNT is the number of records itself."""

from sottovoce.sql.aggregates.base import COUNTED
from sottovoce.sql.aggregates.count import Count
from sql.aggregates.derivatives import check_slopes


def test_a_count_is_its_moment():
    count = Count("n")
    assert count.moments == (COUNTED,)
    assert count.combine([12.5]).value == 12.5
    assert (count.counts_records, count.of_everybody, count.squares) == (True, False, False)
    assert count.divisors([12.5]) == ()
    check_slopes(count, [12.5])
