from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.binary_attributes import (
    order_in_bits,
    split_into_bits,
    table_from_bits,
)
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.baselines.priview import PriView, cell_counts
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.populations.records import true_table as truth
from sottovoce.plans.marginals.marginal_table import MarginalTable
from sottovoce.plans.marginals.reported_views import ReportedViews

SIZES = (2, 3, 2)
VIEWS = ((0, 1), (1, 2), (0, 2))
RECORDS = np.stack([np.random.default_rng(1).integers(0, size, 3_000) for size in SIZES], axis=1)


def spread(**options):
    """The mean squared noise of a count, and the one that 2 t / epsilon stands for, in sigmas of
    its estimate.
    """
    errors = []
    for seed in range(400):
        model = PriView(SIZES, VIEWS, 0.5, **options).publish(RECORDS, seed)
        errors += [
            (model.reported.tables[view].shares - truth(RECORDS, SIZES, view)).ravel()
            for view in VIEWS
        ]
    squares = (np.concatenate(errors) * len(RECORDS)) ** 2
    stated = 2 * (2 * len(VIEWS) / 0.5) ** 2
    return (squares.mean() - stated) / (
        stated * sqrt(5 / len(squares))
    )  # a squared Laplace has kurtosis 6


def test_noise_is_laplace_of_twice_the_views_over_epsilon():
    assert abs(spread()) < FIVE_SIGMA
    assert abs(spread(replace=False)) > FIVE_SIGMA


def test_what_adding_or_removing_a_record_changes_is_half_of_it():
    one = PriView(SIZES, VIEWS, 0.5).publish(RECORDS, 1).reported.tables[0, 1]
    other = PriView(SIZES, VIEWS, 0.5, replace=False).publish(RECORDS, 1).reported.tables[0, 1]
    exact = truth(RECORDS, SIZES, (0, 1))
    np.testing.assert_allclose(one.shares - exact, 2 * (other.shares - exact), atol=1e-12)
    assert one.covariance[0, 0] == pytest.approx(4 * other.covariance[0, 0])


def test_views_become_consistent_and_answer_what_none_of_them_holds():
    model = PriView(SIZES, VIEWS, 1.0).publish(RECORDS, 1)
    made = model.fit((0, 1, 2))
    assert made.table.sum() == pytest.approx(1)
    np.testing.assert_allclose(made.table, truth(RECORDS, SIZES, (0, 1, 2)), atol=0.03)


def test_counts_are_those_of_the_cells():
    assert cell_counts(np.array([[1, 2, 0], [1, 2, 1], [0, 0, 0]]), SIZES, (0, 1)).tolist() == [
        1,
        0,
        0,
        0,
        0,
        2,
    ]


def test_impossible_publications_are_refused():
    with pytest.raises(ParameterError):
        PriView(SIZES, (), 1.0)
    with pytest.raises(ParameterError):
        PriView(SIZES, ((0, 3),), 1.0)
    with pytest.raises(ParameterError):
        PriView(SIZES, VIEWS, 0.0)
    with pytest.raises(NoDataError):
        PriView(SIZES, VIEWS, 1.0).publish(RECORDS[:0], 1)


def test_bits_are_put_together_again():
    """With exact tables of all triples of bits the table of two attributes is the true one."""
    bits = split_into_bits(RECORDS, SIZES)
    assert bits.shape == (3_000, 4)
    assert (bits[:, 1] * 2 + bits[:, 2] == RECORDS[:, 1]).all()
    views = list(combinations(range(4), 3))
    tables = {
        view: MarginalTable(view, truth(bits, (2,) * 4, view), np.eye(8) * 1e-9) for view in views
    }
    model = Calm(ReportedViews(tables, 3_000), (2,) * 4)
    made = table_from_bits(lambda bits: model.fit(bits).table, SIZES, (0, 1))
    np.testing.assert_allclose(made, truth(RECORDS, SIZES, (0, 1)), atol=1e-9)
    assert order_in_bits(SIZES, 2) == 3
