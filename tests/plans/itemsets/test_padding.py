"""The arithmetic of padding and sampling."""

from itertools import combinations
from math import exp, log

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.itemsets.padding import (
    MISTAKE,
    amplified,
    direct_is_better,
    fit_padding,
    pad_for_sets,
    with_highest,
)

ITEMS = 5


def sampled(held, length, dummies):
    """The law of the sampled element: the items, then the dummies."""
    chances = [0.0] * (ITEMS + dummies)
    for item in held:
        chances[item] = 1 / max(length, len(held))
    for dummy in range(dummies):
        chances[ITEMS + dummy] = max(0, length - len(held)) / length / dummies
    return chances


def worst(length, epsilon_inside, dummies):
    """The largest log-ratio of one report under two sets, over all pairs of sets of the items."""
    size = ITEMS + dummies
    lie = 1 / (exp(epsilon_inside) + size - 1)
    sets = [held for count in range(ITEMS + 1) for held in combinations(range(ITEMS), count)]
    laws = [
        [
            lie + (exp(epsilon_inside) - 1) * lie * chance
            for chance in sampled(held, length, dummies)
        ]
        for held in sets
    ]
    return max(
        log(one / other)
        for first in laws
        for second in laws
        for one, other in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.5, 1.3])
def test_amplified_direct_response_spends_exactly_its_epsilon(length, epsilon):
    assert worst(length, amplified(epsilon, length), length) == pytest.approx(epsilon, abs=1e-9)


def test_a_single_dummy_spends_more_and_is_seen():
    """An empty set then says the dummy for certain: epsilon 1 padded to 5 really spends 2.26."""
    assert worst(5, amplified(1.0, 5), 1) == pytest.approx(amplified(1.0, 5), abs=1e-9)
    assert round(worst(5, amplified(1.0, 5), 1), 2) == 2.26


def test_nothing_is_padded_to_nothing():
    with pytest.raises(ParameterError):
        amplified(1.0, 0)


@pytest.mark.parametrize(
    ("epsilon", "length", "bound"),
    [
        (1, 1, 9.15), (1, 2, 39.06), (1, 5, 259.24), (1, 10, 1061.1),
        (2, 1, 23.17), (2, 2, 104.45), (2, 5, 702.96), (2, 10, 2882.7),
        (4, 1, 164.79), (4, 2, 765.37), (4, 5, 5187.8), (4, 10, 21294),
    ],
)  # fmt: skip
def test_direct_response_is_taken_below_the_published_bound(epsilon, length, bound):
    assert direct_is_better(epsilon, length, int(bound))
    assert not direct_is_better(epsilon, length, int(bound) + 1)


def test_ninety_percent_of_the_sets_are_covered():
    found = fit_padding([50, 30, 15, 5], threshold=1)
    assert (found.length, found.correction) == (3, pytest.approx(175 / 170))


def test_exactly_ninety_percent_is_not_enough():
    assert fit_padding([90, 10], threshold=1).length == 2


def seen(shares, users=100_000, epsilon=2.0):
    """An estimate without error of how many people have 0, 1, 2, ... candidates."""
    shares = np.array([*shares, *[0.0] * (33 - len(shares))])
    return Estimate(users * shares, GRR(epsilon, 33).noise, users, epsilon)


def test_sets_are_padded_until_one_membership_in_a_hundred_can_be_lost():
    """Numbers of candidate sets have gaps: 1, 3 and 7 are the subsets of one, two and three items.

    The broken twin is the guard, which stops at the first gap beyond nine of ten people.
    """
    shares = [0.3, 0.4, 0, 0.21, 0, 0, 0, 0.09]
    estimate = seen(shares, users=10**9)
    found = pad_for_sets(estimate)
    assert found.length == 7
    assert found.correction == found.highest == pytest.approx(1.0, abs=0.01)
    counts = estimate.totals[1:].tolist()
    guarded = fit_padding(counts, threshold=1.0)
    assert (guarded.length, guarded.correction) == (7, 1.0)
    skewed = seen([0.3, 0.62, 0, 0.05, 0, 0, 0, 0.03], users=10**9)
    twin = fit_padding(skewed.totals[1:].tolist(), threshold=1.0)
    assert (twin.length, twin.correction) == (3, 1.0)  # 12 of 98 memberships are lost unseen
    assert pad_for_sets(skewed).length == 7


def test_few_reports_about_sizes_mean_more_padding():
    shares = [0.3, 0.4, 0, 0.21, 0, 0, 0, 0.09]
    lengths = [pad_for_sets(seen(shares, users)).length for users in (10**9, 10**5, 10**3)]
    assert lengths == sorted(lengths)
    assert lengths[-1] == 32


def test_the_highest_factor_counts_sizes_that_were_not_seen():
    estimate = seen([0.0, 0.5, 0.4, 0.0, 0.1], users=10**9)
    padding = fit_padding(estimate.totals[1:].tolist(), threshold=0.2 * 10**9)
    assert (padding.length, padding.correction) == (2, 1.0)
    # 0.1 people of size 4 lose 2 of 0.5 + 0.8 + 0.4 memberships.
    assert with_highest(padding, estimate).highest == pytest.approx(1.7 / 1.5, rel=1e-3)


def test_lengths_within_the_noise_are_left_out():
    assert fit_padding([50, 30, 15, 5], threshold=6).correction == 1.0
    assert fit_padding([3, 2, 1], threshold=6) == fit_padding([0.0], threshold=6)
    assert not fit_padding([3, 2, 1], threshold=6).confident


def test_one_length_believed_in_vain_does_not_change_everything():
    counts = [900, 60, 20, 0, 0, 0, 0, 30]
    assert fit_padding(counts, threshold=10).correction == pytest.approx(
        (900 + 120 + 60) / (900 + 120 + 60 - 20)
    )
    assert fit_padding(counts, threshold=10, guarded=False).correction == pytest.approx(
        1320 / (1320 - 20 - 6 * 30)
    )


def test_a_length_is_believed_at_the_published_threshold():
    """Phi^-1(1 - .05 / 41,270) is 4.714499: 3,681 reports at epsilon 4 and 8,019,015 users.

    The exact tail of the binomial law asks for four more.
    """
    noise = IndependentNoise(4 * exp(4.0) / (exp(4.0) - 1) ** 2, 0.0)  # of optimised local hashing
    estimate = Estimate(np.zeros(41_270), noise, 8_019_015, 4.0)
    assert estimate.threshold(MISTAKE, 41_270) == pytest.approx(3685, abs=1)
