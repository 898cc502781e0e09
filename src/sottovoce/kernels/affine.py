"""Decoding affine reports: every value at once through one Walsh-Hadamard transform, or any list of candidates.

A report adds a sign at the ``2^rank`` positions its masks span; the transform of the sum of all reports counts
how many of them support each point.  The same look-ups against a transformed target score a report.  The whole
spectrum is the choice up to 2^24 values or so, prefixes and candidates beyond.

Source: docs/affine-response.md.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints, Longs, Values, Words
from sottovoce.errors import ParameterError
from sottovoce.kernels import affine_loops as loops
from sottovoce.kernels import pool, walsh
from sottovoce.maths import hashing

LARGEST = 28  # bits of a domain whose spectrum still fits in memory
_WIDE_BLOCK = 1 << 12
_REMEMBERED_BITS = 20  # of a permutation: at most 4 MiB each


def spectrum(seeds: Longs, buckets: Values, bits: int, rank: int, threads: int | None = None) -> Ints:
    """The sum of all reports: integers that add, ``2^bits`` of them, the number of reports at position 0."""
    seeds, buckets = _reports(seeds, buckets, bits, rank, LARGEST)

    def part(users: slice) -> Any:
        signs = np.zeros(1 << bits, np.int32)
        loops.scatter(seeds[users], buckets[users], bits, rank, signs)
        return signs

    total = _sum(pool.run(part, len(seeds), threads))
    total[0] += len(seeds)
    return total


def supports(
    spectrum: Ints, bits: int, rank: int, size: int, groups: Sequence[int] = (), *, permuted: bool = True
) -> Ints:
    """How many reports support each value below ``size``, read from their spectrum."""
    if bits > LARGEST or spectrum.shape != (1 << bits,) or not 1 <= size <= 1 << bits:
        raise ParameterError(f"a spectrum has 2^bits entries, bits <= {LARGEST}, and size is no more than that")
    transformed = _transformed(np.ascontiguousarray(spectrum, np.int64))
    if not permuted:
        return transformed[:size].astype(np.int64) >> rank
    counts = np.empty(size, np.int64)
    loops.read(transformed, permutation(bits, size, groups), rank, counts)
    return counts


def permutation(bits: int, size: int, groups: Sequence[int] = ()) -> Words:
    """``hashing.permute`` of every value below ``size``, for domains that have a spectrum."""
    widths = tuple(groups) or (bits,)
    if bits > LARGEST or sum(widths) != bits or min(widths) < 1:
        raise ParameterError(f"groups must be widths that add up to bits, at most {LARGEST}, not {tuple(groups)}")
    return (_remembered if bits <= _REMEMBERED_BITS else _permuted)(widths)[:size]


def _permuted(widths: tuple[int, ...]) -> Words:
    table = np.empty(1 << sum(widths), np.uint32)
    loops.fill_permutation(np.array(widths, np.int64), table)
    table.flags.writeable = False
    return table


_remembered = lru_cache(maxsize=64)(_permuted)


def placed(coefficients: Floats, bits: int, groups: Sequence[int] = (), *, permuted: bool = True) -> Floats:
    """A target where the hash sees it: one coefficient for each value, and their mean for the padding nobody holds."""
    target = np.full(1 << bits, coefficients.mean())
    if permuted:
        loops.place(np.ascontiguousarray(coefficients), permutation(bits, len(coefficients), groups), target)
    else:
        target[: len(coefficients)] = coefficients
    return target


def placed_product(slow: Floats, fast: Floats, bits: int) -> Floats:
    """``placed`` of all products of two factors, the second changing fastest, without making them beforehand."""
    target = np.empty(1 << bits)
    table = permutation(bits, len(slow) * len(fast))
    loops.place_product(slow, fast, table, float(slow.mean() * fast.mean()), target)
    return target


def scores(
    seeds: Longs, buckets: Values, transformed: Floats, bits: int, rank: int, threads: int | None = None
) -> Floats:
    """Each report's sum of a target over the values it supports; the target is given permuted and transformed."""
    seeds, buckets = _reports(seeds, buckets, bits, rank, LARGEST)
    table = np.ascontiguousarray(transformed, np.float64)
    if table.shape != (1 << bits,):
        raise ParameterError(f"a transformed target has 2^bits entries, not {table.shape} for {bits} bits")
    sums = np.empty(len(seeds), np.float64)

    def part(users: slice) -> None:
        loops.gather(seeds[users], buckets[users], bits, rank, table, sums[users])

    pool.run(part, len(seeds), threads)
    return sums / (1 << rank)


