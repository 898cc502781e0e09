"""Positional population count: how many users set each bit of their packed rows.

Eight rows at a time pass through a tree of carry-save adders, which keeps the counts of 64
positions in the bits of a few words.  Carries of weight eight pass through the next tree, and so
on, so that single bits are taken apart only once in 4,096 rows.  Rows are joined until they fill
whole words, so that no width is slow.

A level of the trees owns LEVEL words of ``work``: planes of weight 1, 2 and 4, the carry of weight
8, and an inbox of eight rows from the level below.

Source: Klarqvist, Mula and Lemire 2019; Mula, Kurz and Lemire 2018.
"""

from math import gcd
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Bytes, Ints, Longs
from sottovoce.kernels import jit
from sottovoce.kernels.pool import cores, run

TILE = 256  # words of a row at a time: the work of all levels stays in the first two caches
INBOX = 8  # rows that one tree of adders takes in
LEVELS = 4  # trees; the last one carries with weight 8^4
LEVEL = (4 + INBOX) * TILE  # words of one level
THREADED = 1 << 24  # bytes, read in about a millisecond: below, threads cost more than they save


class _Trees(NamedTuple):
    """The state of the adders for one tile of ``span`` words."""

    span: int
    work: Longs
    filled: Ints  # rows in the inbox of each level
    counts: Ints


class _Rows(NamedTuple):
    """Eight rows of ``span`` words, ``stride`` words apart, from ``start`` on."""

    source: Longs
    start: int
    stride: int
    span: int


