"""Tests of plausibility: exact thresholds, and what they count."""

import numpy as np
import pytest

from sottovoce.core.plausibility import (
    FALSE_ALARM,
    BinomialCounts,
    PlausibilityTest,
    equal_seeds,
    largest_count,
    largest_of,
    weakest,
)
from sottovoce.maths import binomial


@pytest.mark.parametrize(("chance", "trials"), [(0.25, 1000), (1 / 15, 400), (0.5, 37)])
def test_the_threshold_of_a_largest_count_has_the_stated_probability(chance, trials):
    counts = np.full(255, int(trials * chance))
    test = largest_count("spectrum", counts, chance, trials)
    deviation = np.sqrt(trials * chance * (1 - chance))
    limit = round(test.threshold * deviation + trials * chance)
    tail = FALSE_ALARM / 255
    assert binomial.at_least(limit + 1, trials, chance) <= tail
    assert binomial.at_least(limit, trials, chance) > tail


def test_the_largest_count_alarms_exactly_above_its_threshold():
    law = BinomialCounts(0.25, 1000, 255)
    limit = binomial.upper_quantile(FALSE_ALARM / 255, 1000, 0.25)
    assert not largest_of("spectrum", limit, law).alarm
    above = largest_of("spectrum", limit + 1, law)
    assert above.alarm
    assert above.p_value <= FALSE_ALARM


def test_equal_seeds_count_pairs():
    test = equal_seeds(3, 5, 1 << 64)
    assert test.statistic == 3
    assert test.reports == 5
    assert test.alarm


def test_seeds_of_32_bits_may_agree_by_chance():
    seeds = np.random.default_rng(1).integers(0, 1 << 32, 300_000, dtype=np.uint64)
    expected = 300_000 * 299_999 / 2 / (1 << 32)
    pairs = len(seeds) - len(np.unique(seeds))
    print(f"{pairs} pairs, {expected:.1f} expected")
    assert abs(pairs - expected) < 5 * np.sqrt(expected)
    assert not equal_seeds(pairs, 300_000, 1 << 32).alarm
    assert equal_seeds(pairs + 60, 300_060, 1 << 32).alarm  # the twin that must be caught


def test_the_weakest_of_several_tests_counts_all_of_them():
    tests = [
        PlausibilityTest("load", 3.0, 7.0, 0.2, 10),
        PlausibilityTest("load", 5.0, 7.0, 1e-3, 10),
    ]
    assert weakest(tests) == PlausibilityTest("load", 5.0, 7.0, 2e-3, 10)
