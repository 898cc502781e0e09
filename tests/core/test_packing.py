"""Packed reports: strict widths, strict fields, and bits in a fixed order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.core.packing import below, bit_rows, bits_at, pack_bits, rows, unpack_bits, unsigned
from sottovoce.errors import CodecError


@pytest.mark.parametrize(
    ("size", "dtype"),
    [
        (2, "<u1"),
        (256, "<u1"),
        (257, "<u2"),
        (1 << 16, "<u2"),
        ((1 << 16) + 1, "<u4"),
        (1 << 32, "<u4"),
        ((1 << 32) + 1, "<u8"),
    ],
)
def test_the_smallest_type_holds_the_last_index_and_no_smaller_one_does(size, dtype):
    assert unsigned(size) == dtype
    assert np.array([size - 1]).astype(dtype)[0] == size - 1
    assert np.dtype(dtype).itemsize == 1 or size - 1 >> 4 * np.dtype(dtype).itemsize


def test_rows_are_whole():
    assert rows(b"\1\0\2\0", "<u2").tolist() == [1, 2]
    assert len(rows(b"", "<u2")) == 0
    with pytest.raises(CodecError, match="must have 2 bytes each"):
        rows(b"\1\0\2", "<u2")


def test_fields_are_below_their_limit():
    fields = np.array([0, 4], np.uint8)
    assert below(5, fields) is fields
    assert len(below(5, fields[:0])) == 0
    with pytest.raises(CodecError, match="must be below 4"):
        below(4, fields)


@given(st.integers(1, 40), st.integers(0, 5), st.randoms(use_true_random=False))
def test_bits_survive_packing(size, users, random):
    bits = np.array([[random.random() < 0.5 for _ in range(size)] for _ in range(users)], bool)
    bits = bits.reshape(users, size)
    packed = pack_bits(bits)
    assert packed.shape == (users, -(-size // 8))
    assert unpack_bits(packed, size).tolist() == bits.tolist()
    assert bit_rows(packed.tobytes(), size).tolist() == packed.tolist()
    positions = np.arange(size)[::-1]
    assert bits_at(packed, positions).tolist() == bits[:, ::-1].tolist()


def test_the_least_significant_bit_comes_first():
    assert pack_bits(np.array([[True, False, False]])).tolist() == [[1]]


def test_padding_must_be_zero():
    assert bit_rows(b"\x07", 3).tolist() == [[7]]
    with pytest.raises(CodecError, match="the padding after 3 bits must be zero"):
        bit_rows(b"\x08", 3)
