"""Tables and their covariance."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.marginals.tables import Table, averaged, cells_onto, drawing, marginal_map

SHAPE = (2, 3, 4)
VIEW = (1, 4, 6)


def table(seed=0):
    dice = np.random.default_rng(seed)
    half = dice.normal(size=(24, 24))
    return Table(VIEW, dice.dirichlet(np.ones(24)).reshape(SHAPE), half @ half.T)


@pytest.mark.parametrize("kept", [one for size in (1, 2, 3) for one in combinations(VIEW, size)])
def test_a_marginal_sums_over_the_other_axes_and_so_does_its_covariance(kept):
    whole, gone = table(), tuple(axis for axis, one in enumerate(VIEW) if one not in kept)
    made = whole.onto(kept)
    np.testing.assert_allclose(made.shares, whole.shares.sum(axis=gone))
    both = whole.covariance.reshape(SHAPE + SHAPE).sum(axis=gone + tuple(axis + 3 for axis in gone))
    np.testing.assert_allclose(made.covariance, both.reshape(made.shares.size, -1))
    assert made.view == kept


def test_a_marginal_of_a_marginal_is_the_marginal():
    np.testing.assert_allclose(table().onto((1, 6)).onto((6,)).covariance, table().onto((6,)).covariance)


def test_the_table_itself_keeps_what_was_done_to_it():
    marked = Table(VIEW, table().shares, table().covariance, ("a step",))
    assert marked.onto(VIEW) is marked


def test_other_attributes_are_refused():
    with pytest.raises(ParameterError):
        table().onto((1, 5))
    with pytest.raises(ParameterError):
        marginal_map(SHAPE, VIEW, (0,))


def test_cells_are_counted_with_the_first_attribute_slowest():
    assert cells_onto((2, 3), (0, 1), (0,)).tolist() == [0, 0, 0, 1, 1, 1]
    assert cells_onto((2, 3), (0, 1), (1,)).tolist() == [0, 1, 2, 0, 1, 2]


def test_the_mean_of_two_tables_has_the_least_variance():
    first, second = (
        Table((0,), np.array([share, 1 - share]), np.eye(2) * variance) for share, variance in ((0.2, 4.0), (0.4, 1.0))
    )
    made = averaged([first, second])
    np.testing.assert_allclose(made.shares, [0.36, 0.64])
    np.testing.assert_allclose(made.covariance, np.eye(2) * 0.8)
    assert made.precision == pytest.approx(first.precision + second.precision)


def test_nothing_has_no_mean():
    with pytest.raises(NoDataError):
        averaged([])


def test_the_shares_of_a_drawn_group_vary_as_without_replacement():
    """All groups of two of four people who hold the cells 0, 1, 1, 2."""
    held = np.array([0, 1, 1, 2])
    found = np.array([np.bincount(held[list(pair)], minlength=3) / 2 for pair in combinations(range(4), 2)])
    truth = np.bincount(held) / 4
    np.testing.assert_allclose(drawing(truth, 2, 4), (found - truth).T @ (found - truth) / len(found), atol=1e-12)
    np.testing.assert_allclose(drawing(truth, 4, 4), 0)
    np.testing.assert_allclose(drawing(truth, 1, 1), 0)
