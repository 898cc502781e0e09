"""FREQ is a share of everybody."""

from sottovoce.sql.aggregates.freq import Freq
from sql.aggregates.derivatives import check_nothing, check_slopes


def test_a_share_is_a_count_over_the_count_of_everybody():
    share = Freq("f")
    assert [moment.of_everybody for moment in share.moments] == [False, True]
    assert (share.counts_records, share.of_everybody) == (True, True)
    assert share.divisors([30.0, 120.0]) == ((120.0, (0.0, 1.0)),)
    assert share.combine([30.0, 120.0]).value == 0.25
    check_slopes(share, [30.0, 120.0])
    check_nothing(share, [0.0, 0.0])
