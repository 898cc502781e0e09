"""Searches for long values: two populations, searches of them by PEM, and how well they go.

Source: Wang 2021, chapter 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.arrays import Floats, Longs
from sottovoce.domains.bits import Bits
from sottovoce.errors import NoDataError
from sottovoce.lab.aggregate import draw_answer
from sottovoce.lab.baselines.pem import PrefixExtending
from sottovoce.lab.baselines.pem1 import pem1
from sottovoce.lab.populations.zipf import zipf
from sottovoce.lab.truth.metrics import f1
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.tasks.task import Task

USERS = 1_000_000
LONG = Bits(64)
TOP = 16
RUNS = 10  # as published


@cache
def geometric(users: int = USERS) -> dict[int, int]:
    """Return how many people hold each value; values are random codes.

    The r-th most frequent value has the share (1 - e^-.05) e^(-.05 (r - 1)).
    """
    below = [round(-users * np.expm1(-0.05 * rank)) for rank in range(400)] + [users]
    counts = [after - before for before, after in pairwise(below) if after > before]
    return dict(zip(random_codes(len(counts), LONG.bits), counts, strict=True))


@cache
def zipfian() -> dict[int, int]:
    """Return 27,000 values among 1.2 million people, in proportion to 1 / rank.

    They are random 32-bit codes.
    """
    counts = zipf(27_000, 1_200_000, exponent=1.0)
    return dict(zip(random_codes(len(counts), 32), counts.tolist(), strict=True))


def random_codes(count: int, bits: int, seed: int = 4) -> list[int]:
    """Return different random numbers of so many bits."""
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, 1 << bits, 2 * count, dtype=np.uint64)
    return list(dict.fromkeys(drawn.tolist()))[:count]


def most_frequent(holders: Mapping[int, int], top: int, domain: Bits = LONG) -> list[str]:
    """Return the labels of the most frequent values, in order."""
    ranked = sorted(holders, key=lambda value: -holders[value])[:top]
    return [domain.label(value) for value in ranked]


def people(holders: Mapping[int, int]) -> Longs:
    """Return one value per person."""
    return np.repeat(np.array(list(holders), np.uint64), list(holders.values()))


def published_pem(top: int = TOP, groups: int = 6, **settings: Any) -> PrefixExtending:
    """Return the published search of 64-bit values; its last group is one sixth of the users."""
    return PrefixExtending(LONG, top, groups=groups, **settings)


def one_bit_pem(top: int = TOP, **settings: Any) -> PrefixExtending:
    """Return the search that adds one bit with every group (PEM1)."""
    return pem1(LONG, top, **settings)


@cache
def task_of(plan: PrefixExtending, epsilon: float) -> Task:
    """Return the task of a search."""
    return Task("long values", plan, epsilon)


def search(
    plan: PrefixExtending, epsilon: float, holders: Mapping[int, int], seed: int
) -> dict[str, float]:
    """Return the labels and totals that a search finds, with drawn counts instead of reports.

    Nothing is found if no value is above the threshold.
    """
    try:
        answer: Any = draw_answer(task_of(plan, epsilon), holders, seed)
    except NoDataError:
        return {}
    return dict(zip(answer.labels, answer.estimate.totals.tolist(), strict=True))


@cache
def searches(
    plan: PrefixExtending, epsilon: float, runs: int = RUNS, seed: int = 0
) -> list[dict[str, float]]:
    """Return what repeated searches of the geometric population find."""
    return [search(plan, epsilon, geometric(), 1000 * seed + run) for run in range(runs)]


def f1_scores(
    plan: PrefixExtending, epsilon: float, top: int = TOP, runs: int = RUNS, seed: int = 0
) -> Floats:
    """Return F1 of repeated searches of the geometric population."""
    truth = most_frequent(geometric(), top)
    return np.array([f1(truth, list(values)) for values in searches(plan, epsilon, runs, seed)])


@dataclass(frozen=True)
class SingleGroupSearch:
    """A search for the ``top`` values by a single group, among all values of so many ``bits``.

    Values that somebody holds are drawn one by one.  Of the values that nobody holds, only the
    largest ``top`` estimates matter; the tail beyond the j-th of N is a sum of j exponential
    spacings, divided by N.  N is ``strangers``, or all values that nobody holds.
    """

    epsilon: float
    bits: int
    top: int
    strangers: int = 0

    def hits(self, holders: Mapping[int, int], seed: int) -> int:
        """Return how many of the most frequent values are found; ``holders`` count by value."""
        mechanism = AffinePrefix(self.epsilon, 1 << self.bits)
        generator = np.random.default_rng(seed)
        counts = np.sort(np.array(list(holders.values())))[::-1]
        users = counts.sum()
        supports = generator.binomial(counts, mechanism.p)
        supports = supports + generator.binomial(users - counts, mechanism.q)
        unheld = self.strangers or (1 << self.bits) - len(counts)
        tails = np.cumsum(generator.exponential(size=self.top)) / unheld
        largest = optional("scipy.stats", "server").binom.isf(tails, users, mechanism.q)
        best = np.argsort(-np.concatenate([supports, largest]), kind="stable")[: self.top]
        return int(np.count_nonzero(best < self.top))
