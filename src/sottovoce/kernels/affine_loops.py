"""The compiled loops behind ``kernels.affine``: scatter, gather and count signed words.

A report has one term for every element of the span of its words: the position is in the low bits,
the sign in the top bit.  Up to rank 4 the span lives in registers.  Beyond, the other words lead
from coset to coset in Gray order, so that each step is one XOR.  In the loops ``a`` to ``d`` are
the first four words, ``w`` is an element of the span and ``u`` the number of its subset of words.

Source: docs/affine-response.md.
"""

from typing import Any, NamedTuple

import numpy as np

from sottovoce.arrays import Floats, Ints, Longs, Words
from sottovoce.kernels import jit
from sottovoce.kernels.affine_words import (
    BLOCK,
    LONG_SIGN,
    ONE,
    SIGN,
    Batch,
    draw,
    draw_long,
    draw_wide,
    mix,
    popcount,
)


class Factors(NamedTuple):
    """The transformed factors of a product target, end to end, with the bits of each."""

    flat: Floats
    starts: Ints
    widths: Ints


@jit
def fill_span(words: Any, report: int, span: Any) -> None:
    """Write the XOR of every subset of one report's words, subset ``u`` at position ``u``."""
    span[0] = 0
    for r in range(len(words)):
        half = 1 << r
        w = words[r, report]
        for u in range(half):
            span[half + u] = span[u] ^ w


@jit
def _gray_step(u: int) -> Any:
    """Return the word that leads to the ``u``-th subset in Gray order: the trailing zeros of u."""
    return popcount((u & -u) - 1)


# --- scatter: add the terms of all reports to a spectrum -----------------------------------------


@jit
def _add(spectrum: Any, w: Any) -> None:
    spectrum[w & ~SIGN] += np.int32(1) - np.int32(w >> np.uint32(31) << np.uint32(1))


@jit
def _add_coset(spectrum: Any, w: Any, a: Any, b: Any) -> None:
    _add(spectrum, w)
    _add(spectrum, w ^ a)
    _add(spectrum, w ^ b)
    _add(spectrum, w ^ a ^ b)


@jit
def _scatter_block(words: Words, count: int, spectrum: Any) -> None:
    """Add the terms of a block of reports, without the empty subset: it is the same for all."""
    rank = len(words)
    a = words[0]
    b = words[min(rank - 1, 1)]
    c = words[min(rank - 1, 2)]
    d = words[min(rank - 1, 3)]
    if rank == 1:
        for i in range(count):
            _add(spectrum, a[i])
        return
    for i in range(count):
        _add(spectrum, a[i])
        _add(spectrum, b[i])
        _add(spectrum, a[i] ^ b[i])
        if rank > 2:
            _add_coset(spectrum, c[i], a[i], b[i])
        if rank > 3:
            _add_coset(spectrum, d[i], a[i], b[i])
            _add_coset(spectrum, c[i] ^ d[i], a[i], b[i])


@jit
def _scatter_spans(words: Words, count: int, spectrum: Any) -> None:
    """Add the terms of a block of reports of a rank above 4."""
    _scatter_block(words[:4], count, spectrum)
    for i in range(count):
        a, b, c, d = words[0, i], words[1, i], words[2, i], words[3, i]
        w = np.uint32(0)
        for u in range(1, 1 << (len(words) - 4)):
            w = np.uint32(w ^ words[4 + _gray_step(u), i])
            _add_coset(spectrum, w, a, b)
            _add_coset(spectrum, w ^ c, a, b)
            _add_coset(spectrum, w ^ d, a, b)
            _add_coset(spectrum, w ^ c ^ d, a, b)


@jit
def scatter(batch: Batch, spectrum: Any) -> None:
    """Add the terms of the reports, without those of the empty subset, to an int32 spectrum."""
    words = np.empty((batch.rank, BLOCK), np.uint32)
    for start in range(0, len(batch.seeds), BLOCK):
        seeds = batch.seeds[start : start + BLOCK]
        draw(seeds, batch.buckets[start : start + BLOCK], batch.bits, words)
        if batch.rank <= 4:
            _scatter_block(words, len(seeds), spectrum)
        else:
            _scatter_spans(words, len(seeds), spectrum)


# --- gather: sum a transformed target over the span of every report ------------------------------


@jit
def _look_up(table: Floats, w: Any) -> Any:
    return table[w & ~SIGN] * (1.0 - 2.0 * np.float64(w >> np.uint32(31)))


