"""Tallies: a commutative monoid of integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from sottovoce.core.tally import Tally
from sottovoce.errors import MismatchError, ParameterError

tallies = some.lists(some.integers(0, 1 << 40), min_size=3, max_size=3).map(
    lambda counts: Tally("k", sum(counts), {"support": np.array(counts, np.int64)})
)
NOTHING = Tally("k", 0, {"support": np.zeros(3, np.int64)})


@given(tallies, tallies, tallies)
def test_merging_is_associative_and_commutative_with_a_zero(first, two, three):
    assert (first + two) + three == first + (two + three)
    assert first + two == two + first
    assert first + NOTHING == first


def test_other_keys_and_shapes_do_not_add():
    with pytest.raises(MismatchError):
        NOTHING + Tally("other", 0, {"support": np.zeros(3, np.int64)})
    with pytest.raises(MismatchError):
        NOTHING + Tally("k", 0, {"support": np.zeros(4, np.int64)})
    assert Tally("k", 0, {"support": np.zeros(4, np.int64)}) != NOTHING
    assert NOTHING != 3


def test_real_numbers_never_enter():
    with pytest.raises(ParameterError):
        Tally("k", 1, {"support": np.zeros(3)})
    with pytest.raises(ParameterError):
        Tally("k", -1, {})
