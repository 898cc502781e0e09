"""The compiled transform against the plain one."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.kernels import walsh
from sottovoce.maths import walsh as plain


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
def test_the_compiled_transform_equals_the_plain_one(kind):
    """Every length up to beyond the largest block; whole numbers are exact in floats too."""
    rng = np.random.default_rng(1)
    for power in range(19):
        vector = rng.integers(-99, 99, 1 << power).astype(kind)
        assert np.array_equal(plain.transform(vector), walsh.transform(vector.copy())), power


def test_rows_are_transformed_in_place():
    rows = np.random.default_rng(2).integers(0, 9, (3, 2, 32))
    wanted = plain.transform(rows)
    assert walsh.transform(rows) is rows
    assert np.array_equal(rows, wanted)


def test_large_integers_are_exact():
    vector = np.random.default_rng(3).integers(-(1 << 50), 1 << 50, 1 << 8)
    assert np.array_equal(walsh.transform(vector.copy()), plain.transform(vector))


@pytest.mark.parametrize("array", [np.zeros(8, np.uint8), np.zeros((8, 8))[:, ::2], np.zeros(6)])
def test_an_array_that_cannot_be_transformed_in_place_is_refused(array):
    with pytest.raises(ParameterError):
        walsh.transform(array)
