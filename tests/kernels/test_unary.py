"""Positional population counts are exactly those of unpacking every bit and adding up."""

import numpy as np
import pytest

from sottovoce.arrays import Bytes, Ints
from sottovoce.kernels import unary
from sottovoce.kernels.unary import TILE, bit_counts

SIZES = [1, 7, 8, 9, 63, 64, 65, 1000, 1024, 1025]
USERS = [0, 1, 15, 16, 17, 63, 64, 65, 1000]


def twin(rows: Bytes, size: int) -> Ints:
    return np.unpackbits(rows, axis=1, bitorder="little")[:, :size].sum(axis=0, dtype=np.int64)


def drawn(users: int, size: int, seed: int = 1) -> Bytes:
    return np.random.default_rng(seed).integers(0, 256, (users, -(-size // 8)), dtype=np.uint8)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("users", USERS)
def test_counts_are_those_of_unpacked_bits(users, size):
    rows = drawn(users, size)
    counts = bit_counts(rows, size)
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, twin(rows, size))


@pytest.mark.parametrize("size", SIZES)
def test_bits_that_everybody_sets_are_counted_for_everybody(size):
    users = 9 * 8**4 + 5
    rows = np.full((users, -(-size // 8)), 0xFF, np.uint8)
    assert bit_counts(rows, size).tolist() == [users] * size


@pytest.mark.parametrize("rows", [7, 8, 9, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 33000])
def test_any_number_of_rows_settles(rows):
    """Past the adders and every level of them: 4,096 rows overflow the last, and inboxes are left
    in any state.

    Rows of more than half a tile are not glued together, so that as many reach the adders.
    """
    width = 8 * (TILE // 2 + 1)
    bits = drawn(rows, 8 * width, seed=rows)
    expected = sum(twin(part, 8 * width) for part in np.array_split(bits, 1 + rows // 4096))
    np.testing.assert_array_equal(bit_counts(bits, 8 * width, threads=1), expected)


@pytest.mark.parametrize("width", [1, 5, 8, 128, 129, 2047, 2048, 2049, 2056, 5000])
def test_rows_narrower_and_wider_than_a_tile_are_counted(width):
    rows = drawn(300, 8 * width)
    np.testing.assert_array_equal(bit_counts(rows, 8 * width), twin(rows, 8 * width))


@pytest.mark.parametrize("size", [3, 64, 1000, 1025])
@pytest.mark.parametrize("users", [1, 65, 5003])
def test_two_threads_count_like_one(users, size):
    rows = drawn(users, size)
    np.testing.assert_array_equal(
        bit_counts(rows, size, threads=2), bit_counts(rows, size, threads=1)
    )


def test_threads_start_by_themselves_where_there_is_much_to_read(monkeypatch):
    asked = []
    monkeypatch.setattr(unary, "THREADED", 1000)
    monkeypatch.setattr(unary, "cores", lambda users: asked.append(users) or 2)
    rows = drawn(1000, 1024)
    np.testing.assert_array_equal(bit_counts(rows, 1024), twin(rows, 1024))
    assert asked == [1000]


@pytest.mark.parametrize("skipped", [1, 2, 8])
def test_rows_that_begin_off_a_word_boundary_are_counted(skipped):
    rows = drawn(999, 1000)[skipped:]
    np.testing.assert_array_equal(bit_counts(rows, 1000), twin(rows, 1000))


def test_read_only_rows_are_counted_and_left_alone():
    """As they come from a store: a view of immutable bytes."""
    rows = np.frombuffer(drawn(999, 1000).tobytes(), np.uint8).reshape(999, 125)
    np.testing.assert_array_equal(bit_counts(rows, 1000), twin(rows, 1000))


def test_a_single_bit_is_counted_at_its_own_place():
    for bit in (0, 7, 8, 63, 64, 999):
        rows = np.zeros((100, 125), np.uint8)
        rows[50, bit // 8] = 1 << bit % 8
        assert np.flatnonzero(bit_counts(rows, 1000)).tolist() == [bit]
