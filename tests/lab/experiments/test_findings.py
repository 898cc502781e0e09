"""Findings, intervals and choices: small versions of what the page of evidence prints."""

import numpy as np
import pytest

from sottovoce.core.support_law import SupportLaw
from sottovoce.lab.experiments.findings import (
    GENUINE_USERS,
    SEARCH_KINDS,
    SearchCounts,
    count_searches,
    coverages,
    false_findings,
    false_search_findings,
    method_losses,
    paired_gain,
    search_baskets,
    search_coverage,
    shapes,
    support_law,
)
from sottovoce.lab.populations.transactions import Transactions
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.itemsets.top_items import TopItems


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("users", [100, 1000, 10_000, 1_000_000])
def test_at_most_one_collection_in_twenty_has_a_false_finding(users, epsilon):
    for mechanism in (OUE(epsilon, 5000), AffineResponse(epsilon, 5000)):
        assert false_findings(mechanism, users).exact <= 0.05


def test_a_normal_threshold_has_false_findings_in_most_small_collections():
    """The broken twin; with a million users the two nearly agree."""
    assert false_findings(OUE(4.0, 5000), 100).normal > 0.9
    many = false_findings(OUE(1.0, 5000), 1_000_000)
    assert many.raised == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("users", [1000, 10_000, 100_000, 1_000_000])
def test_at_most_one_search_in_twenty_has_a_false_finding(users, epsilon):
    assert false_search_findings(users, epsilon).exact <= 0.05


def test_searches_of_few_people_are_full_of_normal_findings():
    """The broken twin, of a thousand people at epsilon 4."""
    assert false_search_findings(1000, 4.0).normal > 0.5


def test_the_rows_of_searches_cover():
    """Selected rows are what noise raised: intervals that ignore it miss nearly all of them."""
    found = search_coverage(2000, 4.0, runs=3)
    assert found.false[1] == 0
    assert found.selected > 0.9
    assert found.plain < 0.5


@pytest.mark.parametrize("name", SEARCH_KINDS)
@pytest.mark.parametrize("users", [1000, GENUINE_USERS + 1])
def test_searches_that_are_run_keep_the_promise_and_normal_thresholds_do_not(name, users):
    """Of genuine reports and of drawn sums: at most 1 in 20 is promised, and 5 sigma more pass."""
    counts = count_searches(SEARCH_KINDS[name], users, 6.0, 24)
    print(f"{counts.false} of 24 searches have a false finding, by normal laws {counts.normal}")
    promised = 24 * 0.05
    assert counts.false <= promised + 5 * np.sqrt(promised * 0.95)
    assert counts.normal > 8  # the broken twin
    assert counts.covered > 0.9


def test_the_interval_of_a_chance_is_that_of_clopper_and_pearson():
    low, high = SearchCounts(searches=20, false=0, normal=0, covered=1.0).false_range()
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 20))


def test_gains_are_paired():
    mean, half_width = paired_gain((0.9, 0.7, 1.0, 0.8), (0.5, 0.5, 0.5, 0.5))
    assert mean == pytest.approx(0.35)
    assert half_width == pytest.approx(3.182 * np.std([0.4, 0.2, 0.5, 0.3], ddof=1) / 2, rel=1e-3)


def test_rows_of_baskets_cover():
    baskets = Transactions(3000, 40, 4.0, 1.1).baskets(1)
    found = search_baskets(TopItems(range(40), 5), baskets, 2.0, 4)
    assert len(found.covered) == 4
    assert np.mean(found.covered) > 0.8
    assert found.error < 1000


def test_exact_intervals_cover_where_normal_ones_do_not():
    normal, exact = coverages(OUE(8.0, 50), 40)
    assert exact.worst >= 0.95
    assert normal.worst < 0.6
    assert exact.mean < 0.99


def test_the_law_of_supports_sums_to_one():
    assert support_law(SupportLaw(0.5, 0.1), 3, 10).sum() == pytest.approx(1.0)


def test_shapes_are_populations_of_the_size_asked_for():
    for counts in shapes(10_000).values():
        assert counts.sum() == 10_000
        assert counts.min() >= 0


@pytest.mark.papers
def test_power_ns_is_the_method_for_every_single_value():
    """Base-Cut, which the guide named before, errs twice as much in the median."""
    full = method_losses((10_000,), 3)["full"]
    assert full["power-ns"].median == min(losses.median for losses in full.values())
    assert full["base-cut"].median > 1.4 * full["power-ns"].median
    assert np.isfinite(full["power-ns"].worst)
