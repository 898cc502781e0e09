"""Clean rounds: honest people of many shapes, sizes and epsilons, and how often a test alarms.

Every mechanism that counts values is drawn, and every plan that is tested in another way.  Beside
the alarms it is examined whether a correction leaves alone what raises none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints, Values
from sottovoce.domains.bits import Bits
from sottovoce.domains.integers import Integers
from sottovoce.engine.defended import defended
from sottovoce.engine.memory import MemoryCollected
from sottovoce.integrity.examine import summarise, tested
from sottovoce.integrity.result import Integrity
from sottovoce.lab.populations import kosarak_clicks
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.maths.ragged import Baskets
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.plans.numbers.distribution import Distribution
from sottovoce.plans.numbers.mean import Mean
from sottovoce.plans.tables.table import Table
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task

EXPONENTS = (0.0, 0.8, 1.0, 1.1, 1.3, 1.5, 1.8)
SIZES = (16, 64, 256, 1024, 4096, 1 << 14, 1 << 17, 1 << 20)
USERS = (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
EPSILONS = (0.5, 1.0, 2.0, 3.0)
FEW_VALUES = ("least variance", "subset", "grr")  # drawn on the domains that they are used on:
SMALL_SIZES = (3, 4, 8, 16, 30, 50, 64, 80)
NARROW = ("distribution", "mean", "search", "marginals", "table", "sets")  # of at most so many:
MAX_NARROW = 1024
COSTLY = ("olh", "blh", "rmp", "oue", "sue", "the")  # whose cost grows with users times values:
MAX_COST = 2e8
DESIGNED_FOR = 1_000_000  # users of a joint table: fewer would choose other views
# The default of tasks and affine response, its choice of large domains, are drawn twice as often.
KINDS = ("affine", "affine", "least variance", *FEW_VALUES, *COSTLY, "hadamard", *NARROW)
SHAPES = ("clicks", "ages", "surnames", "two values", "steps")
_SCATTERED = 2_654_435_761  # odd, so that no two values become one


@dataclass(frozen=True)
class CleanRound:
    """One honest round."""

    shape: str
    kind: str
    size: int
    users: int
    epsilon: float
    seed: int


@dataclass(frozen=True)
class ExaminedRound:
    """What the tests say about an honest round, and whether the correction left it alone.

    ``unchanged`` means that the corrected answer is made from the very object that the raw one is
    made from, so that the two are the same bit for bit.
    """

    integrity: Integrity
    unchanged: bool


def rounds(count: int, first_seed: int, most_users: int = 1_000_000) -> Iterator[CleanRound]:
    """Yield rounds drawn from all shapes, sizes, mechanisms and epsilons.

    Large numbers of users are drawn more rarely.
    """
    for seed in range(first_seed, first_seed + count):
        generator = np.random.default_rng([seed, 2])
        users = [number for number in USERS if number <= most_users]
        weights = np.array([1 / number**0.35 for number in users])
        number = int(generator.choice(users, p=weights / weights.sum()))
        size = int(generator.choice(SIZES))
        kind = str(generator.choice(KINDS))
        if kind in FEW_VALUES:
            size = int(generator.choice(SMALL_SIZES))
        elif kind in NARROW:
            size = min(size, MAX_NARROW)
        elif kind in COSTLY:
            size = max(each for each in SIZES if each <= size and each * number <= MAX_COST)
        shapes = [f"zipf {exponent:g}" for exponent in EXPONENTS] + list(SHAPES)
        shape = str(generator.choice(shapes))
        yield CleanRound(shape, kind, size, number, float(generator.choice(EPSILONS)), seed)


def examined(clean: CleanRound) -> ExaminedRound:
    """Return what the tests and the correction make of an honest round."""
    generator = np.random.default_rng([clean.seed, 3])
    counts = generator.multinomial(clean.users, shares(clean.shape, clean.size))
    values = np.repeat(np.arange(clean.size), counts)
    task, indices = _asked(clean, values)
    batches = report_batches(task.opening, indices, SeededRng(clean.seed))
    collected = MemoryCollected(task).after(task.opening, batches)
    found = tested(task.plan, collected, 0)
    integrity = summarise(task.plan, collected, 0, found)
    return ExaminedRound(integrity, unchanged=defended(collected, found) is collected)


def _asked(clean: CleanRound, values: Ints) -> tuple[Task, Values]:
    """Return the task of a round, and what people hold as indices of its domain."""
    plan: Plan
    held: Any = values
    if clean.kind == "distribution":
        plan = Distribution(0, clean.size, clean.size)
    elif clean.kind == "mean":
        plan = Mean(0, clean.size)
    elif clean.kind == "search":
        plan = HeavyHitters(Bits(24), top=8)
        held = values * _SCATTERED % (1 << 24)
    elif clean.kind == "marginals":
        plan = Marginals({"a": range(4), "b": range(8), "c": range(3)}, users=DESIGNED_FOR)
        held = {"a": values % 4, "b": values // 4 % 8, "c": values // 32 % 3}
    elif clean.kind == "table":
        plan = Table({"a": range(clean.size), "b": range(5)})
        held = {"a": values, "b": values % 5}
    elif clean.kind == "sets":
        plan = TopItems(Integers(0, clean.size - 1), top=4)
        held = _baskets(values, clean.size)
    else:
        plan = Histogram(Integers(0, clean.size - 1), clean.kind)
    return Task("values", plan, clean.epsilon), plan.domain.indices(held)


def _baskets(values: Ints, size: int) -> Baskets:
    """Return sets of one to four items: the values, and some that often go with them."""
    baskets = [
        (values[person::4][:, np.newaxis] + np.arange(person + 1) ** 2) % size
        for person in range(4)
    ]
    sizes = np.repeat(np.arange(1, 5), [len(part) for part in baskets])
    return Baskets.of(sizes, np.concatenate([part.ravel() for part in baskets]))


def shares(shape: str, size: int) -> Floats:
    """Return the share of people who hold each value.

    Beside power laws there are five shapes after real data: clicks on pages (Kosarak), ages (a
    broad hump), surnames (a slow power law with a common head), two values that nearly everybody
    holds, and a step between a common half and a rare one.
    """
    ranks = np.arange(1, size + 1, dtype=np.float64)
    if shape.startswith("zipf"):
        weights = ranks ** -float(shape.split()[1])
    elif shape == "clicks":
        anchors = kosarak_clicks.ANCHORS
        logs = np.interp(np.log(ranks), np.log(list(anchors)), np.log(list(anchors.values())))
        weights = np.exp(logs)
    elif shape == "ages":
        position = ranks / size
        weights = position * np.exp(-((position - 0.35) ** 2) / 0.08)
    elif shape == "surnames":
        weights = (ranks + 5) ** -0.9
    elif shape == "two values":
        weights = np.full(size, 0.02 / size)
        weights[:2] = 0.6, 0.38
    else:
        weights = np.where(ranks <= size // 2, 9.0, 1.0)
    return np.asarray(weights / weights.sum())
