"""One answer on a device: the report of one person, beside an array of one person.

The ledger's transaction, which is beside this on a device, is not part of it.
"""

from collections.abc import Iterator

import numpy as np

from sottovoce.core.rng import SystemRng
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.subset import SubsetSelection

VALUE = 7
# Each with the answers of one run, and the microseconds that one may take.
DEVICES: tuple[tuple[Mechanism, int, float], ...] = (
    (GRR(1.0, 1024), 20_000, 2.0),
    (OLH(1.0, 1024), 10_000, 4.0),
    (AffineResponse(1.0, 1024), 5_000, 10.0),
    (AffinePrefix(1.0, 1 << 160), 5_000, 20.0),
    (SubsetSelection(1.0, 1024), 200, 300.0),
)


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the microseconds of one answer for the mechanisms that devices use most."""
    for mechanism, answers, microseconds in DEVICES:
        yield _answered(mechanism, scaled(answers, scale), microseconds)


def _answered(mechanism: Mechanism, answers: int, microseconds: float) -> BenchmarkRow:
    rng = SystemRng()
    value = indices_of([VALUE], (mechanism.size - 1).bit_length())

    def alone() -> None:
        for _ in range(answers):
            mechanism.report(VALUE, rng)

    def as_array() -> None:
        for _ in range(max(1, answers // 10)):
            mechanism.pack(mechanism.privatize(np.asarray(value), rng))

    ours, array = race(alone, as_array)
    each = ours.cpu / answers
    each_array = array.cpu / max(1, answers // 10)
    name = f"one answer, {mechanism.kind}, 2^{(mechanism.size - 1).bit_length()} values"
    goal = Goal("figure", "<=", microseconds)
    return BenchmarkRow(
        "devices", name, 1e6 * each, "us", "an array of one", each / each_array, goal
    )
