"""The compiled loops behind ``kernels.affine``: scatter, gather and count signed words, block by block of reports.

Each adds one term for every element of the span of a report's words: position below, sign in the top bit.
Up to rank 4 the span lives in registers; beyond, the other words lead from coset to coset in Gray order.

Source: docs/affine-response.md.
"""

from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints, Longs, Words
from sottovoce.kernels import jit
from sottovoce.kernels.affine_words import BLOCK, LONG_SIGN, ONE, SIGN, draw, draw_long, mix, popcount


@jit
def fill_span(words: Any, report: int, span: Any) -> None:
    """The XOR of every subset of one report's words, subset ``u`` at position ``u``."""
    span[0] = 0
    for r in range(len(words)):
        half, w = 1 << r, words[r, report]
        for u in range(half):
            span[half + u] = span[u] ^ w


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
    """The terms of a block of reports, but for the subset 0: its term is the same for all."""
    rank = len(words)
    a, b = words[0], words[min(rank - 1, 1)]
    c, d = words[min(rank - 1, 2)], words[min(rank - 1, 3)]
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
    _scatter_block(words[:4], count, spectrum)
    for i in range(count):
        a, b, c, d, w = words[0, i], words[1, i], words[2, i], words[3, i], np.uint32(0)
        for u in range(1, 1 << (len(words) - 4)):
            w = np.uint32(w ^ words[4 + _zeros(u), i])
            _add_coset(spectrum, w, a, b)
            _add_coset(spectrum, w ^ c, a, b)
            _add_coset(spectrum, w ^ d, a, b)
            _add_coset(spectrum, w ^ c ^ d, a, b)


@jit
def _zeros(u: int) -> Any:
    """The number of zeros at the low end: the word that leads to the ``u``-th subset in Gray order."""
    return popcount((u & -u) - 1)


@jit
def scatter(seeds: Longs, buckets: Any, bits: int, rank: int, spectrum: Any) -> None:
    """Adds the reports' terms, subset 0 left out, to an int32 spectrum."""
    words = np.empty((rank, BLOCK), np.uint32)
    for start in range(0, len(seeds), BLOCK):
        block = seeds[start : start + BLOCK]
        draw(block, buckets[start : start + BLOCK], bits, words)
        if rank <= 4:
            _scatter_block(words, len(block), spectrum)
        else:
            _scatter_spans(words, len(block), spectrum)


@jit
def _look(table: Floats, w: Any) -> Any:
    return table[w & ~SIGN] * (1.0 - 2.0 * np.float64(w >> np.uint32(31)))


@jit
def _look_coset(table: Floats, w: Any, a: Any, b: Any) -> Any:
    return (_look(table, w) + _look(table, w ^ a)) + (_look(table, w ^ b) + _look(table, w ^ a ^ b))


@jit
def _gather_block(words: Words, table: Floats, out: Floats) -> None:
    """The sums of a block of reports over all subsets, the empty one included."""
    rank = len(words)
    a, b = words[0], words[min(rank - 1, 1)]
    c, d = words[min(rank - 1, 2)], words[min(rank - 1, 3)]
    if rank == 1:
        for i in range(len(out)):
            out[i] = table[0] + _look(table, a[i])
        return
    for i in range(len(out)):
        total = _look_coset(table, np.uint32(0), a[i], b[i])
        if rank > 2:
            total += _look_coset(table, c[i], a[i], b[i])
        if rank > 3:
            total += _look_coset(table, d[i], a[i], b[i]) + _look_coset(table, c[i] ^ d[i], a[i], b[i])
        out[i] = total


@jit
def _gather_spans(words: Words, table: Floats, out: Floats) -> None:
    _gather_block(words[:4], table, out)
    for i in range(len(out)):
        a, b, c, d, w = words[0, i], words[1, i], words[2, i], words[3, i], np.uint32(0)
        for u in range(1, 1 << (len(words) - 4)):
            w = np.uint32(w ^ words[4 + _zeros(u), i])
            out[i] += _look_coset(table, w, a, b) + _look_coset(table, w ^ c, a, b)
            out[i] += _look_coset(table, w ^ d, a, b) + _look_coset(table, w ^ c ^ d, a, b)


