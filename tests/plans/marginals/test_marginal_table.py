"""Tables and their covariance."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.marginal_table import (
    MarginalTable,
    expand,
    project,
    sampling_covariance,
    shape_of,
    weighted_mean,
)

SHAPE = (2, 3, 4)
VIEW = (1, 4, 6)


def table(seed=0):
    dice = np.random.default_rng(seed)
    half = dice.normal(size=(24, 24))
    return MarginalTable(VIEW, dice.dirichlet(np.ones(24)).reshape(SHAPE), half @ half.T)


@pytest.mark.parametrize("kept", [one for size in (1, 2, 3) for one in combinations(VIEW, size)])
def test_a_marginal_sums_over_the_other_axes_and_so_does_its_covariance(kept):
    whole, gone = table(), tuple(axis for axis, one in enumerate(VIEW) if one not in kept)
    made = whole.project(kept)
    np.testing.assert_allclose(made.shares, whole.shares.sum(axis=gone))
    both = whole.covariance.reshape(SHAPE + SHAPE).sum(axis=gone + tuple(axis + 3 for axis in gone))
    np.testing.assert_allclose(made.covariance, both.reshape(made.shares.size, -1))
    assert made.view == kept


def test_a_marginal_of_a_marginal_is_the_marginal():
    np.testing.assert_allclose(
        table().project((1, 6)).project((6,)).covariance, table().project((6,)).covariance
    )


def test_the_table_itself_keeps_what_was_done_to_it():
    marked = MarginalTable(VIEW, table().shares, table().covariance, ("a step",))
    assert marked.project(VIEW) is marked


def test_other_attributes_are_refused():
    with pytest.raises(ParameterError):
        table().project((1, 5))


def test_one_function_marginalises_and_its_inverse_broadcasts():
    cells = np.arange(24.0).reshape(SHAPE)
    for kept in ((1,), (4, 6), (1, 6), ()):
        marginal = project(cells, VIEW, kept)
        assert marginal.shape == shape_of({1: 2, 4: 3, 6: 4}, kept)
        behind = np.broadcast_to(expand(marginal, kept, VIEW), SHAPE)
        np.testing.assert_allclose(project(behind, VIEW, kept), marginal * (24 / marginal.size))


def test_axes_before_the_view_are_collections_and_stay():
    several = np.arange(48.0).reshape(2, *SHAPE)
    each = [project(table, VIEW, (4,)) for table in several]
    np.testing.assert_allclose(project(several, VIEW, (4,)), each)
    assert expand(np.stack(each), (4,), VIEW).shape == (2, 1, 3, 1)


def test_the_mean_of_two_tables_has_the_least_variance():
    first, second = (
        MarginalTable((0,), np.array([share, 1 - share]), np.eye(2) * variance)
        for share, variance in ((0.2, 4.0), (0.4, 1.0))
    )
    made = weighted_mean([first, second])
    np.testing.assert_allclose(made.shares, [0.36, 0.64])
    np.testing.assert_allclose(made.covariance, np.eye(2) * 0.8)
    assert made.precision == pytest.approx(first.precision + second.precision)


def test_nothing_has_no_mean():
    with pytest.raises(NoDataError):
        weighted_mean([])


def test_the_shares_of_a_drawn_group_vary_as_without_replacement():
    """All groups of two of four people who hold the cells 0, 1, 1, 2."""
    held = np.array([0, 1, 1, 2])
    found = np.array(
        [np.bincount(held[list(pair)], minlength=3) / 2 for pair in combinations(range(4), 2)]
    )
    truth = np.bincount(held) / 4
    np.testing.assert_allclose(
        sampling_covariance(truth, 2, 4),
        (found - truth).T @ (found - truth) / len(found),
        atol=1e-12,
    )
    np.testing.assert_allclose(sampling_covariance(truth, 4, 4), 0)
    np.testing.assert_allclose(sampling_covariance(truth, 1, 1), 0)
