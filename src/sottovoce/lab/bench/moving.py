"""Merging tallies against adding arrays; packing reports against copying their bytes."""

from collections.abc import Iterator

import numpy as np

from sottovoce.core.tally import Tally
from sottovoce.lab.bench.privatizing import values
from sottovoce.lab.bench.row import BenchmarkRow
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE

USERS = 1_000_000
ROWS = 100_000


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield merging, then both directions of packing for each shape of report."""
    yield _merged(1 << 20)
    for mechanism in (GRR(1.0, 1024), AffineResponse(1.0, 1024), OLH(1.0, 1024)):
        yield from _packed(mechanism, scaled(USERS, scale))
    yield from _packed(OUE(1.0, 1024), scaled(ROWS, scale))


def _merged(size: int) -> BenchmarkRow:
    first, second = (Tally("bench", size, {"spectrum": np.full(size, fill)}) for fill in (1, 2))
    ours, plain = race(
        lambda: first + second, lambda: np.add(first["spectrum"], second["spectrum"]), repeats=25
    )
    name = f"merge two tallies of {size:,} integers"
    return BenchmarkRow("moving", name, 1e3 * ours.cpu, "ms", "np.add", ours.cpu / plain.cpu)


def _packed(mechanism: Mechanism, users: int) -> Iterator[BenchmarkRow]:
    reports = mechanism.privatize(values(users, mechanism.size), SeededRng(users))
    data = mechanism.pack(reports)
    packing, unpacking, copy = race(
        lambda: mechanism.pack(reports), lambda: mechanism.unpack(data), lambda: bytearray(data)
    )
    for verb, ours in (("pack", packing), ("unpack", unpacking)):
        name = f"{verb} {users:,} reports, {mechanism.kind}, {mechanism.width} bytes each"
        yield BenchmarkRow(
            "moving",
            name,
            1e9 * ours.cpu / users,
            "ns/report",
            "copy of the bytes",
            ours.cpu / copy.cpu,
        )
