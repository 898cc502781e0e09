"""The two hash families of this package: seeded xxh32, and random affine maps over GF(2).

Classical local hashing uses xxh32 of the value's 32-bit words, scaled to any number of buckets.
Affine response maps a point x of ``bits`` bits to one of 2^rank buckets: bit r of the bucket is

    parity(mask_r & x) XOR offset_r

with ``rank`` linearly independent masks and their offsets drawn from a 64-bit seed.  A public
permutation of the domain (a Feistel network) comes first where a task asks for it.

Clients and servers of every language compute the same integers, so no result here may ever change.
Prefer the affine family.  The classical one takes any number of buckets and is that of the papers.

Source: xxHash specification 0.1.1; docs/affine-response.md.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Bools, Longs, Values, Words
from sottovoce.errors import ParameterError

MAX_RANK = 16  # of buckets that two bytes hold
MAX_INTEGER_BITS = 63  # an index of more bits is a row of 32-bit words, low word first

_BLOCK = 1 << 14  # users at a time: the temporary arrays stay in the cache
_PRIME = tuple(
    np.uint32(prime) for prime in (0, 2654435761, 2246822519, 3266489917, 668265263, 374761393)
)
_GOLDEN = 0x9E3779B9
_KEY = np.uint32(0x7F4A7C15)
_ALL_ONES = 0xFFFFFFFF
_LOW_WORD = np.uint64(_ALL_ONES)
_ROUNDS = 6


# --- seeded xxh32, and indices as words ----------------------------------------------------------


def xxh32(words: Words, seeds: npt.ArrayLike) -> Words:
    """Return the xxh32 digest of each row of 32-bit little-endian words, under its own seed.

    >>> xxh32(np.array([[0], [1]], np.uint32), 0).tolist()
    [148298089, 4089149075]
    """
    rows = np.asarray(words, np.uint32)
    seed_words = np.asarray(seeds, np.uint32)
    shape = np.broadcast_shapes(rows.shape[:-1], seed_words.shape)
    columns = [np.atleast_1d(rows[..., column]) for column in range(rows.shape[-1])]
    return _digest(columns, np.atleast_1d(seed_words)).reshape(shape)


def bucket(hashes: Words, buckets: int) -> Words:
    """Return each hash scaled to [0, buckets): the high half of hash * buckets."""
    if not 1 <= buckets <= 1 << 32:
        raise ParameterError(f"`buckets` must be a whole number from 1 to 2^32, not {buckets}")
    return (np.asarray(hashes, np.uint64) * np.uint64(buckets) >> np.uint64(32)).astype(np.uint32)


def words_of(values: Values, bits: int) -> Words:
    """Return indices of ``bits`` bits as rows of 32-bit words, low word first."""
    width = max(1, -(-bits // 32))
    given = np.asarray(values)
    if given.ndim == 2:  # wide indices are rows of words already
        if given.shape[1] != width:
            raise ParameterError(
                f"values of {bits} bits must have {width} words, not {given.shape[1]}"
            )
        return given.astype(np.uint32, copy=False)
    rows = np.zeros((len(given), width), np.uint32)
    for column in range(min(width, 2)):
        rows[:, column] = given.astype(np.uint64) >> np.uint64(32 * column) & _LOW_WORD
    return rows


def numbers_of(indices: Values) -> list[int]:
    """Return indices as numbers: the inverse of ``indices_of``.

    >>> numbers_of(indices_of([1 << 64], 65)) == [1 << 64]
    True
    """
    if indices.ndim == 1:
        return [int(index) for index in indices.tolist()]
    return [int.from_bytes(row.astype("<u4").tobytes(), "little") for row in indices]


def indices_of(numbers: Sequence[int], bits: int) -> Values:
    """Return numbers below 2^bits as indices: int64, or rows of 32-bit words beyond 63 bits.

    >>> indices_of([1 << 64], 65).tolist()
    [[0, 0, 1]]
    """
    if bits <= MAX_INTEGER_BITS:
        return np.array(numbers, np.int64)
    width = -(-bits // 32)
    flat = b"".join(int(number).to_bytes(4 * width, "little") for number in numbers)
    return np.frombuffer(flat, "<u4").reshape(len(numbers), width).astype(np.uint32)


# --- affine maps over GF(2) ----------------------------------------------------------------------


def mix(words: Words) -> Words:
    """Return a bijection of 32-bit words that scatters every bit of them.

    >>> mix(np.array([0, 1, 2], np.uint32)).tolist()
    [0, 114555507, 229111015]
    """
    return _mix_in_place(np.array(words, np.uint32, ndmin=1)).reshape(np.shape(words))


def masks(seeds: Longs, bits: int, rank: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint16]]:
    """Return the ``rank`` independent masks of each seed, and its offsets as bits of one integer.

    Masks are (users, rank) integers up to 63 bits, and (users, rank, words) of 32 bits beyond.
    """
    _check_map(bits, rank)
    seeds = np.asarray(seeds, np.uint64)
    if bits <= MAX_INTEGER_BITS:
        return _narrow_masks(seeds, bits, rank)
    table = _wide_attempts(seeds, bits, rank)
    offsets = _packed_bits(table[:, row, -1] >> np.uint32(31) for row in range(rank))
    table[:, :, -1] &= np.uint32(_low_bits(bits % 32))
    return table, offsets


def permute(values: Values, bits: int, groups: Sequence[int] = ()) -> Longs:
    """Return the public permutation of [0, 2^bits).

    ``groups`` are widths of bit groups, the least significant first.  Each is permuted separately.

    >>> permute(np.arange(8), 3).tolist()
    [0, 6, 3, 2, 5, 7, 1, 4]
    """
    return _permute_groups(np.asarray(values), bits, groups, tuple(range(1, _ROUNDS + 1)))


def unpermute(points: Values, bits: int, groups: Sequence[int] = ()) -> Longs:
    """Return the inverse of ``permute``."""
    return _permute_groups(np.asarray(points), bits, groups, tuple(range(_ROUNDS, 0, -1)))


def affine_hash(seeds: Longs, points: Values, bits: int, rank: int) -> npt.NDArray[np.uint16]:
    """Return the bucket of each seed's own point; a task that permutes has permuted the points."""
    _check_map(bits, rank)
    seeds = np.asarray(seeds, np.uint64)
    points = np.asarray(points)
    if len(seeds) != len(points):
        raise ParameterError(
            f"`points` must have one entry per seed: {len(seeds)}, not {len(points)}"
        )
    hashes = np.empty(len(seeds), np.uint16)
    for block in _blocks(len(seeds), _BLOCK):
        if bits <= MAX_INTEGER_BITS:
            signed = _signed_masks(seeds[block], bits, rank)
            hashes[block] = _narrow_hash(signed, points[block], bits)
        else:
            table, offsets = masks(seeds[block], bits, rank)
            hashes[block] = _wide_hash(table, offsets, padded(points[block], bits)[:, None])
    return hashes


