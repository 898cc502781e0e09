"""Decoding affine reports: all values through one Walsh-Hadamard transform, or chosen candidates.

A report with span S of its signed masks adds a sign at the 2^rank positions of S.  Let F be the sum
over all reports, the spectrum.  Then

    supports of point x = (transform of F at x) / 2^rank
    sum of a target over the points that a report supports
                        = (signed sum over S of the transformed target) / 2^rank

The whole spectrum is the choice up to 2^24 values or so; beyond, decode prefixes or candidates.

Source: docs/affine-response.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints, Longs, Values, Words
from sottovoce.errors import ParameterError
from sottovoce.kernels import affine_loops as loops
from sottovoce.kernels import pool, walsh
from sottovoce.kernels.affine_words import Batch
from sottovoce.maths import hashing

MAX_SPECTRUM_BITS = 28  # of a domain whose spectrum still fits in memory
_MAX_CACHED_BITS = 20  # of a permutation that is kept: at most 4 MiB each


@dataclass(frozen=True, eq=False)
class AffineReports:
    """The reports of affine response over 2^bits points in 2^rank buckets."""

    seeds: Longs
    buckets: Values
    bits: int
    rank: int

    def __post_init__(self) -> None:
        if self.bits < 2:
            raise ParameterError(f"`bits` must be at least 2, not {self.bits}")
        max_rank = min(self.bits - 1, hashing.MAX_RANK)
        if not 1 <= self.rank <= max_rank:
            raise ParameterError(f"`rank` must be from 1 to {max_rank}, not {self.rank}")
        if len(self.seeds) != len(self.buckets):
            raise ParameterError(
                f"`buckets` must have one entry per seed: {len(self.seeds)},"
                f" not {len(self.buckets)}"
            )
        object.__setattr__(self, "seeds", np.ascontiguousarray(self.seeds, np.uint64))
        object.__setattr__(self, "buckets", np.ascontiguousarray(self.buckets, np.uint16))

    def __len__(self) -> int:
        return len(self.seeds)

    def check_bits(self, max_bits: int) -> None:
        """Refuse reports over more points than a function can decode."""
        if self.bits > max_bits:
            raise ParameterError(f"`bits` must be at most {max_bits}, not {self.bits}")

    def batch(self, users: slice) -> Batch:
        """Return the reports of some users as the compiled loops take them."""
        return Batch(self.seeds[users], self.buckets[users], self.bits, self.rank)


@dataclass(frozen=True)
class PointLayout:
    """Where the points of values lie: permuted in groups of bits, or as they are."""

    bits: int
    groups: tuple[int, ...] = ()
    permuted: bool = True


# --- all values ----------------------------------------------------------------------------------


def spectrum(reports: AffineReports, threads: int | None = None) -> Ints:
    """Return the sum of all reports: 2^bits integers, the number of reports at position 0."""
    reports.check_bits(MAX_SPECTRUM_BITS)

    def part(users: slice) -> Any:
        signs = np.zeros(1 << reports.bits, np.int32)
        loops.scatter(reports.batch(users), signs)
        return signs

    total = _sum(pool.run(part, len(reports), threads))
    total[0] += len(reports)
    return total


def supports(spectrum: Ints, layout: PointLayout, rank: int, size: int) -> Ints:
    """Return how many reports support each value below ``size``, from their spectrum."""
    if layout.bits > MAX_SPECTRUM_BITS:
        raise ParameterError(f"`bits` must be at most {MAX_SPECTRUM_BITS}, not {layout.bits}")
    if spectrum.shape != (1 << layout.bits,):
        raise ParameterError(f"`spectrum` must have 2^{layout.bits} entries, not {spectrum.shape}")
    if not 1 <= size <= 1 << layout.bits:
        raise ParameterError(f"`size` must be from 1 to 2^{layout.bits}, not {size}")
    transformed = _transformed(np.ascontiguousarray(spectrum, np.int64))
    if not layout.permuted:
        return transformed[:size].astype(np.int64) >> rank
    counts = np.empty(size, np.int64)
    loops.read(transformed, permutation(layout.bits, size, layout.groups), rank, counts)
    return counts


def permutation(bits: int, size: int, groups: Sequence[int] = ()) -> Words:
    """Return ``hashing.permute`` of every value below ``size``."""
    if bits > MAX_SPECTRUM_BITS:
        raise ParameterError(f"`bits` must be at most {MAX_SPECTRUM_BITS}, not {bits}")
    widths = tuple(groups) or (bits,)
    hashing.check_groups(widths, bits)
    if bits <= _MAX_CACHED_BITS:
        return _cached_permutation(widths)[:size]
    return _permutation(widths)[:size]


def _permutation(widths: tuple[int, ...]) -> Words:
    table = np.empty(1 << sum(widths), np.uint32)
    loops.fill_permutation(np.array(widths, np.int64), table)
    table.flags.writeable = False
    return table


_cached_permutation = lru_cache(maxsize=64)(_permutation)


# --- targets -------------------------------------------------------------------------------------


def placed(coefficients: Floats, layout: PointLayout) -> Floats:
    """Return a target where the hash sees it; the padding gets the mean coefficient."""
    target = np.full(1 << layout.bits, coefficients.mean())
    if layout.permuted:
        table = permutation(layout.bits, len(coefficients), layout.groups)
        loops.place(np.ascontiguousarray(coefficients), table, target)
    else:
        target[: len(coefficients)] = coefficients
    return target


def placed_product(slow: Floats, fast: Floats, bits: int) -> Floats:
    """Return ``placed`` of all products of two factors, the second changing fastest."""
    target = np.empty(1 << bits)
    table = permutation(bits, len(slow) * len(fast))
    loops.place_product(slow, fast, table, float(slow.mean() * fast.mean()), target)
    return target


def placed_terms(slow: Floats, fast: Floats, bits: int) -> Floats:
    """Return the sum of ``placed_product`` of every row of two matrices of factors."""
    target = np.empty(1 << bits)
    table = permutation(bits, slow.shape[1] * fast.shape[1])
    mean = float(slow.mean(axis=1) @ fast.mean(axis=1))
    loops.place_terms(slow, fast, table, mean, target)
    return target


def scores(reports: AffineReports, transformed: Floats, threads: int | None = None) -> Floats:
    """Return each report's sum of a target over the values that it supports.

    ``transformed`` is the target, permuted and transformed.
    """
    reports.check_bits(MAX_SPECTRUM_BITS)
    table = np.ascontiguousarray(transformed, np.float64)
    if table.shape != (1 << reports.bits,):
        raise ParameterError(f"`transformed` must have 2^{reports.bits} entries, not {table.shape}")
    sums = np.empty(len(reports), np.float64)

    def part(users: slice) -> None:
        loops.gather(reports.batch(users), table, sums[users])

    pool.run(part, len(reports), threads)
    return sums / (1 << reports.rank)


def factor_scores(
    reports: AffineReports,
    factors: Sequence[Floats],
    widths: Sequence[int],
    threads: int | None = None,
) -> Floats:
    """Return ``scores`` of a target that is a product over groups of bits.

    Each group of ``widths`` bits has one transformed factor, the lowest bits first.
    """
    reports.check_bits(hashing.MAX_INTEGER_BITS)
    hashing.check_groups(widths, reports.bits)
    lengths = [len(factor) for factor in factors]
    if lengths != [1 << width for width in widths]:
        raise ParameterError("`factors` must have 2^width entries for each of `widths`")
    given = loops.Factors(
        np.concatenate([np.asarray(factor, np.float64) for factor in factors]),
        np.array([0, *np.cumsum(lengths)[:-1]], np.int64),
        np.array(widths, np.int64),
    )
    sums = np.empty(len(reports), np.float64)

    def part(users: slice) -> None:
        loops.gather_products(reports.batch(users), given, sums[users])

    pool.run(part, len(reports), threads)
    return sums / (1 << reports.rank)


def term_scores(
    reports: AffineReports,
    factors: Sequence[Floats],
    widths: Sequence[int],
    threads: int | None = None,
) -> Floats:
    """Return (reports, terms): ``factor_scores`` of several products in one pass.

    Each group of ``widths`` bits has one array (2^width, terms) of transformed factors.
    """
    reports.check_bits(hashing.MAX_INTEGER_BITS)
    hashing.check_groups(widths, reports.bits)
    terms = factors[0].shape[1]
    if [factor.shape for factor in factors] != [(1 << width, terms) for width in widths]:
        raise ParameterError("`factors` must have 2^width rows for each of `widths`")
    starts = np.cumsum([0, *(1 << width for width in widths)])[:-1]
    flat = np.concatenate([np.asarray(factor, np.float64).ravel() for factor in factors])
    given = loops.Factors(flat, starts.astype(np.int64), np.array(widths, np.int64))
    sums = np.empty((len(reports), terms), np.float64)

    def part(users: slice) -> None:
        loops.gather_terms(reports.batch(users), given, sums[users])

    pool.run(part, len(reports), threads)
    return sums / (1 << reports.rank)


# --- prefixes and candidates ---------------------------------------------------------------------


def block_supports(
    reports: AffineReports,
    prefixes: Sequence[int] | Longs,
    extension_bits: int,
    threads: int | None = None,
) -> Ints:
    """Return (prefixes, 2^extension_bits): the supports of every extension of every prefix.

    Points are not permuted.
    """
    bits = reports.bits
    numbers = [int(prefix) for prefix in prefixes]
    max_extension = min(bits, MAX_SPECTRUM_BITS)
    if not 0 <= extension_bits <= max_extension:
        raise ParameterError(
            f"`extension_bits` must be from 0 to {max_extension}, not {extension_bits}"
        )
    prefix_bits = bits - extension_bits
    if any(number >> prefix_bits for number in numbers):
        raise ParameterError(f"`prefixes` must have at most {prefix_bits} bits")
    scatter = _scatter_wide if bits > hashing.MAX_INTEGER_BITS else _scatter_narrow

    def part(users: slice) -> Ints:
        spectra = np.zeros((len(numbers), 1 << extension_bits), np.int64)
        scatter(reports.batch(users), numbers, extension_bits, spectra)
        return spectra

    total = _sum(pool.run(part, len(reports), threads))
    total[:, 0] += len(reports)
    walsh.transform(total)
    return np.right_shift(total, reports.rank, out=total)


def _scatter_narrow(batch: Batch, prefixes: list[int], extension: int, spectra: Ints) -> None:
    points = np.array(prefixes, np.uint64)
    loops.scatter_prefixes(batch, points, extension, spectra)


def _scatter_wide(batch: Batch, prefixes: list[int], extension: int, spectra: Ints) -> None:
    numbers = [prefix << extension for prefix in prefixes]
    points = hashing.padded(hashing.indices_of(numbers, batch.bits), batch.bits)
    loops.scatter_wide_prefixes(batch, points, extension, spectra)


def candidate_supports(reports: AffineReports, points: Values, threads: int | None = None) -> Ints:
    """Return how many reports support each point; a task that permutes has permuted the points."""
    count = _count_wide if reports.bits > hashing.MAX_INTEGER_BITS else _count_narrow

    def part(users: slice) -> Ints:
        counts = np.zeros(len(points), np.int64)
        count(reports.batch(users), points, counts)
        return counts

    return _sum(pool.run(part, len(reports), threads))


def _count_narrow(batch: Batch, points: Values, counts: Ints) -> None:
    loops.count_points(batch, np.ascontiguousarray(points, np.uint64), counts)


def _count_wide(batch: Batch, points: Values, counts: Ints) -> None:
    loops.count_wide_points(batch, hashing.padded(points, batch.bits), counts)


# --- small things --------------------------------------------------------------------------------


def _transformed(spectrum: Ints) -> Any:
    """Return the transform, in 32 bits where no step of it can overflow them and else in 64."""
    short = np.empty(len(spectrum), np.int32)
    fits = loops.narrow(spectrum, short) < 1 << 31
    return walsh.transform(short if fits else spectrum.copy())


def _sum(parts: list[Any]) -> Ints:
    total = parts[0].astype(np.int64)
    for part in parts[1:]:
        total += part
    return total
