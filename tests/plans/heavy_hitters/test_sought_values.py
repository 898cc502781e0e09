import pytest

from sottovoce.domains.strings import Strings
from sottovoce.errors import ParameterError
from sottovoce.plans.heavy_hitters.sought_values import MAX_KEPT, check_threshold, sought_values

WORDS = ["in"] * 5 + ["on"] * 3 + ["at"] * 2


def test_the_most_frequent_come_first():
    assert sought_values(Strings(4), WORDS, 2) == {"in": 5, "on": 3}


def test_above_a_threshold_everything_is_sought():
    assert sought_values(Strings(4), WORDS, 1, 0.2) == {"in": 5, "on": 3}
    assert sought_values(Strings(4), WORDS, 1, 0.1) == {"in": 5, "on": 3, "at": 2}


@pytest.mark.parametrize("threshold", [1.0, -0.1, float("nan"), 1 / MAX_KEPT / 2])
def test_a_threshold_that_too_many_could_exceed_is_refused(threshold):
    with pytest.raises(ParameterError, match="`threshold`"):
        check_threshold(threshold)
    assert check_threshold(0) == 0.0
    assert check_threshold(1 / MAX_KEPT) == 1 / MAX_KEPT