@jit
def _look_up_coset(table: Floats, w: Any, a: Any, b: Any) -> Any:
    first = _look_up(table, w) + _look_up(table, w ^ a)
    return first + (_look_up(table, w ^ b) + _look_up(table, w ^ a ^ b))


@jit
def _gather_block(words: Words, table: Floats, out: Floats) -> None:
    """Write the sums of a block of reports over all subsets, the empty one included."""
    rank = len(words)
    a = words[0]
    b = words[min(rank - 1, 1)]
    c = words[min(rank - 1, 2)]
    d = words[min(rank - 1, 3)]
    if rank == 1:
        for i in range(len(out)):
            out[i] = table[0] + _look_up(table, a[i])
        return
    for i in range(len(out)):
        total = _look_up_coset(table, np.uint32(0), a[i], b[i])
        if rank > 2:
            total += _look_up_coset(table, c[i], a[i], b[i])
        if rank > 3:
            with_d = _look_up_coset(table, d[i], a[i], b[i])
            total += with_d + _look_up_coset(table, c[i] ^ d[i], a[i], b[i])
        out[i] = total


@jit
def _gather_spans(words: Words, table: Floats, out: Floats) -> None:
    """Write the sums of a block of reports of a rank above 4."""
    _gather_block(words[:4], table, out)
    for i in range(len(out)):
        a, b, c, d = words[0, i], words[1, i], words[2, i], words[3, i]
        w = np.uint32(0)
        for u in range(1, 1 << (len(words) - 4)):
            w = np.uint32(w ^ words[4 + _gray_step(u), i])
            out[i] += _look_up_coset(table, w, a, b) + _look_up_coset(table, w ^ c, a, b)
            with_d = _look_up_coset(table, w ^ d, a, b)
            out[i] += with_d + _look_up_coset(table, w ^ c ^ d, a, b)


@jit
def gather(batch: Batch, table: Floats, out: Floats) -> None:
    """Write the signed sum of ``table`` over the span of each report."""
    words = np.empty((batch.rank, BLOCK), np.uint32)
    for start in range(0, len(batch.seeds), BLOCK):
        seeds = batch.seeds[start : start + BLOCK]
        draw(seeds, batch.buckets[start : start + BLOCK], batch.bits, words)
        if batch.rank <= 4:
            _gather_block(words, table, out[start : start + BLOCK])
        else:
            _gather_spans(words, table, out[start : start + BLOCK])


@jit
def _product(w: Any, factors: Factors) -> Any:
    """Return the signed product of the factors at the position of a word."""
    product = 1.0
    position = w & ~LONG_SIGN
    for j in range(len(factors.widths)):
        width = np.uint64(factors.widths[j])
        index = position & ((ONE << width) - ONE)
        product *= factors.flat[np.uint64(factors.starts[j]) + index]
        position >>= width
    return -product if w & LONG_SIGN else product


@jit
def gather_products(batch: Batch, factors: Factors, out: Floats) -> None:
    """Write the signed sum over the span of each report of a product of look-ups."""
    words = np.empty((batch.rank, BLOCK), np.uint64)
    span = np.empty(1 << batch.rank, np.uint64)
    for start in range(0, len(batch.seeds), BLOCK):
        seeds = batch.seeds[start : start + BLOCK]
        draw_long(seeds, batch.buckets[start : start + BLOCK], batch.bits, words)
        for i in range(len(seeds)):
            fill_span(words, i, span)
            total = 0.0
            for u in range(len(span)):
                total += _product(span[u], factors)
            out[start + i] = total


@jit
def gather_terms(batch: Batch, factors: Factors, out: Floats) -> None:
    """Do as ``gather_products`` for several products at once: ``out`` is (reports, products).

    ``factors`` holds the entries of all products at one position next to each other.
    """
    words = np.empty((batch.rank, BLOCK), np.uint64)
    span = np.empty(1 << batch.rank, np.uint64)
    terms = out.shape[1]
    product = np.empty(terms)
    for start in range(0, len(batch.seeds), BLOCK):
        seeds = batch.seeds[start : start + BLOCK]
        draw_long(seeds, batch.buckets[start : start + BLOCK], batch.bits, words)
        for i in range(len(seeds)):
            fill_span(words, i, span)
            total = out[start + i]
            total[:] = 0.0
            for u in range(len(span)):
                position = span[u] & ~LONG_SIGN
                product[:] = -1.0 if span[u] & LONG_SIGN else 1.0
                for j in range(len(factors.widths)):
                    width = np.uint64(factors.widths[j])
                    index = np.int64(position & ((ONE << width) - ONE))
                    first = (factors.starts[j] + index) * terms
                    row = factors.flat[first : first + terms]
                    for t in range(terms):
                        product[t] *= row[t]
                    position >>= width
                for t in range(terms):
                    total[t] += product[t]


