"""A number that a false report moves, as plain data and beside what an honest value does."""

import pytest

from sottovoce.core.influence import Influence
from sottovoce.tasks.moved_number import MovedNumber


@pytest.mark.parametrize(
    ("low", "high", "times"), [(0.0, 4.0, 2.0), (-4.0, 0.0, 2.0), (-2.0, 2.0, 2.0), (7.0, 8.0, 1.0)]
)
def test_the_larger_influence_is_compared_with_the_most_that_an_honest_value_does(low, high, times):
    number = MovedNumber("sum", "people.age", Influence(3.0, 8.0), low, high)
    assert number.times_honest == times


def test_it_is_plain_data():
    number = MovedNumber("count", "people.age = 0", Influence(3.0, 8.0, 2.0))
    assert number.to_dict() == {
        "kind": "count",
        "name": "people.age = 0",
        "influence": {"up": 3.0, "down": 8.0},
        "low": 0.0,
        "high": 1.0,
    }
