"""Base: what it is given, and a copy of it."""

from postprocess.vectors import ABOVE, estimate
from sottovoce.postprocess.base import base, rule_for


def test_shares_stay_as_they_are_in_an_array_of_their_own():
    result = base(ABOVE)
    assert result.tolist() == ABOVE.tolist()
    assert result is not ABOVE
    assert rule_for(estimate(ABOVE)).step(ABOVE) == "base"
