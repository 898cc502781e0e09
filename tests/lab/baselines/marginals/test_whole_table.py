"""The whole table."""

from itertools import product

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.hcms import HCMS
from sottovoce.lab.baselines.marginals.whole_table import (
    MAX_CELLS,
    WholeTable,
    ask_whole_table,
)
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE

PEOPLE = np.array([0, 1, 3])  # their cells of a table of two by two
TRUTH = np.array([1.0, 1.0, 0.0, 1.0])


def moments(mechanism, view):
    """The mean of a table and its squared error over all reports of the people, by the law of their
    clients.
    """
    outcomes = mechanism.outcomes()
    chances = mechanism.likelihood(outcomes)
    found, weights = [], []
    for reports in product(range(len(outcomes)), repeat=len(PEOPLE)):
        estimate = mechanism.estimate(mechanism.tally(outcomes[list(reports)]))
        found.append(WholeTable((2, 2), estimate).table(view).shares.ravel())
        weights.append(np.prod(chances[list(reports), PEOPLE]))
    found, weights = np.array(found), np.array(weights)
    mean = weights @ found
    return mean, (found - mean).T @ ((found - mean) * weights[:, None])


@pytest.mark.parametrize("view", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("mechanism", [GRR(1.0, 4), OUE(1.0, 4)], ids=lambda one: one.kind)
def test_over_all_reports_a_marginal_is_unbiased_and_varies_as_stated(mechanism, view):
    mean, square = moments(mechanism, view)
    known = WholeTable((2, 2), Estimate(TRUTH, mechanism.noise, 3, 1.0)).table(view)
    np.testing.assert_allclose(mean, known.shares.ravel(), atol=1e-12)
    np.testing.assert_allclose(square, known.covariance, atol=1e-12)


def test_adding_the_variances_of_direct_response_would_be_noticed():
    """Broken twin: its cells vary against each other, so a sum of them varies less than they do
    together.
    """
    _, square = moments(GRR(1.0, 4), (0,))
    apart = GRR(1.0, 4).noise.variances(TRUTH, 3).reshape(2, 2).sum(axis=1) / 3**2
    assert (apart > 1.2 * np.diag(square)).all()


@pytest.mark.parametrize("view", [(0,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("made", [GRR, OUE, OLH, HCMS, AffineResponse], ids=lambda one: one.kind)
def test_sums_of_cells_vary_as_the_noise_of_their_mechanism_says(made, view):
    """Sizes 3, 2 and 5; affine response pads the 30 cells to 32."""
    sizes, users = (3, 2, 5), 10_000
    mechanism = made(epsilon=1.0, size=30)
    votes = (
        np.random.default_rng(1)
        .multinomial(users, np.random.default_rng(2).dirichlet(np.ones(30)))
        .astype(float)
    )
    table = WholeTable(sizes, Estimate(votes, mechanism.noise, users, 1.0)).table(view)
    kept = tuple(sizes[one] for one in view)
    expected = votes.reshape(sizes).sum(axis=tuple(one for one in range(3) if one not in view))
    np.testing.assert_allclose(table.shares, expected / users)
    for seed in range(3):
        contrast = np.random.default_rng(seed).normal(size=kept)
        contrast -= contrast.mean()
        spread = contrast.reshape([size if one in view else 1 for one, size in enumerate(sizes)])
        behind = np.broadcast_to(spread, sizes).ravel()
        stated = mechanism.noise.linear(behind, votes, users) / users**2
        assert contrast.ravel() @ table.covariance @ contrast.ravel() == pytest.approx(stated)


@pytest.mark.parametrize("made", [GRR, AffineResponse], ids=lambda one: one.kind)
def test_a_balanced_table_sums_to_one_without_error(made):
    votes = np.random.default_rng(3).normal(100, 500, 30)
    table = WholeTable((3, 10), Estimate(votes, made(epsilon=1.0, size=30).noise, 3000, 1.0)).table(
        (0,)
    )
    assert table.shares.sum() == pytest.approx(1)
    assert table.covariance.sum() == pytest.approx(0, abs=1e-12)


def test_a_table_of_too_many_cells_is_refused():
    assert ask_whole_table(1.0, (2,) * 20, GRR).mechanism.size == MAX_CELLS
    with pytest.raises(ParameterError, match="cells"):
        ask_whole_table(1.0, (2,) * 21)


def test_the_mechanism_with_the_least_error_is_asked_unless_one_is_named():
    assert ask_whole_table(1.0, (2, 2)).mechanism.kind == "grr"
    assert ask_whole_table(1.0, (10, 10)).mechanism.kind == "affine"
    assert ask_whole_table(1.0, (10, 10), HCMS).mechanism == HCMS(1.0, 100)