# --- prefixes: one short spectrum for every prefix -----------------------------------------------


@jit
def scatter_prefixes(batch: Batch, prefixes: Longs, extension: int, spectra: Ints) -> None:
    """Add the terms of the reports, without the empty subset, to one short spectrum per prefix."""
    words = np.empty((batch.rank, BLOCK), np.uint64)
    low = (ONE << np.uint64(extension)) - ONE
    # So many reports that their spans stay in the cache while the prefixes pass by.
    step = max(1, min(BLOCK, (BLOCK << 3) >> batch.rank))
    spans = np.empty((step, 1 << batch.rank), np.uint64)
    for start in range(0, len(batch.seeds), step):
        seeds = batch.seeds[start : start + step]
        draw_long(seeds, batch.buckets[start : start + step], batch.bits, words)
        for i in range(len(seeds)):
            fill_span(words, i, spans[i])
        for p in range(len(prefixes)):
            row = spectra[p]
            signs = prefixes[p] << np.uint64(extension) | LONG_SIGN
            for i in range(len(seeds)):
                for u in range(1, 1 << batch.rank):
                    w = spans[i, u]
                    row[w & low] += 1 - 2 * np.int64(popcount(w & signs) & ONE)


@jit
def _fill_odd(masks: Words, wanted: Any, point: Words, odd: Words) -> None:
    """Write for every report one bit for each of its masks: whether its parity with a point of
    several words is not the wanted one.
    """
    rank, width, _ = masks.shape
    common = np.empty(len(odd), np.uint32)
    for i in range(len(odd)):
        odd[i] = wanted[i]
    for r in range(rank):
        common[:] = 0
        for j in range(width):
            marked = point[j]
            row = masks[r, j]
            if marked != 0:
                for i in range(len(odd)):
                    common[i] ^= row[i] & marked
        for i in range(len(odd)):
            odd[i] ^= (popcount(common[i]) & np.uint32(1)) << np.uint32(r)


@jit
def scatter_wide_prefixes(batch: Batch, points: Words, extension: int, spectra: Ints) -> None:
    """Do as ``scatter_prefixes`` for values of several words.

    ``points`` are the prefixes, followed by zeros.
    """
    masks = np.empty((batch.rank, points.shape[1], BLOCK), np.uint32)
    wanted = np.empty(BLOCK, np.uint16)
    odd = np.empty(BLOCK, np.uint32)
    low = np.uint32((1 << extension) - 1)
    step = max(1, min(BLOCK, (BLOCK << 3) >> batch.rank))
    spans = np.empty((step, 1 << batch.rank), np.uint32)
    for start in range(0, len(batch.seeds), step):
        seeds = batch.seeds[start : start + step]
        part = Batch(seeds, batch.buckets[start : start + step], batch.bits, batch.rank)
        draw_wide(part, masks, wanted)
        for i in range(len(seeds)):
            fill_span(masks[:, 0], i, spans[i])
        for p in range(len(points)):
            row = spectra[p]
            _fill_odd(masks, wanted, points[p], odd[: len(seeds)])
            for i in range(len(seeds)):
                for u in range(1, 1 << batch.rank):
                    sign = 1 - 2 * np.int64(popcount(np.uint32(u) & odd[i]) & np.uint32(1))
                    row[spans[i, u] & low] += sign


# --- candidates: how many reports support each point ---------------------------------------------


@jit
def count_points(batch: Batch, points: Longs, counts: Ints) -> None:
    """Add to each point how many reports support it: those whose parities are all even."""
    words = np.empty((batch.rank, BLOCK), np.uint64)
    odd = np.empty(BLOCK, np.uint64)
    for start in range(0, len(batch.seeds), BLOCK):
        seeds = batch.seeds[start : start + BLOCK]
        draw_long(seeds, batch.buckets[start : start + BLOCK], batch.bits, words)
        for c in range(len(points)):
            counts[c] += _count_even(words, points[c] | LONG_SIGN, odd[: len(seeds)])


