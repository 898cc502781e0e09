"""Randomising values, against drawing the random words that this takes from the same source."""

from collections.abc import Iterator

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.bench.timing import race, scaled
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE

USERS = 1_000_000
ROWS = 100_000
WORDS = 8, 4  # bytes that GRR takes of the source: one coin and one lie


def rows(scale: float) -> Iterator[BenchmarkRow]:
    """Yield values per second of the short reports, then the price of unary ones."""
    rng = SystemRng()
    for mechanism, words in (
        (GRR(1.0, 16), WORDS),
        (GRR(1.0, 1024), WORDS),
        (AffineResponse(1.0, 1024), (8, *WORDS)),
        (AffineResponse(1.0, 1 << 20), (8, *WORDS)),
    ):
        yield _short(mechanism, words, scaled(USERS, scale), rng)
    yield _unary(OUE(1.0, 1024), scaled(ROWS, scale), rng)


def values(users: int, size: int) -> Values:
    """Return uniform values: randomising takes as long whatever they are."""
    return np.random.default_rng([users, size]).integers(0, size, users)


def draw_blocks(mechanism: OUE, users: int, rng: Rng) -> None:
    """Draw the words of a unary report and nothing else, in the blocks in which it draws them."""
    for block in mechanism.blocks(np.arange(users)):
        rng.longs(len(block) * mechanism.size)
        rng.longs(len(block))


def _short(mechanism: Mechanism, words: tuple[int, ...], users: int, rng: Rng) -> BenchmarkRow:
    held = values(users, mechanism.size)
    ours, drawing = race(
        lambda: mechanism.privatize(held, rng),
        lambda: [np.frombuffer(rng.bytes(width * users)) for width in words],
    )
    name = f"{users:,} values, {mechanism.kind}, size {mechanism.size:,}"
    goal = Goal("figure", ">=", 5e6)
    return BenchmarkRow(
        "privatizing",
        name,
        users / ours.cpu,
        "values/s",
        "drawing the words",
        ours.cpu / drawing.cpu,
        goal,
    )


def _unary(mechanism: OUE, users: int, rng: Rng) -> BenchmarkRow:
    held = values(users, mechanism.size)
    ours, drawing = race(
        lambda: mechanism.privatize(held, rng),
        lambda: draw_blocks(mechanism, users, rng),
        repeats=3,
    )
    name = f"{users:,} values, {mechanism.kind}, size {mechanism.size:,}"
    goal = Goal("ratio", "<=", 3.0)
    return BenchmarkRow(
        "privatizing",
        name,
        users / ours.cpu,
        "values/s",
        "drawing the words",
        ours.cpu / drawing.cpu,
        goal,
    )
