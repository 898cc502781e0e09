"""Bands that nobody holds are significant as rarely as promised, by enumeration of all reports."""

from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binom, norm

from sottovoce.answers.answer import Answer
from sottovoce.answers.summary import bands
from sottovoce.core.empty_band import IndependentSupports, UniformSets
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import JointNoise
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.hadamard import HadamardResponse
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.subset import SubsetSelection

EXACT = [
    GRR(1.0, 12),
    GRR(5.0, 12),
    SubsetSelection(1.0, 8, 3),
    SubsetSelection(4.0, 8, 2),
    OUE(1.0, 6),
    OUE(5.0, 6),
]
BOUNDED = [AffineResponse(1.0, 7, 2), AffineResponse(5.0, 8, 4), HadamardResponse(2.0, 7)]
TAIL = 0.05 / 4
BAND = np.array([1, 2, 3])


def named(mechanism):
    return f"{mechanism.kind}-{mechanism.epsilon:g}"


def affine_subspaces(bits, dimensions):
    """Return the indicator of every affine subspace of some dimensions."""
    points = range(1 << bits)
    found = set()
    for basis in permutations(points, dimensions):
        span = {0}
        for vector in basis:
            span |= {point ^ vector for point in span}
        if len(span) == 1 << dimensions:
            found |= {frozenset(point ^ shift for point in span) for shift in points}
    return np.array([[point in each for point in points] for each in found])


def reports_of(mechanism, held):
    """Return what every report supports, and its probability under a value."""
    if isinstance(mechanism, AffineResponse):
        # Seeds are far too many to list.  The bound uses no more than how often reports support
        # two values together, and uniform subspaces do so as often as real reports.
        supports = affine_subspaces(mechanism.bits, mechanism.bits - mechanism.rank)
        own = supports[:, held]
        chances = np.where(own, mechanism.p / own.sum(), (1 - mechanism.p) / (~own).sum())
        return supports[:, : mechanism.size], chances
    reports = mechanism.outcomes()
    chances = mechanism.likelihood(reports)[:, held]
    return mechanism.support(reports, np.arange(mechanism.size)), chances


def law_of_total(mechanism, held, users, noise):
    """Return every total of the band and its probability, if all users hold one value."""
    supports, chances = reports_of(mechanism, held)
    votes = (supports - mechanism.q) / (mechanism.p - mechanism.q)
    band = np.isin(np.arange(mechanism.size), BAND).astype(float)
    one = defaultdict(float)
    for chance, row in zip(chances.tolist(), votes, strict=True):
        one[round(noise.total(band, row, 1), 9)] += chance
    law = {0.0: 1.0}
    for _ in range(users):
        following = defaultdict(float)
        for total, chance in law.items():
            for score, own in one.items():
                following[round(total + score, 6)] += chance * own
        law = following
    return law


def chance_to_reach(bound, law):
    return sum(chance for total, chance in law.items() if total >= bound - 1e-5)


def normal_bound(noise, size, users):
    """The broken twin: the normal law with the variance of an empty band."""
    band = np.isin(np.arange(size), BAND).astype(float)
    votes = np.zeros(size)
    votes[0] = users
    return norm.isf(TAIL) * np.sqrt(noise.linear(band, votes, users))


@pytest.mark.parametrize("users", [1, 4, 12])
@pytest.mark.parametrize("mechanism", EXACT + BOUNDED, ids=named)
@pytest.mark.parametrize("listed", [False, True], ids=["complete", "listed"])
def test_an_empty_band_is_as_rarely_significant_as_promised(mechanism, users, listed):
    noise = mechanism.noise.among() if listed else mechanism.noise
    votes = np.zeros(mechanism.size)
    bound = noise.unheld_sum(BAND, votes, users, TAIL)
    for held in (0, mechanism.size - 1):
        law = law_of_total(mechanism, held, users, noise)
        assert sum(law.values()) == pytest.approx(1.0)
        assert chance_to_reach(bound, law) <= TAIL


@pytest.mark.parametrize("mechanism", EXACT, ids=named)
def test_the_exact_bound_cannot_be_lowered(mechanism):
    """One support less would be reached too often."""
    noise, users = mechanism.noise, 12
    gap = mechanism.p - mechanism.q
    bound = noise.unheld_sum(BAND, np.zeros(mechanism.size), users, TAIL)
    law = law_of_total(mechanism, 0, users, noise)
    assert chance_to_reach(bound - 1 / gap, law) > TAIL


