"""The two hash families, frozen: seeded xxh32 for classical local hashing, affine maps over GF(2) for affine response.

Clients and servers of every language compute the same integers, so nothing here may ever change its results.
Prefer the affine family; the classical one takes any number of buckets and reproduces the literature.

Source: xxHash specification 0.1.1; docs/affine-response.md.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.arrays import Longs, Values, Words
from sottovoce.errors import ParameterError

MAX_RANK = 12
LONGEST = 63  # bits of an index that fits one integer; wider ones are rows of 32-bit words

_BLOCK = 1 << 14  # users at a time: the temporaries stay in the cache
_PRIME = tuple(np.uint32(p) for p in (0, 2654435761, 2246822519, 3266489917, 668265263, 374761393))
_GOLDEN = 0x9E3779B9
_KEY = np.uint32(0x7F4A7C15)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_ROUNDS = 6


def xxh32(words: Words, seeds: npt.ArrayLike) -> Words:
    """The xxh32 digest of each row of 32-bit little-endian words, under its own seed.

    >>> xxh32(np.array([[0], [1]], np.uint32), 0).tolist()
    [148298089, 4089149075]
    """
    rows = np.asarray(words, np.uint32)
    keys = np.asarray(seeds, np.uint32)
    shape = np.broadcast_shapes(rows.shape[:-1], keys.shape)
    columns = [np.atleast_1d(rows[..., column]) for column in range(rows.shape[-1])]
    return _digest(columns, np.atleast_1d(keys)).reshape(shape)


def bucket(hashes: Words, buckets: int) -> Words:
    """Each hash scaled to ``[0, buckets)`` by the high half of a product, alike in every language."""
    if not 1 <= buckets <= 1 << 32:
        raise ParameterError(f"buckets must lie in 1..2^32, not {buckets}")
    return (np.asarray(hashes, np.uint64) * np.uint64(buckets) >> np.uint64(32)).astype(np.uint32)


def words_of(values: Values, bits: int) -> Words:
    """The values as rows of 32-bit words, low word first; rows of words pass through."""
    width = max(1, -(-bits // 32))
    given = np.asarray(values)
    if given.ndim == 2:
        if given.shape[1] != width:
            raise ParameterError(f"values of {bits} bits have {width} words, not {given.shape[1]}")
        return given.astype(np.uint32, copy=False)
    rows = np.zeros((len(given), width), np.uint32)
    for column in range(min(width, 2)):
        rows[:, column] = given.astype(np.uint64) >> np.uint64(32 * column) & _LOW_WORD
    return rows


def indices_of(numbers: Sequence[int], bits: int) -> Values:
    """Numbers of any length as indices of so many bits: integers, or rows of 32-bit words where they need more than 63.

    >>> indices_of([1 << 64], 65).tolist()
    [[0, 0, 1]]
    """
    if bits <= LONGEST:
        return np.array(numbers, np.int64)
    width = -(-bits // 32)
    flat = b"".join(int(number).to_bytes(4 * width, "little") for number in numbers)
    return np.frombuffer(flat, "<u4").reshape(len(numbers), width).astype(np.uint32)


def mix(words: Words) -> Words:
    """A bijection of 32-bit words that scatters every bit of them.

    >>> mix(np.array([0, 1, 2], np.uint32)).tolist()
    [0, 114555507, 229111015]
    """
    return _mixed(np.array(words, np.uint32, ndmin=1)).reshape(np.shape(words))


def masks(seeds: Longs, bits: int, rank: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint16]]:
    """Each seed's ``rank`` independent masks, and its offsets as the bits of one integer.

    Masks are ``(users, rank)`` integers up to 63 bits, ``(users, rank, words)`` of 32 bits beyond.
    """
    _check(bits, rank)
    seeds = np.asarray(seeds, np.uint64)
    if bits <= LONGEST:
        return _narrow_masks(seeds, bits, rank)
    table = _careful(seeds, bits, rank)
    offsets = _packed_bits(table[:, r, -1] >> np.uint32(31) for r in range(rank))
    table[:, :, -1] &= np.uint32(_low(bits % 32))
    return table, offsets


def permute(values: Values, bits: int, groups: Sequence[int] = ()) -> Longs:
    """The public bijection ``pi`` of ``[0, 2^bits)``, acting on each group of bits by itself, least significant first.

    >>> permute(np.arange(8), 3).tolist()
    [0, 6, 3, 2, 5, 7, 1, 4]
    """
    return _regrouped(np.asarray(values), bits, groups, tuple(range(1, _ROUNDS + 1)))


def unpermute(points: Values, bits: int, groups: Sequence[int] = ()) -> Longs:
    """The inverse of ``permute``."""
    return _regrouped(np.asarray(points), bits, groups, tuple(range(_ROUNDS, 0, -1)))


def affine_hash(seeds: Longs, points: Values, bits: int, rank: int) -> npt.NDArray[np.uint16]:
    """The bucket of each seed's own point; points are already permuted where the task permutes."""
    _check(bits, rank)
    seeds, points = np.asarray(seeds, np.uint64), np.asarray(points)
    if len(seeds) != len(points):
        raise ParameterError(f"one point for each seed is needed, not {len(points)} for {len(seeds)}")
    hashes = np.empty(len(seeds), np.uint16)
    for part in _blocks(len(seeds), _BLOCK):
        if bits <= LONGEST:
            hashes[part] = _narrow_hash(_signed(seeds[part], bits, rank), points[part], bits)
        else:
            table, offsets = masks(seeds[part], bits, rank)
            hashes[part] = _wide_hash(table, offsets, padded(points[part], bits)[:, None])
    return hashes


