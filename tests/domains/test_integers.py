"""Integers: whole numbers to indices, and bounds that are refused."""

import numpy as np
import pytest

from sottovoce.domains.integers import Integers
from sottovoce.errors import DomainError, ParameterError


def test_a_number_has_its_distance_from_the_low_bound_as_index():
    ages = Integers(18, 99)
    assert ages.size == 82
    assert ages.labels[0] == "18"
    assert ages.labels[-1] == "99"
    assert ages.indices([18, 20, 99]).tolist() == [0, 2, 81]
    assert ages.indices(np.array([20], np.uint8)).tolist() == [2]
    assert ages.indices([]).tolist() == []


def test_one_label_is_that_of_all_labels():
    numbers = Integers(-3, 4)
    assert tuple(numbers.label_at(index) for index in range(numbers.size)) == numbers.labels


def test_bounds_may_be_negative():
    assert Integers(-3, -1).indices([-1, -3]).tolist() == [2, 0]


@pytest.mark.parametrize("values", [[17], [100], [18.5], [float("nan")], ["20"], [None], [True]])
def test_numbers_outside_a_range_are_refused(values):
    with pytest.raises(DomainError, match="a value must be a whole number from 18 to 99"):
        Integers(18, 99).indices(values)


@pytest.mark.parametrize(
    ("low", "high", "rule"),
    [
        (3, 3, "`high` must be a whole number of at least 4, not 3"),
        (3, 2, "`high` must be a whole number of at least 4, not 2"),
        (0, 9.0, "`high` must be a whole number of at least 1, not 9.0"),
        (0.0, 9, "`low` must be a whole number, not 0.0"),
        (True, 9, "`low` must be a whole number, not True"),
    ],
)
def test_impossible_bounds_are_refused(low, high, rule):
    with pytest.raises(ParameterError) as caught:
        Integers(low, high)
    assert str(caught.value) == rule


def test_known_indices_leave_others_out():
    ages = Integers(18, 99)
    assert ages.known_indices([17, 18, np.int64(20), 100]) == [0, 2]
    with pytest.raises(DomainError, match="must be a whole number"):
        ages.known_indices([18, True])