@jit
def gather(seeds: Longs, buckets: Any, bits: int, rank: int, table: Floats, out: Floats) -> None:
    """Each report's signed sum of ``table`` over its span."""
    words = np.empty((rank, BLOCK), np.uint32)
    for start in range(0, len(seeds), BLOCK):
        draw(seeds[start : start + BLOCK], buckets[start : start + BLOCK], bits, words)
        if rank <= 4:
            _gather_block(words, table, out[start : start + BLOCK])
        else:
            _gather_spans(words, table, out[start : start + BLOCK])


@jit
def _product(w: Any, flat: Floats, starts: Ints, widths: Ints) -> Any:
    product, position = 1.0, w & ~LONG_SIGN
    for j in range(len(widths)):
        product *= flat[np.uint64(starts[j]) + (position & ((ONE << np.uint64(widths[j])) - ONE))]
        position >>= np.uint64(widths[j])
    return -product if w & LONG_SIGN else product


@jit
def gather_products(
    seeds: Longs, buckets: Any, bits: int, rank: int, flat: Floats, starts: Ints, widths: Ints, out: Floats
) -> None:
    """Each report's signed sum over its span of a product of look-ups, one in the table of each group of bits."""
    words, span = np.empty((rank, BLOCK), np.uint64), np.empty(1 << rank, np.uint64)
    for start in range(0, len(seeds), BLOCK):
        block = seeds[start : start + BLOCK]
        draw_long(block, buckets[start : start + BLOCK], bits, words)
        for i in range(len(block)):
            fill_span(words, i, span)
            total = 0.0
            for u in range(len(span)):
                total += _product(span[u], flat, starts, widths)
            out[start + i] = total


@jit
def scatter_prefixes(
    seeds: Longs, buckets: Any, bits: int, rank: int, prefixes: Longs, extension: int, spectra: Ints
) -> None:
    """Adds the reports' terms, subset 0 left out, to one short spectrum for each prefix."""
    words, low = np.empty((rank, BLOCK), np.uint64), (ONE << np.uint64(extension)) - ONE
    few = max(1, min(BLOCK, (BLOCK << 3) >> rank))  # reports whose spans stay in the cache while prefixes pass by
    spans = np.empty((few, 1 << rank), np.uint64)
    for start in range(0, len(seeds), few):
        block = seeds[start : start + few]
        draw_long(block, buckets[start : start + few], bits, words)
        for i in range(len(block)):
            fill_span(words, i, spans[i])
        for p in range(len(prefixes)):
            row, signs = spectra[p], prefixes[p] << np.uint64(extension) | LONG_SIGN
            for i in range(len(block)):
                for u in range(1, 1 << rank):
                    w = spans[i, u]
                    row[w & low] += 1 - 2 * np.int64(popcount(w & signs) & ONE)


@jit
def scatter_wide_prefixes(masks: Words, wanted: Any, points: Words, extension: int, spectra: Ints) -> None:
    """``scatter_prefixes`` for values of several words: ``points`` are the prefixes, followed by zeros."""
    reports, rank, width = masks.shape
    low, span = np.uint32((1 << extension) - 1), np.empty(1 << rank, np.uint32)
    span[0] = 0
    for p in range(len(points)):
        row = spectra[p]
        for i in range(reports):
            for r in range(rank):
                common = np.uint32(0)
                for j in range(width):
                    common ^= masks[i, r, j] & points[p, j]
                odd = np.uint32((popcount(np.uint32(common)) ^ (wanted[i] >> r)) & 1)
                half, w = 1 << r, np.uint32((masks[i, r, 0] & low) | (odd << np.uint32(31)))
                for u in range(half):
                    span[half + u] = span[u] ^ w
            for u in range(1, 1 << rank):
                row[span[u] & ~SIGN] += 1 - 2 * np.int64(span[u] >> np.uint32(31))


