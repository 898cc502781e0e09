"""Reports of a fixed width as bytes, read strictly.

Bytes that are left over and fields that no mechanism writes are errors.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Bytes, Reports, Values
from sottovoce.errors import CodecError


def unsigned(size: int) -> str:
    """Return the smallest little-endian unsigned type that holds an index below ``size``.

    >>> unsigned(256), unsigned(257), unsigned(1 << 20)
    ('<u1', '<u2', '<u4')
    """
    return f"<u{index_bytes(size)}"


def index_bytes(size: int) -> int:
    """Return the bytes of that type.

    >>> index_bytes(256), index_bytes(257), index_bytes(1 << 20)
    (1, 2, 4)
    """
    if size <= 1 << 8:
        return 1
    if size <= 1 << 16:
        return 2
    return 4 if size <= 1 << 32 else 8


def rows(data: bytes, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return one row per report; data that is not a whole number of rows is refused."""
    layout = np.dtype(dtype)
    if len(data) % layout.itemsize:
        raise CodecError(f"packed reports of this task must have {layout.itemsize} bytes each")
    return np.frombuffer(data, layout)


def below(limit: int, fields: Reports) -> Reports:
    """Return the fields, or refuse them if one is not below the limit."""
    if len(fields) and int(fields.max()) >= limit:
        raise CodecError(f"a field of a packed report must be below {limit}")
    return fields


def bit_rows(data: bytes, size: int) -> Bytes:
    """Return packed rows of ``size`` bits, least significant bit first; padding bits must be 0."""
    width = -(-size // 8)
    packed = rows(data, np.dtype((np.uint8, (width,))))
    padding = 8 * width - size
    if padding and bool((packed[:, -1] >> (8 - padding)).any()):
        raise CodecError(f"the padding after {size} bits must be zero")
    return packed


def pack_bits(bits: npt.NDArray[np.bool_]) -> Bytes:
    """Return (users, width) bytes from (users, size) bits, least significant bit first."""
    return np.packbits(bits, axis=1, bitorder="little")


def unpack_bits(packed: Bytes, size: int) -> npt.NDArray[np.bool_]:
    """Return (users, size) bits from packed rows."""
    return np.unpackbits(packed, axis=1, count=size, bitorder="little").astype(bool)


def bits_at(packed: Bytes, positions: Values) -> npt.NDArray[np.bool_]:
    """Return (users, positions): the bits at some positions of packed rows."""
    containing_bytes = packed[:, positions >> 3]
    return np.asarray(containing_bytes >> (positions & 7).astype(np.uint8) & 1, bool)


def own_bits(packed: Bytes, positions: Values) -> npt.NDArray[np.bool_]:
    """Return the bit of every row at a position of its own."""
    containing_bytes = packed[np.arange(len(packed)), positions >> 3]
    return np.asarray(containing_bytes >> (positions & 7).astype(np.uint8) & 1, bool)
