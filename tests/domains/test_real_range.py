"""What ``Numbers`` and ``Buckets`` share: bounds, clamping and positions between the bounds."""

from math import copysign, inf, nan

import numpy as np
import pytest

from sottovoce.domains.buckets import Buckets
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.real_range import MAX_POINTS, position
from sottovoce.errors import DomainError, ParameterError

both = pytest.mark.parametrize("domain", [Numbers, Buckets])


@both
def test_bounds_become_floats_and_there_is_one_zero(domain):
    made = domain(-0.0, 10, 5)
    assert (made.low, made.high) == (0.0, 10.0)
    assert type(made.high) is float
    assert copysign(1.0, made.low) == 1.0


@both
@pytest.mark.parametrize(
    ("low", "high", "rule"),
    [
        (1.0, 1.0, "`high` must be above `low`, 1, not 1"),
        (2.0, 1.0, "`high` must be above `low`, 2, not 1"),
        (nan, 1.0, "`low` must be a number, not nan"),
        (0.0, inf, "`high` must be a number, not inf"),
        (-1.7e308, 1.7e308, "the distance between `low` and `high` must be finite"),
        ("0", 1.0, "`low` must be a number, not '0'"),
    ],
)
def test_impossible_bounds_are_refused(domain, low, high, rule):
    with pytest.raises(ParameterError) as caught:
        domain(low, high, 5)
    assert str(caught.value) == rule


@both
@pytest.mark.parametrize("count", [0, 1, MAX_POINTS + 1, 2.0, True, None])
def test_impossible_counts_are_refused(domain, count):
    with pytest.raises(ParameterError, match=r"must be a whole number from 2 to 2\^32"):
        domain(0.0, 1.0, count)


@both
def test_clamped_must_be_a_flag(domain):
    with pytest.raises(ParameterError, match="`clamped` must be true or false, not 1"):
        domain(0.0, 1.0, 5, 1)


@both
@pytest.mark.parametrize("values", [[-0.1], [10.1], [nan], [inf], ["3"], [None], [True], [[1.0]]])
def test_numbers_outside_of_the_bounds_are_refused(domain, values):
    with pytest.raises(DomainError):
        domain(0.0, 10.0, 5).indices(values)


@both
def test_clamped_numbers_count_as_the_nearer_bound(domain):
    made = domain(0.0, 10.0, 5, clamped=True)
    assert made.indices([-5, 11, inf, -inf]).tolist() == made.indices([0, 10, 10, 0]).tolist()
    with pytest.raises(DomainError):
        made.indices([nan])


def test_a_position_is_the_share_of_the_range_below_a_number():
    domain = Numbers(-1.0, 3.0, 9)
    assert position(domain, np.array([-1.0, 0.0, 3.0])).tolist() == [0.0, 0.25, 1.0]
