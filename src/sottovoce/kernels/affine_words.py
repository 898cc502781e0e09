"""The words of affine response, compiled: seeds expanded into signed masks.

A signed word is a mask with ``offset XOR bucket bit`` in its top bit.  XORing words therefore
builds the position and the sign of a term of the decoding sum together.  Words are laid out (rank,
reports), a block of reports at a time.  In the loops ``a`` and ``t`` are the two keys of a report,
``w`` is a word and ``r`` its number.

Source: docs/affine-response.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import intrinsic

from sottovoce.arrays import Longs, Words
from sottovoce.kernels import jit

BLOCK = 1024  # reports whose words stay in the first level of the cache
SIGN = np.uint32(1 << 31)
LONG_SIGN = np.uint64(1 << 63)
ONE = np.uint64(1)


class Batch(NamedTuple):
    """Some reports over 2^bits points in 2^rank buckets, as the compiled loops take them."""

    seeds: Longs
    buckets: Any
    bits: int
    rank: int


@intrinsic
def popcount(context: Any, value: Any) -> Any:
    """Return the number of set bits, in one instruction where the processor has it."""
    return value(value), lambda _context, builder, _signature, arguments: builder.ctpop(
        arguments[0]
    )


@jit
def mix(x: Any) -> Any:
    """Return ``hashing.mix`` of one word; every step is cut to 32 bits, because products widen."""
    x = np.uint32(x ^ (x >> np.uint32(16)))
    x = np.uint32(x * np.uint32(0x21F0AAAD))
    x = np.uint32(x ^ (x >> np.uint32(15)))
    x = np.uint32(x * np.uint32(0xD35A2D97))
    return np.uint32(x ^ (x >> np.uint32(15)))


@jit
def word(a: Any, t: Any, index: Any) -> Any:
    """Return the word at an index of a report with keys ``a`` and ``t``."""
    step = np.uint32(np.uint32(index) * np.uint32(0x9E3779B9))
    return mix(np.uint32(mix(np.uint32(t + step)) + a))


@jit
def long_attempt(a: Any, t: Any, attempt: int, bits: int) -> Any:
    """Return one attempt at a mask of up to 63 bits, its offset in bit 63."""
    if bits < 32:
        w = np.uint64(word(a, t, attempt))
        return w & ((ONE << np.uint64(bits)) - ONE) | w >> np.uint64(31) << np.uint64(63)
    low = np.uint64(word(a, t, 2 * attempt - 1))
    high = np.uint64(word(a, t, 2 * attempt))
    return (low | high << np.uint64(32)) & ((ONE << np.uint64(bits)) - ONE | LONG_SIGN)


@jit
def draw_one_by_one(a: Any, t: Any, bucket: Any, bits: int, rank: int) -> Longs:
    """Return the signed words of one report; a mask in the span of the earlier ones is dropped."""
    basis = np.zeros(rank, np.uint64)
    signed = np.zeros(rank, np.uint64)
    accepted = attempt = 0
    while accepted < rank:
        attempt += 1
        drawn = long_attempt(a, t, attempt, bits)
        rest = drawn & ~LONG_SIGN
        for r in range(accepted):
            rest = min(rest, rest ^ basis[r])  # clears the leading bit of the basis vector
        if rest != 0:
            basis[accepted] = rest
            signed[accepted] = drawn ^ np.uint64(bucket >> accepted & 1) << np.uint64(63)
            accepted += 1
    return signed


@jit
def fill_keys(seeds: Longs, a: Words, t: Words) -> None:
    """Write the two keys of every report.

    There is one loop for each step, so that the compiler takes several reports at a time.
    """
    for i in range(len(seeds)):
        a[i] = np.uint32(seeds[i])
        t[i] = np.uint32(seeds[i] >> np.uint64(32))
    for i in range(len(seeds)):
        a[i] = mix(np.uint32(a[i] + np.uint32(0x7F4A7C15)))
    for i in range(len(seeds)):
        t[i] = mix(np.uint32(t[i] + a[i]))


@jit
def rank_test(masks: Any, count: int, least: Any) -> None:
    """Leave 0 in ``least`` for each report whose masks are dependent; the masks are overwritten."""
    kind = masks.dtype.type
    first = masks[0]
    for i in range(count):
        least[i] = first[i]
    for r in range(1, len(masks)):
        row = masks[r]
        for earlier in range(r):
            earlier_row = masks[earlier]
            for i in range(count):
                row[i] = min(row[i], kind(row[i] ^ earlier_row[i]))
        for i in range(count):
            least[i] = min(least[i], row[i])


@jit
def _draw_first_words(seeds: Longs, buckets: Any, bits: int, signed: Words, scratch: Words) -> None:
    """Write the first words of every report; ``scratch`` gets keys, rank test and masks as rows."""
    a = scratch[0]
    t = scratch[1]
    masks = scratch[3:]
    low = np.uint32((1 << bits) - 1)
    fill_keys(seeds, a, t)
    for r in range(len(signed)):
        mask = masks[r]
        out = signed[r]
        for i in range(len(seeds)):
            w = word(a[i], t[i], r + 1)
            mask[i] = w & low
            sign = np.uint32(np.uint32(buckets[i]) >> np.uint32(r) << np.uint32(31))
            out[i] = (w & (low | SIGN)) ^ sign
    rank_test(masks, len(seeds), scratch[2])


@jit
def _redraw(a: Any, t: Any, bucket: Any, bits: int, column: Words) -> None:
    """Write the words of one report whose first words are dependent."""
    again = draw_one_by_one(a, t, bucket, bits, len(column))
    low = np.uint32((1 << bits) - 1)
    for r in range(len(column)):
        sign = np.uint32(again[r] >> np.uint64(32)) & SIGN
        column[r] = np.uint32(again[r]) & low | sign


@jit
def draw(seeds: Longs, buckets: Any, bits: int, signed: Words) -> None:
    """Write the signed words of a block of reports, (rank, BLOCK), of at most 31 bits.

    The sign is in bit 31.  The first words of a report are nearly always independent: plain loops
    draw them for many reports at a time, and the few dependent ones are drawn again.
    """
    scratch = np.empty((len(signed) + 3, BLOCK), np.uint32)
    _draw_first_words(seeds, buckets, bits, signed, scratch)
    a = scratch[0]
    t = scratch[1]
    least = scratch[2]
    for i in range(len(seeds)):
        if least[i] == 0:
            _redraw(a[i], t[i], buckets[i], bits, signed[:, i])


@jit
def _draw_first_longs(seeds: Longs, buckets: Any, bits: int, signed: Longs, masks: Longs) -> None:
    keys = np.empty((2, BLOCK), np.uint32)
    a = keys[0]
    t = keys[1]
    fill_keys(seeds, a, t)
    for r in range(len(signed)):
        mask = masks[r]
        out = signed[r]
        for i in range(len(seeds)):
            w = long_attempt(a[i], t[i], r + 1, bits)
            mask[i] = w & ~LONG_SIGN
            out[i] = w ^ np.uint64(buckets[i]) >> np.uint64(r) << np.uint64(63)


@jit
def draw_long(seeds: Longs, buckets: Any, bits: int, signed: Longs) -> None:
    """Write the signed words of a block of reports, (rank, BLOCK), of at most 63 bits.

    The sign is in bit 63.
    """
    masks = np.empty_like(signed)
    least = np.empty(BLOCK, np.uint64)
    keys = np.empty((2, 1), np.uint32)
    _draw_first_longs(seeds, buckets, bits, signed, masks)
    rank_test(masks, len(seeds), least)
    for i in range(len(seeds)):
        if least[i] == 0:
            fill_keys(seeds[i : i + 1], keys[0], keys[1])
            signed[:, i] = draw_one_by_one(keys[0, 0], keys[1, 0], buckets[i], bits, len(signed))


@jit
def _reduce_wide(rest: Words, basis: Words, pivots: Any, accepted: int) -> int:
    """Subtract the basis from a mask; return its lowest bit that is left, and -1 if none is."""
    for r in range(accepted):
        if rest[pivots[r] >> 5] >> np.uint32(pivots[r] & 31) & np.uint32(1):
            for j in range(len(rest)):
                rest[j] ^= basis[r, j]
    for j in range(len(rest)):
        if rest[j] != 0:
            lowest = np.uint32(rest[j] & (~rest[j] + np.uint32(1)))
            below = popcount(np.uint32(lowest - np.uint32(1)))
            return 32 * j + int(below)
    return -1


@jit
def _redraw_wide(a: Any, t: Any, bits: int, masks: Words) -> Any:
    """Write the masks of one report, (rank, words), attempt by attempt; return its offsets."""
    rank, width = masks.shape
    basis = np.empty((rank, width), np.uint32)
    pivots = np.empty(rank, np.int64)
    rest = np.empty(width, np.uint32)
    offsets = np.uint16(0)
    accepted = drawn = 0
    while accepted < rank:
        for j in range(width):
            drawn += 1
            rest[j] = word(a, t, drawn)
        offset = rest[width - 1] >> np.uint32(31)
        rest[width - 1] &= np.uint32((1 << (bits & 31)) - 1)
        masks[accepted] = rest
        pivot = _reduce_wide(rest, basis, pivots, accepted)
        if pivot >= 0:
            basis[accepted] = rest
            pivots[accepted] = pivot
            offsets ^= np.uint16(offset << np.uint32(accepted))
            accepted += 1
    return offsets


@jit
def draw_wide(batch: Batch, masks: Words, wanted: Any) -> None:
    """Write the masks of at most BLOCK reports beyond 63 bits, (rank, words, BLOCK), and the
    parities of support: bucket XOR offsets.

    Masks whose first words are independent are independent; the few others are drawn one by one.
    """
    rank, width, _ = masks.shape
    count = len(batch.seeds)
    scratch = np.empty((rank + 3, BLOCK), np.uint32)
    a = scratch[0]
    t = scratch[1]
    least = scratch[2]
    last = np.uint32((1 << (batch.bits & 31)) - 1)
    fill_keys(batch.seeds, a, t)
    for i in range(count):
        wanted[i] = batch.buckets[i]
    for r in range(rank):
        for j in range(width):
            row = masks[r, j]
            number = r * width + j + 1
            for i in range(count):
                row[i] = word(a[i], t[i], number)
        top = masks[r, width - 1]
        for i in range(count):
            wanted[i] ^= np.uint16(top[i] >> np.uint32(31) << np.uint32(r))
            top[i] &= last
        scratch[3 + r] = masks[r, 0]
    rank_test(scratch[3:], count, least)
    for i in range(count):
        if least[i] == 0:
            wanted[i] = batch.buckets[i] ^ _redraw_wide(a[i], t[i], batch.bits, masks[:, :, i])
