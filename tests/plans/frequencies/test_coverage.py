"""Ninety-five per cent intervals cover ninety-five per cent: exact, from the law of the supports of
a collection.

Whether an interval holds the truth depends on one number, the weighted sum of all supports.  Its
law is the convolution of the laws of single reports, which are known: no collection has to be
drawn.  The same law is compared with drawn collections; `make papers` repeats the affine cases with
twelve thousand collections of genuine reports each.
"""

from functools import cache, cached_property
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom

from sottovoce.lab.aggregate import collections
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.maths.normal import quantile
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE

USERS = 4_000
REACH = quantile(0.95)
MECHANISMS = [
    GRR(1.0, 8),
    GRR(3.0, 20),
    OUE(1.0, 32),
    OUE(3.0, 32),
    AffineResponse(1.0, 64),
    AffineResponse(1.0, 65),
    AffineResponse(3.0, 100),
]


def name(mechanism):
    return f"{mechanism.kind}-{mechanism.epsilon:g}-{mechanism.size}"


def population(size):
    """Zipf with the last value held by nobody."""
    weights = 1 / np.arange(1, size) ** 1.1
    truth = np.append((weights / weights.sum() * USERS).astype(np.int64), 0)
    truth[0] += USERS - truth.sum()
    return truth


def targets(size):
    """A common, a rare and an unheld value, an aligned and an unaligned range."""
    cells = [np.array([cell]) for cell in (0, size // 2, size - 1)]
    return [*cells, np.arange(size // 2), np.arange(size // 5, size - size // 7)]


def weights(mechanism, chosen):
    """What the support of each value adds to the sum: whole numbers in proportion to the
    coefficients of the total.

    In a padded domain the total of a range takes off the mean coefficient, so that everybody
    together is exact.
    """
    coefficients = np.zeros(mechanism.size, np.int64)
    coefficients[chosen] = 1
    if len(chosen) == 1 or getattr(mechanism, "cells", mechanism.size) == mechanism.size:
        return coefficients
    centred = mechanism.size * coefficients - len(chosen)
    return centred // np.gcd.reduce(centred)


@cache
def subspaces(bits, rank):
    """(subspaces, points): the bucket of every point, for every space of ``rank`` independent
    masks.
    """
    bases = [basis for pivots in combinations(range(bits), rank) for basis in echelons(pivots)]
    parity = np.array(
        [
            [(mask & point).bit_count() & 1 for point in range(1 << bits)]
            for mask in range(1 << bits)
        ]
    )
    return sum(parity[rows] << place for place, rows in enumerate(np.array(bases).T))


def echelons(pivots):
    """Every basis in reduced echelon form with these leading bits: one for each space."""
    rows = [echelon_rows(pivot, pivots) for pivot in pivots]
    return product(*rows)


def echelon_rows(pivot, pivots):
    """Every mask with this leading bit and no other leading bit."""
    free = [1 << bit for bit in range(pivot) if bit not in pivots]
    return [
        (1 << pivot) + sum(chosen)
        for length in range(len(free) + 1)
        for chosen in combinations(free, length)
    ]


def report_law(mechanism, weighted, modulus):
    """(values, modulus): the chance of every sum, modulo ``modulus``, of one report of each
    value.
    """
    if isinstance(mechanism, GRR):
        return direct_law(mechanism, weighted, modulus)
    if isinstance(mechanism, OUE):
        return unary_law(mechanism, weighted, modulus)
    return affine_law(mechanism, weighted, modulus)


def direct_law(mechanism, weighted, modulus):
    law = np.zeros((mechanism.size, modulus))
    for value in range(mechanism.size):
        np.add.at(law[value], weighted % modulus, mechanism.q)
        law[value, weighted[value] % modulus] += mechanism.p - mechanism.q
    return law


def unary_law(mechanism, weighted, modulus):
    """Supports are independent, and every weight is 0 or 1."""
    law, width = np.zeros((mechanism.size, modulus)), int(weighted.sum())
    outside = binom.pmf(np.arange(width + 1), width, mechanism.q)
    rest = binom.pmf(np.arange(width), width - 1, mechanism.q)
    inside = np.convolve(rest, [1 - mechanism.p, mechanism.p])
    for value in range(mechanism.size):
        law[value, : width + 1] = inside if weighted[value] else outside
    return law


def affine_law(mechanism, weighted, modulus):
    """Every space of masks is equally likely; the bucket is the value's own or any other."""
    buckets = subspaces(mechanism.bits, mechanism.rank)
    points = mechanism.points(np.arange(mechanism.size))
    padded = np.zeros(mechanism.cells)
    padded[points] = weighted
    sums = np.stack([(buckets == bucket) @ padded for bucket in range(mechanism.buckets)], axis=1)
    sums = np.rint(sums).astype(np.int64)
    anything = np.bincount(sums.ravel() % modulus, minlength=modulus) / len(buckets)
    lie, law = (1 - mechanism.p) / (mechanism.buckets - 1), np.empty((mechanism.size, modulus))
    for value, point in enumerate(points):
        own = np.take_along_axis(sums, buckets[:, point, None], axis=1)[:, 0]
        law[value] = lie * anything
        law[value] += (
            (mechanism.p - lie) * np.bincount(own % modulus, minlength=modulus) / len(buckets)
        )
    return law


class Sum:
    """The law of the weighted sum of all supports of a collection."""

    def __init__(self, mechanism, truth, chosen):
        self.mechanism, self.truth, self.chosen = mechanism, truth, chosen
        self.weighted = weights(mechanism, chosen)
        held, others = truth @ self.weighted, USERS * self.weighted.sum() - truth @ self.weighted
        self.mean = mechanism.p * held + mechanism.q * others
        scale = self.weighted.max() - self.weighted.min()
        self.sigma = (mechanism.p - mechanism.q) * scale * self.exact_error()

    def exact_error(self):
        """The standard error of the total, by the noise law at the truth."""
        coefficients = np.zeros(self.mechanism.size)
        coefficients[self.chosen] = 1
        if len(self.chosen) == 1:
            return sqrt(
                self.mechanism.noise.variances(self.truth.astype(float), USERS)[self.chosen[0]]
            )
        return sqrt(self.mechanism.noise.linear(coefficients, self.truth.astype(float), USERS))

    @cached_property
    def chances(self):
        """The sums within eight standard errors of the mean, and the chance of each."""
        modulus = 1 << int(16 * self.sigma).bit_length()
        transformed = np.ones(modulus // 2 + 1, complex)
        for law, holders in zip(
            report_law(self.mechanism, self.weighted, modulus), self.truth, strict=True
        ):
            if holders:
                transformed *= np.fft.rfft(law) ** holders
        start = round(self.mean) - modulus // 2
        return start + np.arange(modulus), np.roll(
            np.fft.irfft(transformed, modulus), -start % modulus
        )

    def estimated(self, weighted_sum):
        """The total and its stated error where the supports have this weighted sum, however it is
        spread.
        """
        mechanism = self.mechanism
        expected = mechanism.p * self.truth + mechanism.q * (USERS - self.truth)
        centred = (
            self.weighted - self.weighted.mean()
        )  # as many supports as before, in other places
        counts = expected + (weighted_sum - self.mean) * centred / (self.weighted @ centred)
        estimate = mechanism.estimate_counts(counts, USERS)
        if len(self.chosen) == 1:
            return estimate.totals[self.chosen[0]], estimate.errors[self.chosen[0]]
        total = estimate.sum(self.chosen)
        return total.total, total.error

    def bound(self, holds, direction):
        """The last sum in a direction whose interval still holds the truth: the stated error grows
        with the total.
        """
        inside, outside = self.mean, self.mean + direction * 20 * self.sigma
        assert holds(*self.estimated(inside))
        assert not holds(*self.estimated(outside))
        while abs(outside - inside) > 1e-6 * self.sigma:
            middle = (inside + outside) / 2
            inside, outside = (
                (middle, outside) if holds(*self.estimated(middle)) else (inside, middle)
            )
        return inside

    def covered(self, reach=REACH, error=None):
        """The chance that the interval holds the truth; ``error`` replaces the stated standard
        error.
        """
        true = self.truth[self.chosen].sum()

        def holds(total, stated):
            return abs(total - true) <= reach * (error or stated)

        sums, chances = self.chances
        return chances[(sums >= self.bound(holds, -1)) & (sums <= self.bound(holds, 1))].sum()


@cache
def laws(mechanism):
    truth = population(mechanism.size)
    return [Sum(mechanism, truth, chosen) for chosen in targets(mechanism.size)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
def test_intervals_cover_as_often_as_they_say(mechanism):
    """Between 94 and 96 %: counts are whole numbers, and a normal law is not quite theirs."""
    covered = np.array([law.covered() for law in laws(mechanism)])
    print("covered", covered, "stated 0.95")
    assert ((covered >= 0.94) & (covered <= 0.96)).all()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
def test_the_law_is_a_law_with_the_stated_mean_and_variance(mechanism):
    for law in laws(mechanism):
        sums, chances = law.chances
        assert chances.min() > -1e-12
        assert chances.sum() == pytest.approx(1, abs=1e-9)
        assert chances @ sums == pytest.approx(law.mean, abs=1e-6 * law.sigma)
        assert chances @ (sums - law.mean) ** 2 == pytest.approx(law.sigma**2, rel=1e-6)


COLLECTIONS = 400


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
def test_collections_have_this_law(mechanism):
    """Mean and variance of four hundred drawn collections, of affine response by genuine reports:
    five sigma.
    """
    counts = np.array(list(collections(mechanism, population(mechanism.size), COLLECTIONS, seed=5)))
    for law in laws(mechanism):
        scores = (counts @ law.weighted - law.mean) / law.sigma
        print(
            law.chosen[[0, -1]],
            "mean",
            scores.mean(),
            "expected 0; variance",
            scores.var(),
            "expected 1",
        )
        assert abs(scores.mean()) < FIVE_SIGMA / sqrt(COLLECTIONS)
        assert abs(scores.var() - 1) < FIVE_SIGMA * sqrt(2 / COLLECTIONS)


def test_collections_with_other_chances_are_caught():
    """A broken twin: reports of epsilon 1.1, read as those of epsilon 1."""
    mechanism = AffineResponse(1.0, 65)
    counts = np.array(
        list(collections(AffineResponse(1.1, 65), population(65), COLLECTIONS, seed=6))
    )
    law = laws(mechanism)[0]
    assert abs((counts @ law.weighted - law.mean).mean() / law.sigma) > FIVE_SIGMA / sqrt(
        COLLECTIONS
    )


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
def test_intervals_a_tenth_too_narrow_are_caught(mechanism):
    covered = np.array([law.covered(reach=0.9 * REACH) for law in laws(mechanism)])
    assert (covered < 0.94).all(), covered


def test_ranges_without_covariance_are_caught():
    """Adding the variances of cells, as if hashed reports were independent, covers too much of a
    large range.
    """
    mechanism, chosen = AffineResponse(1.0, 64), np.arange(58)
    truth = population(64)
    added = sqrt(mechanism.noise.variances(truth.astype(float), USERS)[chosen].sum())
    assert Sum(mechanism, truth, chosen).covered(error=added) > 0.99