@jit
def _count_even(words: Longs, marked: Any, odd: Longs) -> Any:
    """Return how many reports have only even parities with a point; ``odd`` is scratch."""
    odd[:] = 0
    for r in range(len(words)):
        row = words[r]
        for i in range(len(odd)):
            odd[i] |= popcount(row[i] & marked) & ONE
    misses = np.uint64(0)
    for i in range(len(odd)):
        misses += odd[i]
    return len(odd) - np.int64(misses)


@jit
def count_wide_points(batch: Batch, points: Words, counts: Ints) -> None:
    """Do as ``count_points`` for points of several words."""
    masks = np.empty((batch.rank, points.shape[1], BLOCK), np.uint32)
    wanted = np.empty(BLOCK, np.uint16)
    odd = np.empty(BLOCK, np.uint32)
    for start in range(0, len(batch.seeds), BLOCK):
        seeds = batch.seeds[start : start + BLOCK]
        part = Batch(seeds, batch.buckets[start : start + BLOCK], batch.bits, batch.rank)
        draw_wide(part, masks, wanted)
        for c in range(len(points)):
            _fill_odd(masks, wanted, points[c], odd[: len(seeds)])
            supporting = 0
            for i in range(len(seeds)):
                supporting += odd[i] == 0
            counts[c] += supporting


# --- the permutation, and targets under it -------------------------------------------------------


@jit
def _permuted(v: Any, bits: int) -> Any:
    """Return ``hashing.permute`` of one group of at most 31 bits."""
    low = np.uint32(bits - (bits >> 1))
    left = np.uint32(v >> low)
    right = np.uint32(v & ((np.uint32(1) << low) - np.uint32(1)))
    for i in range(1, 7, 2):
        odd = mix(np.uint32(right + np.uint32(np.uint32(i) * np.uint32(0x9E3779B9))))
        left = np.uint32(left ^ (odd >> np.uint32(32 - (bits >> 1))))
        even = mix(np.uint32(left + np.uint32(np.uint32(i + 1) * np.uint32(0x9E3779B9))))
        right = np.uint32(right ^ (even >> np.uint32(32 - low)))
    return np.uint32(np.uint32(left << low) | right)


@jit
def fill_permutation(widths: Ints, table: Words) -> None:
    """Write the permuted v at every v, group of bits by group of bits."""
    shift = np.uint32(0)
    table[:] = 0
    for width in widths:
        low = np.uint32((1 << width) - 1)
        for v in range(len(table)):
            group = np.uint32((np.uint32(v) >> shift) & low)
            permuted = group if width == 1 else _permuted(group, width)
            table[v] |= np.uint32(permuted << shift)
        shift += np.uint32(width)


@jit
def place(values: Floats, table: Words, out: Floats) -> None:
    """Write every value where the permutation sends it."""
    for v in range(len(values)):
        out[table[v]] = values[v]


@jit
def place_product(slow: Floats, fast: Floats, table: Words, mean: float, out: Floats) -> None:
    """Write the products of two factors where the permutation sends them, and a mean elsewhere.

    The second factor changes fastest.
    """
    out[:] = mean
    v = 0
    for i in range(len(slow)):
        for j in range(len(fast)):
            out[table[v]] = slow[i] * fast[j]
            v += 1


@jit
def place_terms(slow: Floats, fast: Floats, table: Words, mean: float, out: Floats) -> None:
    """Do as ``place_product`` for a sum of products: ``slow`` and ``fast`` have a row for each."""
    out[:] = mean
    row = np.empty(fast.shape[1])
    v = 0
    for i in range(slow.shape[1]):
        row[:] = 0.0
        for t in range(len(slow)):
            weight = slow[t, i]
            factor = fast[t]
            for j in range(len(row)):
                row[j] += weight * factor[j]
        for j in range(len(row)):
            out[table[v]] = row[j]
            v += 1


@jit
def narrow(spectrum: Ints, out: Any) -> Any:
    """Copy to 32 bits and return the absolute sum, which bounds every step of the transform."""
    total = 0
    for i in range(len(spectrum)):
        out[i] = np.int32(spectrum[i])
        total += abs(spectrum[i])
    return total


@jit
def read(transformed: Any, table: Words, rank: int, out: Ints) -> None:
    """Write the transformed entries at the positions in the table, divided by 2^rank."""
    for v in range(len(out)):
        out[v] = np.int64(transformed[table[v]]) >> rank