def affine_hash_table(seeds: Longs, points: Values, bits: int, rank: int) -> npt.NDArray[np.uint16]:
    """Return (users, points): the bucket of every point under every seed."""
    _check_map(bits, rank)
    seeds = np.asarray(seeds, np.uint64)
    points = np.asarray(points)
    hashes = np.empty((len(seeds), len(points)), np.uint16)
    for block in _blocks(len(seeds), max(1, 4 * _BLOCK // max(1, len(points)))):
        if bits <= MAX_INTEGER_BITS:
            signed = _signed_masks(seeds[block], bits, rank)
            hashes[block] = _narrow_hash(signed[:, :, None], points, bits)
        else:
            table, offsets = masks(seeds[block], bits, rank)
            wide_points = padded(points, bits)[None, :, None]
            hashes[block] = _wide_hash(table[:, None], offsets[:, None], wide_points)
    return hashes


def affine_hash_rows(seeds: Longs, points: Values, bits: int, rank: int) -> npt.NDArray[np.uint16]:
    """Return (users, points): the buckets of each seed's own row of points."""
    _check_map(bits, rank)
    seeds = np.asarray(seeds, np.uint64)
    count = points.shape[1]
    hashes = np.empty((len(seeds), count), np.uint16)
    for block in _blocks(len(seeds), max(1, 4 * _BLOCK // max(1, count))):
        if bits <= MAX_INTEGER_BITS:
            signed = _signed_masks(seeds[block], bits, rank)
            hashes[block] = _narrow_hash(signed[:, :, None], points[block], bits)
        else:
            table, offsets = masks(seeds[block], bits, rank)
            flat = padded(points[block].reshape(-1, points.shape[2]), bits)
            wide_points = flat.reshape(len(table), count, 1, -1)
            hashes[block] = _wide_hash(table[:, None], offsets[:, None], wide_points)
    return hashes


def padded(points: Words, bits: int) -> Words:
    """Return wide points with as many words as a mask has.

    A mask has bits // 32 + 1 words, because its offset needs a free bit: one word more than the
    point where ``bits`` is a multiple of 32.
    """
    words = words_of(points, bits)
    missing = bits // 32 + 1 - words.shape[1]
    return np.pad(words, ((0, 0), (0, missing)))


# --- xxh32, step by step -------------------------------------------------------------------------


def _digest(columns: list[Words], seeds: Words) -> Words:
    striped = len(columns) // 4 * 4  # words that are taken in stripes of four
    digest = _digest_stripes(columns[:striped], seeds) if striped else seeds + _PRIME[5]
    digest = digest + np.uint32(4 * len(columns))
    for word in columns[striped:]:
        digest = _rotated(digest + word * _PRIME[3], 17) * _PRIME[4]
    digest = (digest ^ digest >> np.uint32(15)) * _PRIME[2]
    digest = (digest ^ digest >> np.uint32(13)) * _PRIME[3]
    return digest ^ digest >> np.uint32(16)


def _digest_stripes(columns: list[Words], seeds: Words) -> Words:
    # The lanes start at seed + P1 + P2, seed + P2, seed and seed - P1.
    starts = (np.uint32(606290984), _PRIME[2], np.uint32(0), np.uint32(1640531535))
    lanes = [seeds + start for start in starts]
    for column, word in enumerate(columns):
        lane = lanes[column % 4]
        lanes[column % 4] = _rotated(lane + word * _PRIME[2], 13) * _PRIME[1]
    turned = [_rotated(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True)]
    return turned[0] + turned[1] + turned[2] + turned[3]


def _rotated(words: Words, turn: int) -> Words:
    return words << np.uint32(turn) | words >> np.uint32(32 - turn)


# --- masks from a seed ---------------------------------------------------------------------------


def _mix_in_place(words: Words) -> Words:
    shifted = words >> np.uint32(16)
    words ^= shifted
    words *= np.uint32(0x21F0AAAD)
    np.right_shift(words, np.uint32(15), out=shifted)
    words ^= shifted
    words *= np.uint32(0xD35A2D97)
    np.right_shift(words, np.uint32(15), out=shifted)
    words ^= shifted
    return words


def _keys(seeds: Longs) -> tuple[Words, Words]:
    """Return the two keys of each seed, from which all its words are made."""
    first = seeds.astype(np.uint32)
    first += _KEY
    _mix_in_place(first)
    second = (seeds >> np.uint64(32)).astype(np.uint32)
    second += first
    return first, _mix_in_place(second)


def _word(keys: tuple[Words, Words], index: int) -> Words:
    """Return the word of each seed at an index: mix(mix(second + index * golden) + first)."""
    first, second = keys
    words = _mix_in_place(second + np.uint32(index * _GOLDEN & _ALL_ONES))
    words += first
    return _mix_in_place(words)


def _narrow_masks(seeds: Longs, bits: int, rank: int) -> tuple[Longs, npt.NDArray[np.uint16]]:
    dtype = _mask_dtype(bits)
    table = np.empty((len(seeds), rank), np.uint64)
    offsets = np.empty(len(seeds), np.uint16)
    for block in _blocks(len(seeds), _BLOCK):
        signed = _signed_masks(seeds[block], bits, rank)
        table[block] = (signed & dtype.type(_low_bits(bits))).T
        top = dtype.type(8 * dtype.itemsize - 1)
        offsets[block] = _packed_bits(row >> top for row in signed)
    return table, offsets


def _signed_masks(seeds: Longs, bits: int, rank: int) -> npt.NDArray[Any]:
    """Return (rank, users): masks of at most 63 bits, each with its offset in the top bit.

    The first ``rank`` words of a seed are nearly always independent.  The few seeds where they are
    not are drawn again one by one.
    """
    keys = _keys(seeds)
    dtype = _mask_dtype(bits)
    signed = np.empty((rank, len(seeds)), dtype)
    for row in range(rank):
        signed[row] = _word(keys, row + 1) if bits < 32 else _word_pair(keys, row + 1)
    signed &= dtype.type(_low_bits(bits) | 1 << 8 * dtype.itemsize - 1)
    dependent = np.flatnonzero(dependent_seeds(signed & dtype.type(_low_bits(bits))))
    if len(dependent):
        again = _drawn_one_by_one(seeds[dependent], bits, rank)
        signed[:, dependent] = _joined_words(again).T
    return signed


def _word_pair(keys: tuple[Words, Words], attempt: int) -> Longs:
    pairs = _word(keys, 2 * attempt).astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= _word(keys, 2 * attempt - 1)
    return pairs


def dependent_seeds(rows: npt.NDArray[Any]) -> Bools:
    """Return which users' masks are linearly dependent; ``rows`` is overwritten.

    min(w, w ^ b) clears the leading bit of b in w.  Masks are dependent if one of them becomes 0
    once the leading bits of all earlier ones are cleared.
    """
    least = rows[0].copy()
    for row in range(1, len(rows)):
        for earlier in rows[:row]:
            np.minimum(rows[row], rows[row] ^ earlier, out=rows[row])
        np.minimum(least, rows[row], out=least)
    return np.asarray(least == 0)


def _wide_attempts(seeds: Longs, bits: int, rank: int) -> Words:
    """Return (users, rank, words): the accepted attempts of each seed, of 64 bits and more.

    The first ``rank`` attempts of nearly all seeds are accepted, because already their first 64
    bits are independent.  The other seeds are drawn again one by one.
    """
    table = np.empty((len(seeds), rank, bits // 32 + 1), np.uint32)
    for block in _blocks(len(seeds), _BLOCK):
        keys = _keys(seeds[block])
        for row in range(rank):
            table[block, row] = _attempt(keys, row, bits)
        leading = np.ascontiguousarray(_joined_words(table[block, :, :2]).T)
        doubtful = np.flatnonzero(dependent_seeds(leading)) + block.start
        if len(doubtful):
            table[doubtful] = _drawn_one_by_one(seeds[doubtful], bits, rank)
    return table


def _drawn_one_by_one(seeds: Longs, bits: int, rank: int) -> Words:
    """Return (users, rank, words): the accepted attempts of each seed.

    An attempt that depends on the masks accepted before it is dropped together with its offset,
    which is the top bit of its last word.
    """
    width = bits // 32 + 1
    first, second = _keys(seeds)
    table = np.zeros((len(seeds), rank, width), np.uint32)
    basis = np.zeros_like(table)
    pivots = np.zeros_like(table)
    accepted = np.zeros(len(seeds), np.intp)  # masks that each seed has so far
    unfinished = np.arange(len(seeds))
    attempt = 0
    while len(unfinished):
        drawn = _attempt((first[unfinished], second[unfinished]), attempt, bits)
        mask_bits = drawn & _used_bits(bits, offset=False)
        rest = _reduced(mask_bits, basis[unfinished], pivots[unfinished])
        independent = rest.any(axis=1)
        users = unfinished[independent]
        table[users, accepted[users]] = drawn[independent]
        basis[users, accepted[users]] = rest[independent]
        pivots[users, accepted[users]] = _pivot(rest[independent])
        accepted[users] += 1
        unfinished = unfinished[accepted[unfinished] < rank]
        attempt += 1
    return table


def _attempt(keys: tuple[Words, Words], attempt: int, bits: int) -> Words:
    width = bits // 32 + 1
    columns = [_word(keys, attempt * width + column + 1) for column in range(width)]
    return np.stack(columns, axis=1) & _used_bits(bits, offset=True)


def _used_bits(bits: int, *, offset: bool) -> Words:
    """Return the bits of an attempt that count: the mask, and the offset if it is wanted."""
    used = np.full(bits // 32 + 1, _ALL_ONES, np.uint32)
    used[-1] = _low_bits(bits % 32)
    if offset:
        used[-1] |= np.uint32(1 << 31)
    return used


def _reduced(words: Words, basis: Words, pivots: Words) -> Words:
    """Return the words with the pivot bit of every basis row cleared."""
    for row in range(basis.shape[1]):
        has_pivot = (words & pivots[:, row]).any(axis=1, keepdims=True)
        words = words ^ np.where(has_pivot, basis[:, row], np.uint32(0))
    return words


def _pivot(rows: Words) -> Words:
    """Return one set bit of each row: the lowest bit of its first word that is not zero."""
    pivots = np.zeros_like(rows)
    first_nonzero = np.arange(len(rows)), (rows != 0).argmax(axis=1)
    words = rows[first_nonzero]
    pivots[first_nonzero] = words & (~words + np.uint32(1))
    return pivots


def _joined_words(table: Words) -> npt.NDArray[Any]:
    """Return one integer for each mask of one or two words."""
    if table.shape[2] == 1:
        return table[:, :, 0]
    return table[:, :, 0] | table[:, :, 1].astype(np.uint64) << np.uint64(32)


# --- the hash itself -----------------------------------------------------------------------------


def _narrow_hash(signed: npt.NDArray[Any], points: Values, bits: int) -> npt.NDArray[np.uint16]:
    dtype = _mask_dtype(bits)
    # The top bit of the point brings the offset into the parity.
    marked = points.astype(dtype) | dtype.type(1 << 8 * dtype.itemsize - 1)
    return _packed_bits(np.bitwise_count(row & marked) & np.uint8(1) for row in signed)


def _wide_hash(
    table: Words, offsets: npt.NDArray[np.uint16], points: Words
) -> npt.NDArray[np.uint16]:
    """Return the buckets of points under masks (..., rank, words); shapes are broadcast."""
    parity = np.bitwise_count(np.bitwise_xor.reduce(table & points, axis=-1)) & np.uint8(1)
    return _packed_bits(parity[..., row] for row in range(parity.shape[-1])) ^ offsets


def _packed_bits(rows: Iterator[npt.NDArray[Any]]) -> npt.NDArray[np.uint16]:
    """Return integers whose bit r comes from row r."""
    packed: npt.NDArray[np.uint16] | None = None
    for position, row in enumerate(rows):
        shifted = row.astype(np.uint16) << np.uint16(position)
        packed = shifted if packed is None else np.bitwise_or(packed, shifted, out=packed)
    assert packed is not None
    return packed


# --- the permutation -----------------------------------------------------------------------------


def _permute_groups(
    values: Values, bits: int, groups: Sequence[int], rounds: tuple[int, ...]
) -> Longs:
    if not 1 <= bits <= MAX_INTEGER_BITS:
        raise ParameterError(
            f"`bits` must be a whole number from 1 to {MAX_INTEGER_BITS}, not {bits}"
        )
    widths = tuple(groups) or (bits,)
    check_groups(widths, bits)
    result = np.zeros(values.shape, np.uint64)
    for rows in _blocks(len(values), _BLOCK):
        block = values[rows].astype(np.uint64)
        shift = 0
        for width in widths:
            group = block
            if width != bits:
                group = block >> np.uint64(shift) & np.uint64(_low_bits(width))
            result[rows] |= _feistel(group, width, rounds) << np.uint64(shift)
            shift += width
    return result


def _feistel(values: Longs, bits: int, rounds: tuple[int, ...]) -> Longs:
    """Return the values after a Feistel network: odd rounds change the high half, even the low."""
    if bits == 1:
        return values
    high_bits = bits >> 1
    low_bits = bits - high_bits
    left = (values >> np.uint64(low_bits)).astype(np.uint32)
    right = values.astype(np.uint32) & np.uint32(_low_bits(low_bits))
    for number in rounds:
        step = np.uint32(number * _GOLDEN & _ALL_ONES)
        if number % 2:
            left ^= _mix_in_place(right + step) >> np.uint32(32 - high_bits)
        else:
            right ^= _mix_in_place(left + step) >> np.uint32(32 - low_bits)
    return left.astype(np.uint64) << np.uint64(low_bits) | right


# --- small things --------------------------------------------------------------------------------


def check_groups(widths: Sequence[int], bits: int) -> None:
    """Refuse widths of bit groups that do not make up ``bits`` bits."""
    if min(widths) < 1:
        raise ParameterError(f"`groups` must be widths of at least 1 bit, not {tuple(widths)}")
    if sum(widths) != bits:
        raise ParameterError(f"`groups` must add up to {bits} bits, not {sum(widths)}")


def _check_map(bits: int, rank: int) -> None:
    if bits < 2:
        raise ParameterError(f"`bits` of an affine map must be at least 2, not {bits}")
    max_rank = min(bits - 1, MAX_RANK)
    if not 1 <= rank <= max_rank:
        raise ParameterError(f"`rank` must be a whole number from 1 to {max_rank}, not {rank}")


def _mask_dtype(bits: int) -> np.dtype[Any]:
    """Return the integer type that holds a mask of ``bits`` bits and its offset."""
    return np.dtype(np.uint32 if bits < 32 else np.uint64)


def _low_bits(count: int) -> int:
    """Return the number whose lowest ``count`` bits are set."""
    return (1 << count) - 1


def _blocks(count: int, length: int) -> Iterator[slice]:
    return (slice(start, min(start + length, count)) for start in range(0, count, length))
