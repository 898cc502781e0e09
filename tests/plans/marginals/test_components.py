"""Components: exact against least squares over all views at once."""

from itertools import combinations

import numpy as np
import pytest

from plans.marginals.drawn_views import drawn
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.plans.marginals.components import (
    PooledComponents,
    assemble,
    centre,
    component_variances,
    subsets,
)
from sottovoce.plans.marginals.marginal_table import MarginalTable, project
from sottovoce.plans.marginals.reported_views import ReportedViews

SIZES = (2, 3, 2, 4)
VIEWS = ((0, 1), (0, 1, 2), (1, 3), (2,), (2, 3))
JOINT = np.random.default_rng(3).dirichlet(np.full(48, 0.8)).reshape(SIZES)
EVERYTHING = (0, 1, 2, 3)


def components_of(joint):
    return {
        attributes: centre(project(joint, EVERYTHING, attributes), len(attributes))
        for attributes in subsets(EVERYTHING)
    }


def test_a_table_is_the_sum_of_its_components():
    parts = components_of(JOINT)
    for view in subsets(EVERYTHING):
        np.testing.assert_allclose(
            assemble(parts, view, SIZES), project(JOINT, EVERYTHING, view), atol=1e-15
        )


def test_components_of_different_sets_are_orthogonal():
    parts = components_of(JOINT)
    spread = [
        assemble({attributes: part}, EVERYTHING, SIZES) - 1 / 48
        for attributes, part in parts.items()
    ]
    for first, second in combinations(spread, 2):
        assert abs((first * second).sum()) < 1e-16


def invented(variances, seed=1):
    """Return tables of all views with errors of equal variance in all contrasts, total known."""
    generator = np.random.default_rng(seed)
    tables = {}
    for view, variance in zip(VIEWS, variances, strict=True):
        shares = generator.dirichlet(np.ones(np.prod([SIZES[one] for one in view])))
        cells = shares.size
        covariance = variance * (np.eye(cells) - 1 / cells)
        shape = tuple(SIZES[one] for one in view)
        tables[view] = MarginalTable(
            view, shares.reshape(shape), covariance, centred_variance=variance
        )
    return ReportedViews(tables, 1000)


def least_squares(reported, target):
    """Return the best unbiased table of a view, and its covariance, over all cells of a record.

    The unknowns are the 48 cells of the whole table; every reported cell is a sum of some, weighed
    by the covariance of its view.  Totals are known to be 1.
    """
    precision = np.zeros((48, 48))
    right = np.zeros(48)
    for view, table in reported.tables.items():
        sums = np.stack(
            [project(row.reshape(SIZES), EVERYTHING, view).ravel() for row in np.eye(48)]
        )
        inverse = np.linalg.pinv(table.covariance)
        precision += sums @ inverse @ sums.T
        right += sums @ inverse @ table.shares.ravel()
    centring = np.eye(48) - 1 / 48
    inverse = np.linalg.pinv(centring @ precision @ centring, rcond=1e-10)
    start = np.full(48, 1 / 48)
    solution = start + inverse @ (right - precision @ start)
    sums = np.stack([project(row.reshape(SIZES), EVERYTHING, target).ravel() for row in np.eye(48)])
    return sums.T @ solution, sums.T @ inverse @ sums


@pytest.mark.parametrize("target", [(0,), (1,), (3,), (0, 1), (1, 2), (0, 2), (1, 3), (0, 1, 2)])
def test_pooled_tables_are_those_of_generalised_least_squares(target):
    """Views of different sizes and precisions; brute force over the 48 cells of the whole table."""
    reported = invented([0.01, 0.002, 0.03, 0.05, 0.004])
    table = PooledComponents(reported, SIZES).table(target)
    shares, covariance = least_squares(reported, target)
    np.testing.assert_allclose(table.shares.ravel(), shares, atol=1e-12)
    np.testing.assert_allclose(table.covariance, covariance, atol=1e-14)


def test_weights_that_forget_the_cells_are_not_least_squares():
    """The broken twin of the test above: all views weigh the same."""
    reported = invented([0.01, 0.002, 0.03, 0.05, 0.004])
    even = invented([0.01] * 5)
    shares, _ = least_squares(reported, (0, 1))
    same = PooledComponents(ReportedViews(even.tables, 1000), SIZES).table((0, 1))
    assert np.abs(same.shares.ravel() - shares).max() > 0.001


def test_the_variance_of_a_component_is_the_trace_of_its_covariance():
    pooled = PooledComponents(invented([0.01, 0.002, 0.03, 0.05, 0.004]), SIZES)
    for attributes in ((0,), (0, 1), (2, 3), (0, 1, 2)):
        table = pooled.table(attributes)
        cells = table.shares.size
        rows = np.eye(cells).reshape(-1, *table.shares.shape)
        centring = centre(rows, len(attributes)).reshape(cells, cells)
        spread = np.trace(centring @ table.covariance @ centring.T)
        expected = pooled.variances[attributes] * pooled.degrees(attributes)
        assert spread == pytest.approx(expected)


def test_pooled_components_of_collections_are_unbiased_with_the_stated_covariance():
    generator = np.random.default_rng(5)
    runs = 200
    truth = project(JOINT, EVERYTHING, (1, 2)).ravel()
    errors = []
    stated = np.zeros(6)
    for _ in range(runs):
        reported = drawn(JOINT, VIEWS, 10_000, 1.0, generator)
        table = PooledComponents(reported, SIZES).table((1, 2))
        errors.append(table.shares.ravel() - truth)
        stated += np.diag(table.covariance) / runs
    bias = np.mean(errors, axis=0) / np.sqrt(stated / runs)
    # The groups stand for a population of five times as many; the truth here is that of the law.
    spread = np.var(errors, axis=0) / stated
    print("bias in sigmas", bias, "variance over the stated", spread)
    assert np.abs(bias).max() < FIVE_SIGMA
    assert np.abs(spread - 1).max() < FIVE_SIGMA * np.sqrt(2 / runs)


def test_variances_of_components_are_those_of_the_whole_covariance():
    """Every component is a linear map of the cells: the trace of its covariance, in full."""
    view = (0, 1, 3)
    shape = (2, 3, 4)
    factor = np.random.default_rng(4).standard_normal((24, 24))
    covariance = factor @ factor.T
    units = np.eye(24).reshape(24, *shape)
    found = component_variances(covariance, view, SIZES)
    assert list(found) == list(subsets(view))
    for attributes, variance in found.items():
        columns = centre(project(units, view, attributes), len(attributes)).reshape(24, -1)
        assert variance == pytest.approx(np.trace(columns.T @ covariance @ columns))


def test_plug_in_variances_are_the_working_ones_where_noise_is_equal():
    pooled = PooledComponents(invented([1e-4, 3e-4, 2e-4, 1e-3, 5e-4]), SIZES)
    assert pooled.plug_in_variances == pytest.approx(pooled.variances)