def bit_counts(rows: Bytes, size: int, threads: int | None = None) -> Ints:
    """Return how many users set each of ``size`` bits, from (users, width) bytes.

    The least significant bit of a byte comes first.

    >>> bit_counts(np.array([[0b101], [0b100]], np.uint8), 3).tolist()
    [1, 0, 2]
    """
    users, width = rows.shape
    group = _joined_rows(width)
    whole = users - users % group if width else 0
    counts = np.unpackbits(rows[whole:], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    if whole:
        words = _as_words(rows[:whole], group)
        threads = threads or (cores(users) if rows.nbytes >= THREADED else 1)
        parts = run(lambda part: _column_counts(words[part]), len(words), threads)
        counts += np.sum(parts, axis=0).reshape(group, 8 * width).sum(axis=0)
    return counts[:size]


def _joined_rows(width: int) -> int:
    """Return how many rows are laid end to end to make whole words, a tile of them if short."""
    unit = 8 // gcd(width, 8)
    return unit * max(1, 8 * TILE // (unit * max(width, 1)))


def _as_words(rows: Bytes, group: int) -> Longs:
    """Return the same bytes as (users / group, words), copied only if they are not aligned.

    The words are read-only, as rows from a store are: the loops are compiled for that kind alone.
    """
    flat = np.ascontiguousarray(rows).reshape(len(rows) // group, -1)
    words = flat.view(np.uint64)
    if not words.flags.aligned:
        words = flat.copy().view(np.uint64)
    words.flags.writeable = False
    return words


@jit
def _column_counts(words: Longs) -> Ints:
    """Return how many of the (rows, words) set each bit of each column."""
    rows, width = words.shape
    counts = np.zeros(64 * width, np.int64)
    flat = words.reshape(-1)
    work = np.empty(LEVELS * LEVEL, np.uint64)
    filled = np.empty(LEVELS, np.int64)
    for left in range(0, width, TILE):
        span = min(TILE, width - left)
        trees = _Trees(span, work, filled, counts[64 * left : 64 * (left + span)])
        work[:] = 0
        filled[:] = 0
        for top in range(0, rows - INBOX + 1, INBOX):
            # The carry goes straight into the next inbox: copying it took a sixth of the time.
            inbox = LEVEL + (4 + filled[1]) * TILE
            _add_eight(_Rows(flat, top * width + left, width, span), work, 0, inbox)
            filled[1] += 1
            if filled[1] == INBOX:
                _empty_inbox(trees, 1)
                _carry(trees, 1)
        for row in range(rows - rows % INBOX, rows):
            _put_into_inbox(trees, flat, row * width + left, 0)
        _flush(trees)
    return counts


@jit
def _put_into_inbox(trees: _Trees, source: Longs, start: int, level: int) -> None:
    slot = level * LEVEL + (4 + trees.filled[level]) * TILE
    for i in range(trees.span):  # assigning a slice would compile the text of its error: 2 s
        trees.work[slot + i] = source[start + i]
    trees.filled[level] += 1


@jit
def _carry(trees: _Trees, level: int) -> None:
    """Hand the carry of a level to the next one, and so on upwards where that inbox is full."""
    for above in range(level + 1, LEVELS):
        _put_into_inbox(trees, trees.work, (above - 1) * LEVEL + 3 * TILE, above)
        if trees.filled[above] < INBOX:
            return
        _empty_inbox(trees, above)
    last = LEVELS * LEVEL - (1 + INBOX) * TILE
    _add_plane(trees.work[last : last + trees.span], INBOX**LEVELS, trees.counts)


@jit
def _empty_inbox(trees: _Trees, level: int) -> None:
    """Add the inbox of a level to its planes."""
    first = level * LEVEL
    inbox = _Rows(trees.work, first + 4 * TILE, TILE, trees.span)
    _add_eight(inbox, trees.work, first, first + 3 * TILE)
    trees.filled[level] = 0


@jit
def _flush(trees: _Trees) -> None:
    """Add to the counts what all levels still hold."""
    for level in range(LEVELS):
        first = level * LEVEL
        if trees.filled[level]:
            trees.work[first + (4 + trees.filled[level]) * TILE : first + LEVEL] = 0
            _empty_inbox(trees, level)
            _carry(trees, level)
        for plane in range(3):
            start = first + plane * TILE
            _add_plane(trees.work[start : start + trees.span], INBOX**level << plane, trees.counts)


@jit
def _add_plane(plane: Longs, weight: int, counts: Ints) -> None:
    """Add ``weight`` to the count of each bit set in ``plane``."""
    for column in range(plane.size):
        word = plane[column]
        if word == 0:
            continue
        for bit in range(64):
            counts[64 * column + bit] += weight * np.int64((word >> np.uint64(bit)) & np.uint64(1))


@jit
def _add_eight(rows: _Rows, work: Longs, planes_start: int, carry_start: int) -> None:
    """Add eight rows to three planes with seven full adders, and write the carry of weight eight.

    Slices and a single output array: with more pointers to compare LLVM gives up vectorising.
    """
    a, b, c, d = _row(rows, 0), _row(rows, 1), _row(rows, 2), _row(rows, 3)
    e, f, g, h = _row(rows, 4), _row(rows, 5), _row(rows, 6), _row(rows, 7)
    planes = work[planes_start : planes_start + 3 * TILE]
    carry = work[carry_start : carry_start + rows.span]
    for i in range(rows.span):
        ones = planes[i]
        twos = planes[TILE + i]
        fours = planes[2 * TILE + i]
        ones, first = _full_adder(ones, a[i], b[i])
        ones, second = _full_adder(ones, c[i], d[i])
        twos, low = _full_adder(twos, first, second)
        ones, first = _full_adder(ones, e[i], f[i])
        ones, second = _full_adder(ones, g[i], h[i])
        twos, high = _full_adder(twos, first, second)
        fours, eights = _full_adder(fours, low, high)
        planes[i] = ones
        planes[TILE + i] = twos
        planes[2 * TILE + i] = fours
        carry[i] = eights


@jit
def _row(rows: _Rows, number: int) -> Longs:
    first = rows.start + number * rows.stride
    return rows.source[first : first + rows.span]


@jit
def _full_adder(x: np.uint64, y: np.uint64, z: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return sum and carry of three bits, in each of 64 places."""
    half = x ^ y
    return half ^ z, (x & y) | (half & z)
