"""Rows of bits with wanted positions, filled up at random."""

import numpy as np
import pytest

from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.chosen_bits import bits_with


@pytest.mark.parametrize("ones", [2, 5, 9, 10])
def test_wanted_positions_come_first_and_the_number_of_ones_is_exact(ones):
    wanted = np.array([[1, 7], [3, 3]])
    bits = bits_with(wanted, ones, 10, SeededRng(1))
    assert (bits.sum(axis=1) == ones).all()
    assert np.take_along_axis(bits, wanted, axis=1).all()


def test_of_too_many_wanted_positions_a_random_part_is_set():
    bits = bits_with(np.tile([0, 2, 4], (600, 1)), 1, 6, SeededRng(1))
    counts = bits.sum(axis=0)
    print(counts)
    assert counts[[1, 3, 5]].sum() == 0
    assert (abs(counts[[0, 2, 4]] - 200) < 5 * np.sqrt(600 * 2 / 9)).all()


def test_the_others_are_uniform():
    """Two of the four others, 3,000 times; 5 sigma."""
    bits = bits_with(np.tile([5], (3000, 1)), 3, 5 + 1, SeededRng(2))
    counts = bits.sum(axis=0)
    print(counts)
    assert counts[5] == 3000
    assert (abs(counts[:5] - 1200) < 5 * np.sqrt(3000 * 0.4 * 0.6)).all()
