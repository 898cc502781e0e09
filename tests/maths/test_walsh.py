"""The plain transform against the matrix that defines it."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.maths import walsh


def matrix(length):
    index = np.arange(length)
    return 1 - 2 * (np.bitwise_count(index[:, None] & index).astype(np.int64) & 1)


@pytest.mark.parametrize("length", [1, 2, 4, 8, 64, 256])
def test_the_transform_is_the_product_with_the_matrix(length):
    vector = np.random.default_rng(length).integers(-1000, 1000, length)
    assert np.array_equal(walsh.transform(vector), matrix(length) @ vector)


def test_twice_is_the_length_times_the_vector():
    vector = np.random.default_rng(2).integers(-(1 << 40), 1 << 40, 1 << 10)
    assert np.array_equal(walsh.transform(walsh.transform(vector)), vector << 10)


def test_only_the_last_axis_is_transformed_and_the_argument_is_left_alone():
    rows = np.random.default_rng(3).integers(0, 9, (3, 2, 16), dtype=np.uint8)
    before = rows.copy()
    assert np.array_equal(walsh.transform(rows), before.astype(np.int64) @ matrix(16))
    assert np.array_equal(rows, before)


def test_floats_stay_floats():
    vector = np.random.default_rng(4).normal(size=32)
    assert np.allclose(walsh.transform(vector), matrix(32) @ vector, rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [0, 3, 12])
def test_a_length_that_is_no_power_of_two_is_refused(length):
    with pytest.raises(ParameterError):
        walsh.transform(np.zeros(length))
