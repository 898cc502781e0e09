"""What the experiments on long values share: two populations, searches of them, and how well they go."""

from functools import cache
from itertools import pairwise

import numpy as np
from scipy.stats import binom

from papers.experiments import zipf
from sottovoce.domains.bits import Bits
from sottovoce.errors import NoDataError
from sottovoce.lab.aggregate import drawn
from sottovoce.lab.truth.metrics import f1
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters, pem1
from sottovoce.tasks.task import Task

USERS = 1_000_000
LONG = Bits(64)
TOP = 16
RUNS = 10  # as published


@cache
def geometric(users=USERS):
    """How many hold each value: the r-th most frequent has the share (1 - e^-.05) e^(-.05 (r - 1)); random codes."""
    below = [round(-users * np.expm1(-0.05 * rank)) for rank in range(400)] + [users]
    counts = [after - before for before, after in pairwise(below) if after > before]
    return dict(zip(codes(len(counts), LONG.bits), counts, strict=True))


@cache
def zipfian():
    """27 000 values among 1.2 million people, the r-th most frequent in proportion to 1 / r; random 32-bit codes."""
    counts = zipf(27_000, 1_200_000, exponent=1.0)
    return dict(zip(codes(len(counts), 32), counts.tolist(), strict=True))


def codes(count, bits, seed=4):
    """Different random numbers of so many bits."""
    random = np.random.default_rng(seed)
    return list({int(code): None for code in random.integers(0, 1 << bits, 2 * count, dtype=np.uint64)})[:count]


def most_frequent(held, top, domain=LONG):
    """The names of the most frequent values, in order."""
    return [domain.label(value) for value in sorted(held, key=lambda value: -held[value])[:top]]


def people(held):
    """One value per person."""
    return np.repeat(np.array(list(held), np.uint64), list(held.values()))


def pem(top=TOP, groups=6, **settings):
    """The published search of 64-bit values: its last group is one sixth of the users."""
    return HeavyHitters(LONG, top, groups=groups, **settings)


def one_bit(top=TOP, **settings):
    return pem1(LONG, top, **settings)


@cache
def asking(plan, epsilon):
    return Task("long values", plan, epsilon)


def found(plan, epsilon, held, seed):
    """The labels and totals that a search finds without genuine reports; none where no value is above a threshold."""
    try:
        answer = drawn(asking(plan, epsilon), held, seed)
    except NoDataError:
        return {}
    return dict(zip(answer.labels, answer.estimate.totals.tolist(), strict=True))


@cache
def searches(plan, epsilon, runs=RUNS, seed=0):
    """What repeated searches of the geometric population find."""
    return [found(plan, epsilon, geometric(), 1000 * seed + run) for run in range(runs)]


def f1_scores(plan, epsilon, top=TOP, runs=RUNS, seed=0):
    """F1 of repeated searches of the geometric population."""
    truth = most_frequent(geometric(), top)
    return np.array([f1(truth, list(values)) for values in searches(plan, epsilon, runs, seed)])


def found_among_all(epsilon, held, top, bits, seed, strangers=0):
    """How many of the most frequent values a single group finds among all values of so many bits.

    Those that somebody holds are drawn one by one; of the estimates that nobody stands behind only the largest ``top``
    matter, and the tail beyond the j-th of N is a sum of j exponential spacings, divided by N (``strangers``).
    """
    mechanism, random = AffinePrefix(epsilon, 1 << bits), np.random.default_rng(seed)
    counts = np.sort(np.array(list(held.values())))[::-1]
    users = counts.sum()
    supports = random.binomial(counts, mechanism.p) + random.binomial(users - counts, mechanism.q)
    tails = np.cumsum(random.exponential(size=top)) / (strangers or (1 << bits) - len(counts))
    largest = binom.isf(tails, users, mechanism.q)
    kept = np.argsort(-np.concatenate([supports, largest]), kind="stable")[:top]
    return np.count_nonzero(kept < top)
