"""Additive sharing: shares add up, and all but one say nothing."""

import numpy as np
import pytest

from sottovoce.core.rng import SystemRng
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.peos.shares import joined, pack_words, split, unpack_words
from sottovoce.lab.seeded import SeededRng

WORDS = np.array([0, 1, (1 << 64) - 1, 12345], np.uint64)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shares_add_up_to_the_words(count):
    parts = split(WORDS, count, SystemRng())
    assert len(parts) == count
    assert (joined(parts) == WORDS).all()


def test_all_shares_but_one_do_not_depend_on_the_words():
    """With the same coins, other words change one share alone, by exactly their difference."""
    parts = split(WORDS, 3, SeededRng(1))
    others = split(WORDS + np.uint64(5), 3, SeededRng(1))
    assert (parts[0] == others[0]).all()
    assert (parts[1] == others[1]).all()
    assert (others[2] - parts[2] == 5).all()


def test_words_are_packed_as_little_endian_bytes():
    assert pack_words(np.array([1], np.uint64)) == b"\x01" + bytes(7)
    assert (unpack_words(pack_words(WORDS), 4) == WORDS).all()


def test_a_vector_of_another_length_is_refused():
    with pytest.raises(CodecError, match="must have 40 bytes"):
        unpack_words(bytes(32), 5)


def test_no_shares_at_all_are_refused():
    with pytest.raises(ParameterError, match="`count`"):
        split(WORDS, 0, SystemRng())
