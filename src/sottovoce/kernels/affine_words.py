"""Seeds expanded into signed masks, compiled: the words of affine response, with the report's bucket already folded in.

A signed word is a mask with ``offset XOR bucket bit`` in its top bit, so XORing words builds the position and the
sign of a term of the decoding sum together.  Words are laid out ``(rank, reports)``, a block of reports at a time.

Source: docs/affine-response.md.
"""

from typing import Any

import numpy as np
from numba.extending import intrinsic

from sottovoce.arrays import Longs, Words
from sottovoce.kernels import jit

BLOCK = 1024  # reports whose words stay in the first level of the cache
SIGN = np.uint32(1 << 31)
LONG_SIGN = np.uint64(1 << 63)
ONE = np.uint64(1)


@intrinsic
def popcount(context: Any, value: Any) -> Any:
    """The number of set bits, one instruction where the processor has it."""
    return value(value), lambda _context, builder, _signature, arguments: builder.ctpop(arguments[0])


@jit
def mix(x: Any) -> Any:
    """``hashing.mix`` of one word; every step is cut back to 32 bits, because products widen."""
    x = np.uint32(x ^ (x >> np.uint32(16)))
    x = np.uint32(x * np.uint32(0x21F0AAAD))
    x = np.uint32(x ^ (x >> np.uint32(15)))
    x = np.uint32(x * np.uint32(0xD35A2D97))
    return np.uint32(x ^ (x >> np.uint32(15)))


@jit
def word(a: Any, t: Any, index: Any) -> Any:
    """The ``index``-th word of a report with keys ``a`` and ``t``."""
    step = np.uint32(np.uint32(index) * np.uint32(0x9E3779B9))
    return mix(np.uint32(mix(np.uint32(t + step)) + a))


@jit
def long_attempt(a: Any, t: Any, attempt: int, bits: int) -> Any:
    """One attempt at a mask of up to 63 bits, its offset in bit 63."""
    if bits < 32:
        w = np.uint64(word(a, t, attempt))
        return w & ((ONE << np.uint64(bits)) - ONE) | w >> np.uint64(31) << np.uint64(63)
    low = np.uint64(word(a, t, 2 * attempt - 1))
    high = np.uint64(word(a, t, 2 * attempt))
    return (low | high << np.uint64(32)) & ((ONE << np.uint64(bits)) - ONE | LONG_SIGN)


@jit
def careful(a: Any, t: Any, bucket: Any, bits: int, rank: int) -> Longs:
    """The signed words of one report, attempt by attempt: a mask in the span of the earlier ones is dropped."""
    basis, signed = np.zeros(rank, np.uint64), np.zeros(rank, np.uint64)
    found = attempt = 0
    while found < rank:
        attempt += 1
        drawn = long_attempt(a, t, attempt, bits)
        rest = drawn & ~LONG_SIGN
        for r in range(found):
            rest = min(rest, rest ^ basis[r])  # clears the leading bit of the basis vector
        if rest != 0:
            basis[found] = rest
            signed[found] = drawn ^ np.uint64(bucket >> found & 1) << np.uint64(63)
            found += 1
    return signed


@jit
def keys(seeds: Longs, a: Words, t: Words) -> None:
    """The two keys of every report; one loop for each step, so that the compiler takes several reports at a time."""
    for i in range(len(seeds)):
        a[i] = np.uint32(seeds[i])
        t[i] = np.uint32(seeds[i] >> np.uint64(32))
    for i in range(len(seeds)):
        a[i] = mix(np.uint32(a[i] + np.uint32(0x7F4A7C15)))
    for i in range(len(seeds)):
        t[i] = mix(np.uint32(t[i] + a[i]))


@jit
def rank_test(masks: Any, count: int, least: Any) -> None:
    """Leaves 0 in ``least`` for each report whose masks are dependent; the masks are used up."""
    kind = masks.dtype.type
    first = masks[0]
    for i in range(count):
        least[i] = first[i]
    for r in range(1, len(masks)):
        row = masks[r]
        for earlier in range(r):
            other = masks[earlier]
            for i in range(count):
                row[i] = min(row[i], kind(row[i] ^ other[i]))
        for i in range(count):
            least[i] = min(least[i], row[i])


@jit
def _first_words(seeds: Longs, buckets: Any, bits: int, signed: Words, scratch: Words) -> None:
    """Takes the first words of every report; the scratch rows are its keys, its rank test and its masks."""
    a, t, masks, low = scratch[0], scratch[1], scratch[3:], np.uint32((1 << bits) - 1)
    keys(seeds, a, t)
    for r in range(len(signed)):
        mask, out = masks[r], signed[r]
        for i in range(len(seeds)):
            w = word(a[i], t[i], r + 1)
            mask[i] = w & low
            out[i] = (w & (low | SIGN)) ^ np.uint32(np.uint32(buckets[i]) >> np.uint32(r) << np.uint32(31))
    rank_test(masks, len(seeds), scratch[2])


@jit
def _repair(a: Any, t: Any, bucket: Any, bits: int, column: Words) -> None:
    again = careful(a, t, bucket, bits, len(column))
    for r in range(len(column)):
        column[r] = np.uint32(again[r]) & np.uint32((1 << bits) - 1) | np.uint32(again[r] >> np.uint64(32)) & SIGN


@jit
def draw(seeds: Longs, buckets: Any, bits: int, signed: Words) -> None:
    """Signed words of a block of reports, ``(rank, BLOCK)``: masks of at most 31 bits, the sign in bit 31.

    The first words nearly always do; plain loops draw them many reports at a time, and the few others are repeated.
    """
    scratch = np.empty((len(signed) + 3, BLOCK), np.uint32)
    _first_words(seeds, buckets, bits, signed, scratch)
    a, t, least = scratch[0], scratch[1], scratch[2]
    for i in range(len(seeds)):
        if least[i] == 0:
            _repair(a[i], t[i], buckets[i], bits, signed[:, i])


@jit
def _first_longs(seeds: Longs, buckets: Any, bits: int, signed: Longs, masks: Longs) -> None:
    halves = np.empty((2, BLOCK), np.uint32)
    keys(seeds, halves[0], halves[1])
    for r in range(len(signed)):
        mask, out, a, t = masks[r], signed[r], halves[0], halves[1]
        for i in range(len(seeds)):
            w = long_attempt(a[i], t[i], r + 1, bits)
            mask[i] = w & ~LONG_SIGN
            out[i] = w ^ np.uint64(buckets[i]) >> np.uint64(r) << np.uint64(63)


@jit
def draw_long(seeds: Longs, buckets: Any, bits: int, signed: Longs) -> None:
    """Signed words of a block of reports, ``(rank, BLOCK)``: masks of at most 63 bits, the sign in bit 63."""
    masks, least, pair = np.empty_like(signed), np.empty(BLOCK, np.uint64), np.empty((2, 1), np.uint32)
    _first_longs(seeds, buckets, bits, signed, masks)
    rank_test(masks, len(seeds), least)
    for i in range(len(seeds)):
        if least[i] == 0:
            keys(seeds[i : i + 1], pair[0], pair[1])
            signed[:, i] = careful(pair[0, 0], pair[1, 0], buckets[i], bits, len(signed))