def affine_hash_table(seeds: Longs, points: Values, bits: int, rank: int) -> npt.NDArray[np.uint16]:
    """The ``(users, points)`` buckets of every point under every seed."""
    _check(bits, rank)
    seeds, points = np.asarray(seeds, np.uint64), np.asarray(points)
    hashes = np.empty((len(seeds), len(points)), np.uint16)
    for part in _blocks(len(seeds), max(1, 4 * _BLOCK // max(1, len(points)))):
        if bits <= LONGEST:
            hashes[part] = _narrow_hash(_signed(seeds[part], bits, rank)[:, :, None], points, bits)
        else:
            table, offsets = masks(seeds[part], bits, rank)
            hashes[part] = _wide_hash(table[:, None], offsets[:, None], padded(points, bits)[None, :, None])
    return hashes


def padded(points: Words, bits: int) -> Words:
    """Wide points with as many words as a mask has, one more where ``bits`` is a multiple of 32."""
    return np.pad(words_of(points, bits), ((0, 0), (0, 1 - -(-bits // 32) + bits // 32)))


def _digest(columns: list[Words], seeds: Words) -> Words:
    stripes = len(columns) // 4 * 4
    digest = _striped(columns[:stripes], seeds) if stripes else seeds + _PRIME[5]
    digest = digest + np.uint32(4 * len(columns))
    for word in columns[stripes:]:
        digest = _rotated(digest + word * _PRIME[3], 17) * _PRIME[4]
    digest = (digest ^ digest >> np.uint32(15)) * _PRIME[2]
    digest = (digest ^ digest >> np.uint32(13)) * _PRIME[3]
    return digest ^ digest >> np.uint32(16)


def _striped(columns: list[Words], seeds: Words) -> Words:
    starts = (np.uint32(606290984), _PRIME[2], np.uint32(0), np.uint32(1640531535))  # P1 + P2, P2, 0, -P1
    lanes = [seeds + start for start in starts]
    for column, word in enumerate(columns):
        lane = lanes[column % 4]
        lanes[column % 4] = _rotated(lane + word * _PRIME[2], 13) * _PRIME[1]
    turned = [_rotated(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True)]
    return turned[0] + turned[1] + turned[2] + turned[3]


def _rotated(words: Words, turn: int) -> Words:
    return words << np.uint32(turn) | words >> np.uint32(32 - turn)


def _mixed(words: Words) -> Words:
    """``mix`` in place."""
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
    first = seeds.astype(np.uint32)
    first += _KEY
    _mixed(first)
    second = (seeds >> np.uint64(32)).astype(np.uint32)
    second += first
    return first, _mixed(second)


def _word(keys: tuple[Words, Words], index: int) -> Words:
    first, second = keys
    words = _mixed(second + np.uint32(index * _GOLDEN & 0xFFFFFFFF))
    words += first
    return _mixed(words)


def _narrow_masks(seeds: Longs, bits: int, rank: int) -> tuple[Longs, npt.NDArray[np.uint16]]:
    table = np.empty((len(seeds), rank), np.uint64)
    offsets = np.empty(len(seeds), np.uint16)
    for part in _blocks(len(seeds), _BLOCK):
        signed = _signed(seeds[part], bits, rank)
        table[part] = (signed & _kind(bits).type(_low(bits))).T
        offsets[part] = _packed_bits(row >> _kind(bits).type(8 * row.itemsize - 1) for row in signed)
    return table, offsets


def _signed(seeds: Longs, bits: int, rank: int) -> npt.NDArray[Any]:
    """The ``(rank, users)`` masks with their offsets in the top bit.

    Takes the first words of everybody, which nearly always do, and repeats the few whose masks depend on each other.
    """
    keys, kind = _keys(seeds), _kind(bits)
    signed = np.empty((rank, len(seeds)), kind)
    for r in range(rank):
        signed[r] = _word(keys, r + 1) if bits < 32 else _pair(keys, r + 1)
    signed &= kind.type(_low(bits) | 1 << 8 * kind.itemsize - 1)
    poor = np.flatnonzero(_dependent(signed & kind.type(_low(bits))))
    if len(poor):
        signed[:, poor] = _joined(_careful(seeds[poor], bits, rank)).T
    return signed


def _pair(keys: tuple[Words, Words], attempt: int) -> Longs:
    pairs = _word(keys, 2 * attempt).astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= _word(keys, 2 * attempt - 1)
    return pairs


def _dependent(rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which users' masks are linearly dependent: ``min(w, w ^ b)`` clears the leading bit of ``b`` in ``w``."""
    least = rows[0].copy()
    for r in range(1, len(rows)):
        for earlier in rows[:r]:
            np.minimum(rows[r], rows[r] ^ earlier, out=rows[r])
        np.minimum(least, rows[r], out=least)
    dependent: npt.NDArray[np.bool_] = least == 0
    return dependent


def _careful(seeds: Longs, bits: int, rank: int) -> Words:
    """The ``(users, rank, words)`` accepted attempts, cut to the mask and the offset in the last word's top bit."""
    width, keys = bits // 32 + 1, _keys(seeds)
    table = np.zeros((len(seeds), rank, width), np.uint32)
    basis, pivots = np.zeros_like(table), np.zeros_like(table)
    found = np.zeros(len(seeds), np.intp)
    todo, attempt = np.arange(len(seeds)), 0
    while len(todo):
        drawn = _attempt((keys[0][todo], keys[1][todo]), attempt, bits)
        rest = _reduced(drawn & _cut(bits, sign=0), basis[todo], pivots[todo])
        new = rest.any(axis=1)
        rows, rest = todo[new], rest[new]
        table[rows, found[rows]], basis[rows, found[rows]] = drawn[new], rest
        pivots[rows, found[rows]] = _pivot(rest)
        found[rows] += 1
        todo, attempt = todo[found[todo] < rank], attempt + 1
    return table


def _attempt(keys: tuple[Words, Words], attempt: int, bits: int) -> Words:
    width = bits // 32 + 1
    words = np.stack([_word(keys, attempt * width + column + 1) for column in range(width)], axis=1)
    return words & _cut(bits, sign=1)


def _cut(bits: int, sign: int) -> Words:
    """The bits of an attempt that count: those of the mask, and the offset if ``sign`` is 1."""
    cut = np.full(bits // 32 + 1, 0xFFFFFFFF, np.uint32)
    cut[-1] = _low(bits % 32) | sign << 31
    return cut


def _reduced(words: Words, basis: Words, pivots: Words) -> Words:
    for r in range(basis.shape[1]):
        hit = (words & pivots[:, r]).any(axis=1, keepdims=True)
        words = words ^ np.where(hit, basis[:, r], np.uint32(0))
    return words


def _pivot(rows: Words) -> Words:
    """One set bit of each row: the lowest of its first word that is not zero."""
    pivots = np.zeros_like(rows)
    where = np.arange(len(rows)), (rows != 0).argmax(axis=1)
    pivots[where] = rows[where] & (~rows[where] + np.uint32(1))
    return pivots


def _joined(table: Words) -> npt.NDArray[Any]:
    """One integer for each mask of one or two words."""
    if table.shape[2] == 1:
        return table[:, :, 0]
    return table[:, :, 0] | table[:, :, 1].astype(np.uint64) << np.uint64(32)


def _narrow_hash(signed: npt.NDArray[Any], points: Values, bits: int) -> npt.NDArray[np.uint16]:
    kind = _kind(bits)
    marked = points.astype(kind) | kind.type(
        1 << 8 * kind.itemsize - 1
    )  # the top bit brings the offset into the parity
    return _packed_bits(np.bitwise_count(row & marked) & np.uint8(1) for row in signed)


def _wide_hash(table: Words, offsets: npt.NDArray[np.uint16], points: Words) -> npt.NDArray[np.uint16]:
    """The buckets of ``points`` under masks ``(..., rank, words)``, shapes broadcast."""
    parity = np.bitwise_count(np.bitwise_xor.reduce(table & points, axis=-1)) & np.uint8(1)
    return _packed_bits(parity[..., r] for r in range(parity.shape[-1])) ^ offsets


def _packed_bits(rows: Iterator[npt.NDArray[Any]]) -> npt.NDArray[np.uint16]:
    packed: npt.NDArray[np.uint16] | None = None
    for r, row in enumerate(rows):
        moved = row.astype(np.uint16) << np.uint16(r)
        packed = moved if packed is None else np.bitwise_or(packed, moved, out=packed)
    assert packed is not None
    return packed


def _regrouped(values: Values, bits: int, groups: Sequence[int], rounds: tuple[int, ...]) -> Longs:
    widths = tuple(groups) or (bits,)
    if not 1 <= bits <= LONGEST or sum(widths) != bits or min(widths) < 1:
        raise ParameterError(f"groups must be widths that add up to bits, 1..{LONGEST}, not {widths} of {bits}")
    result = np.zeros(values.shape, np.uint64)
    for part in _blocks(len(values), _BLOCK):
        shift, block = 0, values[part].astype(np.uint64)
        for width in widths:
            group = block if width == bits else block >> np.uint64(shift) & np.uint64(_low(width))
            result[part] |= _feistel(group, width, rounds) << np.uint64(shift)
            shift += width
    return result


def _feistel(values: Longs, bits: int, rounds: tuple[int, ...]) -> Longs:
    if bits == 1:
        return values
    high, low = bits >> 1, bits - (bits >> 1)
    left = (values >> np.uint64(low)).astype(np.uint32)
    right = values.astype(np.uint32) & np.uint32(_low(low))
    for i in rounds:
        source, target, width = (right, left, high) if i % 2 else (left, right, low)
        scattered = _mixed(source + np.uint32(i * _GOLDEN & 0xFFFFFFFF))
        scattered >>= np.uint32(32 - width)
        target ^= scattered
    return left.astype(np.uint64) << np.uint64(low) | right


def _kind(bits: int) -> np.dtype[Any]:
    return np.dtype(np.uint32 if bits < 32 else np.uint64)


def _low(bits: int) -> int:
    return (1 << bits) - 1


def _blocks(count: int, length: int) -> Iterator[slice]:
    return (slice(start, min(start + length, count)) for start in range(0, count, length))


def _check(bits: int, rank: int) -> None:
    if not (bits >= 2 and 1 <= rank <= min(bits - 1, MAX_RANK)):
        raise ParameterError(f"rank must lie in 1..min(bits - 1, {MAX_RANK}), not {rank} for {bits} bits")
