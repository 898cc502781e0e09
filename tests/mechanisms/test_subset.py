"""Subset selection."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import (
    PURE_CHECKS,
    RecordedRng,
    ScriptedRng,
    samples_follow_the_likelihood,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.subset import SubsetSelection

SMALL = [SubsetSelection(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5, 9)]
SMALL += [SubsetSelection(1.0, 6, chosen=chosen) for chosen in (1, 4, 5)]


@pytest.mark.parametrize(
    "mechanism",
    SMALL,
    ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}-{mechanism.chosen}",
)
@pytest.mark.parametrize("check", PURE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize("size", range(2, 9))
def test_support_by_enumeration(size):
    """Over all sets of every size, written out without the mechanism; ratio exp(epsilon)."""
    for chosen in range(1, size):
        subset = SubsetSelection(0.8, size, chosen=chosen)
        sets = [set(subset) for subset in combinations(range(size), chosen)]
        holds = np.array([[value in subset for value in range(size)] for subset in sets])
        odds = chosen * np.exp(0.8)
        p = odds / (odds + size - chosen)
        chances = np.where(holds, p / comb(size - 1, chosen - 1), (1 - p) / comb(size - 1, chosen))
        np.testing.assert_allclose(subset.likelihood(subset.outcomes()), chances, rtol=1e-12)
        q = p * (chosen - 1) / (size - 1) + (1 - p) * chosen / (size - 1)
        np.testing.assert_allclose(
            holds.T @ chances, np.where(np.eye(size, dtype=bool), p, q), atol=1e-12
        )
        assert (subset.p, subset.q) == pytest.approx((p, q))
        assert np.log(chances.max() / chances.min()) == pytest.approx(0.8, abs=1e-12)


def test_one_chosen_value_is_randomised_response():
    subset, grr = SubsetSelection(3.0, 9), GRR(3.0, 9)
    assert (subset.chosen, subset.keep, subset.worst_ratio) == (1, grr.keep, grr.worst_ratio)
    assert subset.noise == grr.noise


def test_its_variance_is_below_that_of_hashing():
    """For every domain and epsilon; a large one lacks a part (1 + cosh eps) / size of 4 e^eps /
    (e^eps - 1)^2.
    """
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        for size in (10, 100, 10_000):
            rare, hashed = (
                mechanism(epsilon, size).noise.variances(np.zeros(1), 1)[0]
                for mechanism in (SubsetSelection, OLH)
            )
            assert rare < hashed, (epsilon, size)
        expected = (1 - (1 + np.cosh(epsilon)) / size) / np.sinh(epsilon / 2) ** 2
        assert rare == pytest.approx(expected, rel=1e-5)


def test_scripted_draws_give_known_reports():
    """Two of the other values of 5: Floyd draws below 3, then below 4; a draw seen before becomes
    the newcomer.

    A holder of 1 that draws 2 and 2 picks 3, then the newcomer 4; told to hold its value, pick 0 or
    1 steps aside.
    """
    subset = SubsetSelection(0.1, 5, chosen=2)
    rng = ScriptedRng(bernoulli=[False, True, True], integers=[0, 0, 1, 2, 2, 2, 2, 2, 2])
    reports = subset.privatize(np.full(3, 1), rng)
    assert reports[:, 0].tolist() == [0b11000, 0b10010, 0b01010]


def test_recorded_bytes_give_a_known_report():
    """A keep word, a word for who steps aside, a word for each chosen value: 0, 5 and 9, or the
    value for pick 0.
    """
    subset = SubsetSelection(1.0, 10)
    assert subset.chosen == 3
    for keep, packed in ((b"\xff" * 8, b"\x21\x02"), (b"\x00" * 8, b"\x28\x02")):
        recorded = RecordedRng(keep + b"\1\0\0\0" + b"\0\0\0\x10" + b"\0\0\0\x80" + b"\0\0\0\xff")
        assert subset.pack(subset.privatize(np.array([3]), recorded)) == packed
        assert recorded.consumed == 24


def test_every_report_has_the_chosen_weight():
    subset = SubsetSelection(0.5, 1000)
    reports = subset.privatize(np.arange(2000) % 1000, SeededRng(41))
    np.testing.assert_array_equal(np.bitwise_count(reports).sum(axis=1), subset.chosen)


def test_the_kernel_counts_what_support_says():
    subset = SubsetSelection(1.0, 100)
    reports = subset.privatize(np.arange(3000) % 100, SeededRng(42))
    candidates = np.array([99, 0, 7, 8, 64])
    expected = PureMechanism.count(subset, reports, candidates)
    np.testing.assert_array_equal(subset.count(reports, candidates), expected)
    np.testing.assert_array_equal(subset.tally(reports)["support"][candidates], expected)


def test_estimates_sum_to_the_users():
    """Every report supports as many values, so the total is certain."""
    subset = SubsetSelection(1.0, 40)
    estimate = subset.estimate(subset.tally(subset.privatize(np.arange(1000) % 40, SeededRng(43))))
    assert estimate.totals.sum() == pytest.approx(1000)
    assert estimate.sum(np.arange(40)).variance == pytest.approx(0, abs=1e-6)


def test_letting_the_last_pick_step_aside_is_caught():
    """Broken twin: Floyd's picks are not exchangeable, so who steps aside must be drawn."""
    with pytest.raises(AssertionError):
        samples_follow_the_likelihood(LastAside(1.0, 5, chosen=3))


@pytest.mark.parametrize(
    "data",
    [b"\x01\x00", b"\x0f\x00", b"\x00\x00", b"\x03\x04", b"\x07"],
    ids=["too light", "too heavy", "empty", "padding", "cut"],
)
def test_a_report_that_could_not_have_been_made_is_refused(data):
    subset = SubsetSelection(1.0, 10)
    subset.unpack(b"\x03\x02")
    with pytest.raises(CodecError):
        subset.unpack(data)


@pytest.mark.parametrize("chosen", [-1, 10, 2.5])
def test_an_impossible_subset_is_refused(chosen):
    with pytest.raises(ParameterError):
        SubsetSelection(1.0, 10, chosen=chosen)


@pytest.mark.parametrize("keep", [1, 3 * UNIT // 10, UNIT, SubsetSelection(1.0, 10).keep + 1])
def test_an_impossible_threshold_is_refused(keep):
    with pytest.raises(ParameterError):
        SubsetSelection(1.0, 10, keep=keep)


@pytest.mark.parametrize("size", [1, True, (1 << 16) + 1])
def test_an_impossible_size_is_refused(size):
    with pytest.raises(ParameterError):
        SubsetSelection(1.0, size)


class FirstDrawLargest:
    """Random numbers but for the first whole numbers: each is the largest possible."""

    def __init__(self, rng):
        self.rng, self.is_first = rng, True

    def bernoulli(self, threshold, count):
        return self.rng.bernoulli(threshold, count)

    def integers(self, bound, count):
        drawn = self.rng.integers(bound, count)
        first, self.is_first = self.is_first, False
        return np.full_like(drawn, bound - 1) if first else drawn


class LastAside(SubsetSelection):
    def privatize(self, values, rng):
        return super().privatize(values, FirstDrawLargest(rng))
