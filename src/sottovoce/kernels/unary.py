"""Positional population count: how many users set each bit of their packed rows.

Eight rows at a time pass through a tree of carry-save adders, which keeps the counts of 64 positions in the bits of a
few words; carries of weight eight pass through the next tree, and so on, so that single bits are taken apart once in
4,096 rows.  Rows are glued together until they fill whole words, hence no width is slow.

Source: Klarqvist, Mula and Lemire 2019 (positional population counts); Mula, Kurz and Lemire 2018 (Harley-Seal).
"""

from math import gcd

import numpy as np

from sottovoce.arrays import Bytes, Ints, Longs
from sottovoce.kernels import jit
from sottovoce.kernels.pool import cores, run

TILE = 256  # words of a row worked on together: planes and inboxes of all levels stay in the first two caches
INBOX = 8  # rows one tree of adders takes in
LEVELS = 4  # trees; the last one carries with weight 8^4
LEVEL = (4 + INBOX) * TILE  # planes of weight 1, 2, 4 and the carry, then the inbox
WORTH = 1 << 24  # bytes, read in about a millisecond, below which starting threads costs more than they save


def bit_counts(rows: Bytes, size: int, threads: int | None = None) -> Ints:
    """Users who set each of ``size`` bits, least significant first, from ``(users, width)`` bytes.

    >>> bit_counts(np.array([[0b101], [0b100]], np.uint8), 3).tolist()
    [1, 0, 2]
    """
    users, width = rows.shape
    group = _glued(width)
    whole = users - users % group if width else 0
    counts = np.unpackbits(rows[whole:], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    if whole:
        words = _as_words(rows[:whole], group)
        threads = threads or (cores(users) if rows.nbytes >= WORTH else 1)
        parts = run(lambda part: _column_counts(words[part]), len(words), threads)
        counts += np.sum(parts, axis=0).reshape(group, 8 * width).sum(axis=0)
    return counts[:size]


def _glued(width: int) -> int:
    """Rows laid end to end to make whole words, and one tile of them where they are short."""
    unit = 8 // gcd(width, 8)
    return unit * max(1, 8 * TILE // (unit * max(width, 1)))


def _as_words(rows: Bytes, group: int) -> Longs:
    """The same bytes as ``(users / group, words)``, copied only where they do not lie on word boundaries.

    Always read-only, as rows from a store are: the loops are compiled for one kind of array.
    """
    flat = np.ascontiguousarray(rows).reshape(len(rows) // group, -1)
    words = flat.view(np.uint64)
    if not words.flags.aligned:
        words = flat.copy().view(np.uint64)
    words.flags.writeable = False
    return words


@jit
def _column_counts(words: Longs) -> Ints:
    """How many of the ``(rows, words)`` set each bit of each column."""
    rows, width = words.shape
    counts = np.zeros(64 * width, np.int64)
    flat = words.reshape(-1)
    work = np.empty(LEVELS * LEVEL, np.uint64)
    filled = np.empty(LEVELS, np.int64)
    for left in range(0, width, TILE):
        span = min(TILE, width - left)
        here = counts[64 * left : 64 * (left + span)]
        work[:] = 0
        filled[:] = 0
        for top in range(0, rows - INBOX + 1, INBOX):
            # The carry goes straight into the next inbox: copying it there took a sixth of the time.
            _add_eight(flat, top * width + left, width, span, work, 0, LEVEL + (4 + filled[1]) * TILE)
            filled[1] += 1
            if filled[1] == INBOX:
                _empty(1, span, work, filled)
                _carry(1, span, work, filled, here)
        for row in range(rows - rows % INBOX, rows):
            _post(flat, row * width + left, span, work, filled, 0)
        _settle(span, work, filled, here)
    return counts


@jit
def _post(source: Longs, start: int, span: int, work: Longs, filled: Ints, level: int) -> None:
    """Put a row into the inbox of a level."""
    slot = level * LEVEL + (4 + filled[level]) * TILE
    for i in range(span):  # assigning a slice would compile the text of its error, for two seconds
        work[slot + i] = source[start + i]
    filled[level] += 1


@jit
def _carry(level: int, span: int, work: Longs, filled: Ints, counts: Ints) -> None:
    """Hand the carry of a level to the next one, and so on upwards where that inbox is full."""
    for above in range(level + 1, LEVELS):
        _post(work, (above - 1) * LEVEL + 3 * TILE, span, work, filled, above)
        if filled[above] < INBOX:
            return
        _empty(above, span, work, filled)
    last = LEVELS * LEVEL - (1 + INBOX) * TILE
    _spread(work[last : last + span], INBOX**LEVELS, counts)


@jit
def _empty(level: int, span: int, work: Longs, filled: Ints) -> None:
    """Add the inbox of a level to its planes."""
    inbox = level * LEVEL + 4 * TILE
    _add_eight(work, inbox, TILE, span, work, level * LEVEL, level * LEVEL + 3 * TILE)
    filled[level] = 0


@jit
def _settle(span: int, work: Longs, filled: Ints, counts: Ints) -> None:
    """Take apart what all levels still hold."""
    for level in range(LEVELS):
        at = level * LEVEL
        if filled[level]:
            work[at + (4 + filled[level]) * TILE : at + LEVEL] = 0
            _empty(level, span, work, filled)
            _carry(level, span, work, filled, counts)
        for plane in range(3):
            _spread(work[at + plane * TILE : at + plane * TILE + span], INBOX**level << plane, counts)


@jit
def _spread(plane: Longs, weight: int, counts: Ints) -> None:
    """Add ``weight`` to the count of each bit set in ``plane``."""
    for column in range(plane.size):
        word = plane[column]
        if word == 0:
            continue
        for bit in range(64):
            counts[64 * column + bit] += weight * np.int64((word >> np.uint64(bit)) & np.uint64(1))


@jit
def _add_eight(source: Longs, start: int, stride: int, span: int, work: Longs, at: int, to: int) -> None:
    """Add eight rows of ``source`` to the planes at ``at``: seven full adders, and a carry of weight eight ``to``.

    Slices and a single output array: with more pointers to compare LLVM gives up vectorising.
    """
    a = source[start : start + span]
    b = source[start + stride : start + stride + span]
    c = source[start + 2 * stride : start + 2 * stride + span]
    d = source[start + 3 * stride : start + 3 * stride + span]
    e = source[start + 4 * stride : start + 4 * stride + span]
    f = source[start + 5 * stride : start + 5 * stride + span]
    g = source[start + 6 * stride : start + 6 * stride + span]
    h = source[start + 7 * stride : start + 7 * stride + span]
    planes = work[at : at + 3 * TILE]
    out = work[to : to + span]
    for i in range(span):
        one, two, four = planes[i], planes[TILE + i], planes[2 * TILE + i]
        one, first = _full_adder(one, a[i], b[i])
        one, second = _full_adder(one, c[i], d[i])
        two, low = _full_adder(two, first, second)
        one, first = _full_adder(one, e[i], f[i])
        one, second = _full_adder(one, g[i], h[i])
        two, high = _full_adder(two, first, second)
        four, eight = _full_adder(four, low, high)
        planes[i], planes[TILE + i], planes[2 * TILE + i] = one, two, four
        out[i] = eight


@jit
def _full_adder(x: np.uint64, y: np.uint64, z: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Sum and carry of three bits, in each of 64 places."""
    half = x ^ y
    return half ^ z, (x & y) | (half & z)
