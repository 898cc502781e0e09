"""How times grow: the slope of log time over log users or log size, by least squares.

A slope of one is linear growth.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sottovoce.core.rng import SystemRng
from sottovoce.lab.bench.affine import Job
from sottovoce.lab.bench.privatizing import values
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import Side, race, scaled
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.oue import OUE

USERS = (100_000, 300_000, 1_000_000, 3_000_000)
BITS = (10, 12, 14, 16, 18, 20)
WIDTHS = (1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14)
MANY = 1_000_000
FEW = 1024
LINEAR = Goal("figure", "<=", 1.1)


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the exponents of decoding and randomising in users and in size."""
    users = [scaled(count, scale) for count in USERS]
    many = scaled(MANY, scale)
    few = scaled(FEW, scale)
    yield _row(
        "decode affine, size 2^10, in users", users, lambda count: Job.drawn(count, 10, 2).whole
    )
    yield _row(
        "decode affine, size 2^20, in users", users, lambda count: Job.drawn(count, 20, 2).whole
    )
    yield _row(
        "privatize affine, size 2^10, in users",
        users,
        lambda count: _privatizing(_affine(10), count),
    )
    sizes = [1 << bits for bits in BITS]
    yield _row(
        f"decode affine, {many:,} users, in size",
        sizes,
        lambda size: Job.drawn(many, _bits(size), 2).whole,
    )
    yield _row(
        f"privatize affine, {many:,} users, in size",
        sizes,
        lambda size: _privatizing(_affine(_bits(size)), many),
    )
    yield _row(
        f"privatize oue, {few:,} users, in size",
        WIDTHS,
        lambda size: _privatizing(OUE(1.0, size), few),
    )


def exponent(points: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the slope of the logarithms.

    >>> round(exponent([1, 10, 100], [2.0, 20.0, 200.0]), 6)
    1.0
    """
    return float(np.polyfit(np.log(points), np.log(seconds), 1)[0])


def _row(name: str, points: Sequence[int], side: Callable[[int], Side]) -> BenchmarkRow:
    timings = race(*(side(point) for point in points), repeats=5)
    slope = exponent(points, [max(timing.cpu, 1e-9) for timing in timings])
    return BenchmarkRow(
        "growth", name, slope, "exponent", f"{min(points):,} to {max(points):,}", goal=LINEAR
    )


def _privatizing(mechanism: Mechanism, users: int) -> Side:
    held = values(users, mechanism.size)
    rng = SystemRng()
    return lambda: mechanism.privatize(held, rng)


def _affine(bits: int) -> AffineResponse:
    return AffineResponse(1.0, 1 << bits)


def _bits(size: int) -> int:
    return size.bit_length() - 1
