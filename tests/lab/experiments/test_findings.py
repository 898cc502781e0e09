"""Findings, intervals and choices: small versions of what the page of evidence prints."""

import numpy as np
import pytest

from sottovoce.core.support_law import SupportLaw
from sottovoce.lab.experiments.findings import (
    coverages,
    false_findings,
    false_search_findings,
    method_losses,
    search_coverage,
    shapes,
    support_law,
)
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.oue import OUE


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