@pytest.mark.parametrize(
    ("mechanism", "users"),
    [(GRR(5.0, 12), 12), (SubsetSelection(5.0, 8, 2), 4), (OUE(5.0, 6), 12)],
)
def test_the_normal_law_breaks_the_promise(mechanism, users):
    law = law_of_total(mechanism, 0, users, mechanism.noise)
    bound = normal_bound(mechanism.noise, mechanism.size, users)
    assert chance_to_reach(bound, law) > 1.5 * TAIL


def test_all_bands_of_an_answer_together_are_false_in_5_percent_at_most():
    """GRR over 100 values, of which all 5 users hold the same: nine of ten bands are empty.

    By the normal law one false report already makes a band significant.  The chance of any false
    one is then 1 - (1 - 9 r)^5, r being that of a report to lie in one of the bands.
    """
    mechanism, users = GRR(6.0, 100), 5
    falsely = 10 * mechanism.q
    counts = np.zeros(100)
    counts[0] = users
    chances = []
    for extra in range(users + 1):
        counts[50], counts[0] = extra, users - extra
        estimate = mechanism.estimate_counts(counts, users)
        answer = Answer("t", tuple(map(str, range(100))), estimate, "grr")
        band = bands(answer, 10)[5]
        assert band["value"] == "50–59"
        if band["significant"]:
            chances.append(binom.pmf(extra, users, falsely))
    assert 0 < 9 * sum(chances) <= 0.05
    deviation = np.sqrt(users * falsely * (1 - falsely))
    assert norm.isf(0.05 / 10) * deviation + users * falsely < 1
    assert 1 - (1 - 9 * falsely) ** users > 0.5


@pytest.mark.parametrize("users", [3, 200, 20_000])
def test_sums_of_sets_are_those_of_a_full_convolution(users):
    law = UniformSets(0.7, 20, 4)
    one = law.of_one_report(5)
    assert one.sum() == pytest.approx(1.0)
    assert one @ np.arange(len(one)) == pytest.approx(5 * (4 - 0.7) / 19)
    every = np.ones(1)
    power, left = one, users
    while left:  # by squaring, without a window around the mean
        every = np.convolve(every, power) if left % 2 else every
        power, left = np.convolve(power, power), left // 2
    tails = np.cumsum(every[::-1])[::-1]
    assert law.least(5, users, 1e-3) == np.count_nonzero(tails > 1e-3)


def test_independent_supports_are_binomial():
    least = IndependentSupports(0.1).least(3, 20, 0.01)
    assert binom.sf(least - 1, 60, 0.1) <= 0.01 < binom.sf(least - 2, 60, 0.1)


@pytest.mark.parametrize("mechanism", BOUNDED[:2], ids=named)
def test_the_bound_of_hashed_reports_is_a_normal_one_for_a_smaller_tail(mechanism):
    users = 10_000_000
    bound = mechanism.noise.unheld_sum(BAND, np.zeros(mechanism.size), users, TAIL)
    ratio = bound / normal_bound(mechanism.noise, mechanism.size, users)
    expected = norm.isf(TAIL * 2 / np.exp(2)) / norm.isf(TAIL)
    assert ratio == pytest.approx(expected, rel=0.01)


def test_a_law_that_knows_variances_only_takes_the_normal_one():
    noise = JointNoise(np.diag([4.0, 9.0, 16.0]))
    bound = noise.unheld_sum(np.array([0, 1]), np.zeros(3), 10, 0.05)
    assert bound == pytest.approx(norm.isf(0.05) * np.sqrt(13))


def test_raw_totals_are_tested():
    raw = GRR(2.0, 12).estimate_counts(np.array([9, 9, 9] + [1] * 9), 36)
    emptied = Estimate(np.zeros(12), raw.noise, 36, 2.0, raw=raw)
    first = np.array([0, 1, 2])
    # Answers are kept as JSON, which knows no boolean of NumPy.
    assert raw.significant_sum(first, 0.01) is True
    assert emptied.significant_sum(first, 0.01) is True
    assert raw.significant_sum(np.array([6, 7, 8]), 0.01) is False
