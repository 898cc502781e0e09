"""Additive secret sharing of words modulo 2^64.

A vector of words becomes k vectors: k - 1 uniform ones, and the words minus their sum.  Any k - 1
of them are uniform and independent of the words; all of them add up to the words.
"""

from collections.abc import Iterable

import numpy as np

from sottovoce.arrays import Longs
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import CodecError

SHARE_BYTES = 8


def split(words: Longs, count: int, rng: Rng) -> list[Longs]:
    """Return ``count`` vectors that add up to the words.

    >>> from sottovoce.core.rng import SystemRng
    >>> parts = split(np.array([7, 0], np.uint64), 3, SystemRng())
    >>> joined(parts).tolist()
    [7, 0]
    """
    settings.whole("count", count, 1)
    uniform = [rng.longs(len(words)) for _ in range(count - 1)]
    return [*uniform, words - joined([np.zeros_like(words), *uniform])]


def joined(parts: Iterable[Longs]) -> Longs:
    """Return the sum of some vectors modulo 2^64."""
    first, *others = parts
    total = first.astype(np.uint64)
    for part in others:
        total = total + part
    return total


def pack_words(words: Longs) -> bytes:
    """Return words as little-endian bytes, 8 bytes each."""
    return words.astype("<u8").tobytes()


def unpack_words(data: bytes, count: int) -> Longs:
    """Return ``count`` words from bytes; data of another length is refused."""
    if len(data) != SHARE_BYTES * count:
        raise CodecError(f"a vector of {count} shares must have {SHARE_BYTES * count} bytes")
    return np.frombuffer(data, "<u8").astype(np.uint64)
