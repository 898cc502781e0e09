"""Grouping the positions of an array by key."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.arrays import grouped


@given(st.lists(st.integers(-5, 5)) | st.lists(st.sampled_from([0, 1, 65_535, 65_536])))
def test_every_position_stands_once_under_its_key(keys):
    array = np.array(keys, np.int64)
    groups = grouped(array)
    assert [key for key, _ in groups] == sorted(set(keys))
    for key, positions in groups:
        assert positions.tolist() == [i for i, entry in enumerate(keys) if entry == key]
