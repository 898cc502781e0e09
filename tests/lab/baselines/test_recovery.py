"""Recovery by subtraction: what the formulas say, on frequencies that are known."""

import numpy as np
import pytest

from sottovoce.lab.baselines.recovery import (
    normalised,
    recovered,
    recovered_knowing,
    simplex,
    without_targets,
)
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR

HONEST = np.array([0.5, 0.3, 0.2, 0.0])


def test_the_projection_is_on_the_simplex():
    found = simplex(np.array([0.7, 0.5, 0.1, -0.3]))
    np.testing.assert_allclose(found, [0.6, 0.4, 0.0, 0.0])


def test_normalisation_shifts_the_least_to_zero():
    np.testing.assert_allclose(normalised(np.array([0.5, 0.1, -0.1])), [0.75, 0.25, 0.0])


def test_without_false_reports_nothing_but_the_projection_is_done():
    mechanism = GRR(epsilon=1.0, size=4)
    for found in (
        recovered(HONEST, mechanism, 0.0),
        without_targets(HONEST, mechanism, 0.0, HONEST == 0),
    ):
        np.testing.assert_allclose(found, HONEST)


def test_known_targets_of_direct_response_are_subtracted_exactly():
    """A false report of direct response supports one value, as the method assumes."""
    mechanism = GRR(epsilon=1.0, size=4)
    eta = 0.1
    false = (np.array([0.0, 0.0, 0.0, 1.0]) - mechanism.q) / (mechanism.p - mechanism.q)
    poisoned = (HONEST + eta * false) / (1 + eta)
    found = recovered_knowing(poisoned, mechanism, eta, np.array([False, False, False, True]))
    np.testing.assert_allclose(found, HONEST, atol=1e-12)


def test_reports_that_support_all_targets_are_subtracted_exactly():
    mechanism = AffineResponse(epsilon=1.0, size=4)
    targets = np.array([False, False, True, True])
    eta = 0.1
    false = np.where(targets, (1 - mechanism.q) / (mechanism.p - mechanism.q), 0.0)
    poisoned = (HONEST + eta * false) / (1 + eta)
    found = without_targets(poisoned, mechanism, eta, targets)
    np.testing.assert_allclose(found, HONEST, atol=1e-12)


def test_the_sum_is_spread_over_positive_estimates_alone():
    mechanism = AffineResponse(epsilon=1.0, size=64)
    poisoned = np.r_[np.full(8, 0.2), np.full(56, -0.01)]
    found = recovered(poisoned, mechanism, 0.05)
    assert found.sum() == pytest.approx(1.0)
    assert (found[8:] == 0).all()
