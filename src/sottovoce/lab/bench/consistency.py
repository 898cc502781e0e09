"""Post-processing a million cells against sorting them; Power and EMS in plain time."""

from collections.abc import Callable, Iterator

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.lab.experiments.numbers import shapes
from sottovoce.maths.em import em
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.postprocess.mle_apx import mle_apx
from sottovoce.postprocess.norm_cut import norm_cut
from sottovoce.postprocess.norm_sub import norm_sub
from sottovoce.postprocess.power import power

CELLS = 1_000_000
USERS = 10_000_000


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield the methods that sort beside a sort, then Power, then decoding a distribution."""
    cells = np.random.default_rng(2).normal(1e-6, 1e-3, scaled(CELLS, scale))
    yield _beside_sorting("norm-sub", lambda: norm_sub(cells), cells, Goal("ratio", "<=", 3))
    yield _beside_sorting("norm-cut", lambda: norm_cut(cells), cells)
    yield _beside_sorting("mle-apx", lambda: mle_apx(cells, 4.0, 0.5), cells)
    shares = np.random.default_rng(7).normal(1 / 1024, 0.0019, 1024)
    (ours,) = race(lambda: power(shares, 0.0019, 10**6))
    name = "power, 1,024 values of 1,000,000 users"
    yield BenchmarkRow("consistency", name, 1e3 * ours.cpu, "ms", goal=Goal("figure", "<", 100))
    yield _decoded(scaled(USERS, scale))


def _beside_sorting(
    name: str, work: Callable[[], object], cells: Floats, goal: Goal | None = None
) -> BenchmarkRow:
    ours, plain = race(work, lambda: np.sort(cells), repeats=15)
    return BenchmarkRow(
        "consistency",
        f"{name} of {len(cells):,} cells",
        1e3 * ours.cpu,
        "ms",
        "np.sort",
        ours.cpu / plain.cpu,
        goal,
    )


def _decoded(users: int) -> BenchmarkRow:
    wave = SquareWave(1.0, 1024)
    counts = np.random.default_rng(3).multinomial(
        users, wave.sliding.forward(shapes(1024)["bimodal"])
    )
    (ours,) = race(lambda: em(counts, wave.sliding, smooth=True))
    return BenchmarkRow(
        "consistency", f"EMS, 1,024 buckets, {users:,} reports", 1e3 * ours.cpu, "ms"
    )
