"""Base: what it is given, and a copy of it."""

from postprocess.vectors import ABOVE, estimate
from sottovoce.postprocess.unprocessed import rule_for, unprocessed


def test_shares_stay_as_they_are_in_an_array_of_their_own():
    result = unprocessed(ABOVE)
    assert result.tolist() == ABOVE.tolist()
    assert result is not ABOVE
    assert rule_for(estimate(ABOVE)).step(ABOVE) == "base"
