"""The hashes of ``maths.hashing`` for one value, in plain integers.

A device answers for one person.  For a single value an array costs more than the hash itself, so
devices compute the same integers without arrays.

Source: xxHash specification 0.1.1; docs/affine-response.md.
"""

from collections.abc import Sequence

_WORD = 0xFFFFFFFF
_PRIME_1, _PRIME_2, _PRIME_3 = 2654435761, 2246822519, 3266489917
_PRIME_4, _PRIME_5 = 668265263, 374761393
_GOLDEN = 0x9E3779B9
_KEY = 0x7F4A7C15
_ROUNDS = 6


def xxh32(value: int, words: int, seed: int) -> int:
    """Return the xxh32 digest of a number of ``words`` 32-bit words, low word first.

    >>> xxh32(0, 1, seed=0), xxh32(1, 1, seed=0)
    (148298089, 4089149075)
    """
    striped = words & ~3  # words that are taken in stripes of four
    digest = _stripes(value, striped, seed) if striped else seed + _PRIME_5
    digest += 4 * words
    rest = value >> 32 * striped
    for _ in range(words - striped):
        digest = digest + (rest & _WORD) * _PRIME_3 & _WORD
        digest = (digest << 17 | digest >> 15) * _PRIME_4
        rest >>= 32
    digest &= _WORD
    digest = (digest ^ digest >> 15) * _PRIME_2 & _WORD
    digest = (digest ^ digest >> 13) * _PRIME_3 & _WORD
    return digest ^ digest >> 16


def affine_bucket(seed: int, point: int, bits: int, rank: int) -> int:
    """Return the bucket of a point of ``bits`` bits under the affine map of a seed."""
    first = _mix(seed + _KEY & _WORD)
    second = _mix((seed >> 32) + first & _WORD)
    words = bits // 32 + 1  # of one attempt: the mask, and its offset in the top bit
    low_bits = (1 << bits) - 1
    top = 32 * words - 1
    index = 0
    bucket = 0
    basis: list[int] = []
    while len(basis) < rank:
        attempt = 0
        for word_index in range(words):
            index += 1
            inner = _mix(second + index * _GOLDEN & _WORD)
            attempt |= _mix(inner + first & _WORD) << 32 * word_index
        mask = attempt & low_bits
        rest = mask
        for earlier in basis:
            rest = min(rest, rest ^ earlier)  # clears the leading bit of the earlier mask
        if rest:  # an attempt that depends on the masks before it is dropped
            parity = (mask & point).bit_count() ^ attempt >> top
            bucket |= (parity & 1) << len(basis)
            basis.append(rest)
    return bucket


def permute(value: int, bits: int, groups: Sequence[int] = ()) -> int:
    """Return the public permutation of [0, 2^bits), which permutes each group of bits separately.

    >>> [permute(value, 3) for value in range(8)]
    [0, 6, 3, 2, 5, 7, 1, 4]
    """
    if not groups:
        return _feistel(value, bits)
    permuted = 0
    shift = 0
    for width in groups:
        group = value >> shift & (1 << width) - 1
        permuted |= _feistel(group, width) << shift
        shift += width
    return permuted


def _stripes(value: int, words: int, seed: int) -> int:
    lanes = [seed + _PRIME_1 + _PRIME_2, seed + _PRIME_2, seed, seed - _PRIME_1]
    for word_index in range(words):
        piece = value >> 32 * word_index & _WORD
        lane = lanes[word_index & 3] + piece * _PRIME_2 & _WORD
        lanes[word_index & 3] = (lane << 13 | lane >> 19) * _PRIME_1 & _WORD
    return sum(
        lane << turn | lane >> 32 - turn for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True)
    )


def _mix(word: int) -> int:
    word = (word ^ word >> 16) * 0x21F0AAAD & _WORD
    word = (word ^ word >> 15) * 0xD35A2D97 & _WORD
    return word ^ word >> 15


def _feistel(value: int, bits: int) -> int:
    if bits == 1:
        return value
    high_bits = bits >> 1
    low_bits = bits - high_bits
    left = value >> low_bits
    right = value & (1 << low_bits) - 1
    for number in range(1, _ROUNDS + 1):
        step = number * _GOLDEN
        if number % 2:
            left ^= _mix(right + step & _WORD) >> 32 - high_bits
        else:
            right ^= _mix(left + step & _WORD) >> 32 - low_bits
    return left << low_bits | right
