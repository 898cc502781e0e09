"""How many reports of a group are fakes: ``test_fake_votes.py`` lists every way to deal them."""

import pytest

from sottovoce.core.fake_count import FakeCount
from sottovoce.errors import ParameterError


def test_the_number_of_fakes_is_known_for_as_many_people_as_can_be_counted():
    """Near its centre the law is normal: the mean solves the odds, within a part in a million."""
    reports, people, fakes, odds = 10**9, 9 * 10**8, 10**9, 0.7
    mean = FakeCount.among(reports, people, fakes, odds).mean
    there = mean * (people - reports + mean)
    assert there / ((reports - mean) * (fakes - mean)) == pytest.approx(odds, rel=1e-6)
    with pytest.raises(ParameterError, match="more than 2,147,483,647 messages"):
        FakeCount.among(10**9, 2 * 10**9, 10**9, odds)


def test_fakes_of_two_groups_vary_at_most_as_if_they_were_dealt_independently():
    """A fake that is in one group is not in the other."""
    parts = [FakeCount.among(reports, 80, 20) for reports in (30, 50)]
    together = parts[0] + parts[1]
    whole = FakeCount.among(80, 80, 20)
    assert together.mean == pytest.approx(whole.mean)
    assert together.variance > whole.variance