@jit
def count_points(seeds: Longs, buckets: Any, bits: int, rank: int, points: Longs, counts: Ints) -> None:
    """Adds to each point how many reports support it: those all of whose parities come out even."""
    words, odd = np.empty((rank, BLOCK), np.uint64), np.empty(BLOCK, np.uint64)
    for start in range(0, len(seeds), BLOCK):
        block = seeds[start : start + BLOCK]
        draw_long(block, buckets[start : start + BLOCK], bits, words)
        for c in range(len(points)):
            counts[c] += _even(words, points[c] | LONG_SIGN, odd[: len(block)])


@jit
def _even(words: Longs, marked: Any, odd: Longs) -> Any:
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
def count_wide_points(masks: Words, wanted: Any, points: Words, counts: Ints) -> None:
    """Adds to each point of several words how many reports have exactly the wanted parities for it."""
    reports, rank, width = masks.shape
    for c in range(len(points)):
        for i in range(reports):
            parities = 0
            for r in range(rank):
                common = np.uint32(0)
                for j in range(width):
                    common ^= masks[i, r, j] & points[c, j]
                parities |= (popcount(np.uint32(common)) & 1) << r
            counts[c] += parities == wanted[i]


@jit
def _pi(v: Any, bits: int) -> Any:
    """``hashing.permute`` of one group of at most 31 bits."""
    low = np.uint32(bits - (bits >> 1))
    left, right = np.uint32(v >> low), np.uint32(v & ((np.uint32(1) << low) - np.uint32(1)))
    for i in range(1, 7, 2):
        odd = mix(np.uint32(right + np.uint32(np.uint32(i) * np.uint32(0x9E3779B9))))
        left = np.uint32(left ^ (odd >> np.uint32(32 - (bits >> 1))))
        even = mix(np.uint32(left + np.uint32(np.uint32(i + 1) * np.uint32(0x9E3779B9))))
        right = np.uint32(right ^ (even >> np.uint32(32 - low)))
    return np.uint32(np.uint32(left << low) | right)


@jit
def fill_permutation(widths: Ints, table: Words) -> None:
    """Writes ``pi(v)`` at every ``v``, group of bits by group of bits."""
    shift = np.uint32(0)
    table[:] = 0
    for width in widths:
        low = np.uint32((1 << width) - 1)
        for v in range(len(table)):
            group = np.uint32((np.uint32(v) >> shift) & low)
            moved = group if width == 1 else _pi(group, width)
            table[v] |= np.uint32(moved << shift)
        shift += np.uint32(width)


@jit
def place(values: Floats, table: Words, out: Floats) -> None:
    """Writes every value where the permutation sends it."""
    for v in range(len(values)):
        out[table[v]] = values[v]


@jit
def place_product(slow: Floats, fast: Floats, table: Words, mean: float, out: Floats) -> None:
    """Writes products of two factors, the second changing fastest, where the permutation sends them; else a mean."""
    out[:] = mean
    v = 0
    for i in range(len(slow)):
        for j in range(len(fast)):
            out[table[v]] = slow[i] * fast[j]
            v += 1


@jit
def narrow(spectrum: Ints, out: Any) -> Any:
    """Copies to 32 bits and returns the absolute sum, which bounds every step of the transform."""
    total = 0
    for i in range(len(spectrum)):
        out[i] = np.int32(spectrum[i])
        total += abs(spectrum[i])
    return total


@jit
def read(transformed: Any, table: Words, rank: int, out: Ints) -> None:
    """The transformed entries at the positions in the table, divided by ``2^rank``."""
    for v in range(len(out)):
        out[v] = np.int64(transformed[table[v]]) >> rank