def factor_scores(
    seeds: Longs,
    buckets: Values,
    factors: Sequence[Floats],
    widths: Sequence[int],
    bits: int,
    rank: int,
    threads: int | None = None,
) -> Floats:
    """``scores`` of a target that is a product over groups of bits, given one transformed factor for each group."""
    seeds, buckets = _reports(seeds, buckets, bits, rank, hashing.LONGEST)
    if sum(widths) != bits or [len(factor) for factor in factors] != [1 << width for width in widths]:
        raise ParameterError(f"each group of bits needs a factor of 2^width entries, widths adding up to {bits}")
    flat = np.concatenate([np.asarray(factor, np.float64) for factor in factors])
    starts = np.array([0, *np.cumsum([len(factor) for factor in factors])[:-1]], np.int64)
    wide, sums = np.array(widths, np.int64), np.empty(len(seeds), np.float64)

    def part(users: slice) -> None:
        loops.gather_products(seeds[users], buckets[users], bits, rank, flat, starts, wide, sums[users])

    pool.run(part, len(seeds), threads)
    return sums / (1 << rank)


def block_supports(
    seeds: Longs,
    buckets: Values,
    prefixes: Sequence[int] | Longs,
    extension_bits: int,
    bits: int,
    rank: int,
    threads: int | None = None,
) -> Ints:
    """The ``(prefixes, 2^extension_bits)`` supports of every extension of every prefix, without a permutation."""
    seeds, buckets = _reports(seeds, buckets, bits, rank, max(bits, hashing.LONGEST))
    numbers = [int(prefix) for prefix in prefixes]
    if not 0 <= extension_bits <= min(bits, LARGEST) or any(one >> (bits - extension_bits) for one in numbers):
        raise ParameterError(f"prefixes have bits - extension_bits bits, here {bits} - {extension_bits}")
    wide = bits > hashing.LONGEST
    points = hashing.indices_of([one << extension_bits * wide for one in numbers], bits)
    scatter = _scatter_wide if wide else _scatter_narrow

    def part(users: slice) -> Ints:
        spectra = np.zeros((len(numbers), 1 << extension_bits), np.int64)
        scatter(seeds[users], buckets[users], bits, rank, points, extension_bits, spectra)
        return spectra

    total = _sum(pool.run(part, len(seeds), threads))
    total[:, 0] += len(seeds)
    walsh.transform(total)
    return np.right_shift(total, rank, out=total)


def _scatter_narrow(
    seeds: Longs, buckets: Values, bits: int, rank: int, prefixes: Values, extension: int, spectra: Ints
) -> None:
    loops.scatter_prefixes(seeds, buckets, bits, rank, prefixes.astype(np.uint64), extension, spectra)


def _scatter_wide(
    seeds: Longs, buckets: Values, bits: int, rank: int, points: Values, extension: int, spectra: Ints
) -> None:
    points = hashing.padded(points, bits)
    for start in range(0, len(seeds), _WIDE_BLOCK):
        block = slice(start, start + _WIDE_BLOCK)
        masks, offsets = hashing.masks(seeds[block], bits, rank)
        loops.scatter_wide_prefixes(masks, buckets[block] ^ offsets, points, extension, spectra)


def candidate_supports(
    seeds: Longs, buckets: Values, points: Values, bits: int, rank: int, threads: int | None = None
) -> Ints:
    """How many reports support each of the points, already permuted where the task permutes."""
    if bits > hashing.LONGEST:
        return _wide_supports(seeds, buckets, hashing.padded(points, bits), bits, rank, threads)
    seeds, buckets = _reports(seeds, buckets, bits, rank, hashing.LONGEST)
    points = np.ascontiguousarray(points, np.uint64)

    def part(users: slice) -> Ints:
        counts = np.zeros(len(points), np.int64)
        loops.count_points(seeds[users], buckets[users], bits, rank, points, counts)
        return counts

    return _sum(pool.run(part, len(seeds), threads))


def _wide_supports(seeds: Longs, buckets: Values, points: Words, bits: int, rank: int, threads: int | None) -> Ints:
    seeds, buckets = _reports(seeds, buckets, bits, rank, bits)

    def part(users: slice) -> Ints:
        counts = np.zeros(len(points), np.int64)
        for start in range(users.start, users.stop, _WIDE_BLOCK):
            block = slice(start, min(start + _WIDE_BLOCK, users.stop))
            masks, offsets = hashing.masks(seeds[block], bits, rank)
            loops.count_wide_points(masks, buckets[block] ^ offsets, points, counts)
        return counts

    return _sum(pool.run(part, len(seeds), threads))


def _transformed(spectrum: Ints) -> Any:
    """The transform in 32 bits where no step of it can overflow them, else in 64."""
    short = np.empty(len(spectrum), np.int32)
    fits = loops.narrow(spectrum, short) < 1 << 31
    return walsh.transform(short if fits else spectrum.copy())


def _sum(parts: list[Any]) -> Ints:
    total = parts[0].astype(np.int64)
    for part in parts[1:]:
        total += part
    return total


def _reports(seeds: Longs, buckets: Values, bits: int, rank: int, most: int) -> tuple[Longs, Values]:
    """The reports as the loops take them; the settings checked once."""
    if not 2 <= bits <= most or not 1 <= rank <= min(bits - 1, hashing.MAX_RANK) or len(seeds) != len(buckets):
        raise ParameterError(f"bits must lie in 2..{most} and rank below it, with one bucket for each seed")
    return np.ascontiguousarray(seeds, np.uint64), np.ascontiguousarray(buckets, np.uint16)
