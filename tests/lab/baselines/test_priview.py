from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from papers.marginal_errors import truth
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.binary_attributes import order_of, put_together, taken_apart
from sottovoce.lab.baselines.priview import counted, priview
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.plans.marginals.calm import Calm
from sottovoce.plans.marginals.tables import Table
from sottovoce.plans.marginals.views import Reported

SIZES = (2, 3, 2)
VIEWS = [(0, 1), (1, 2), (0, 2)]
RECORDS = np.stack([np.random.default_rng(1).integers(0, size, 3_000) for size in SIZES], axis=1)


def spread(**options):
    """The mean squared noise of a count, and the one that 2 t / epsilon stands for, in sigmas of its estimate."""
    errors = []
    for seed in range(400):
        model = priview(RECORDS, SIZES, VIEWS, 0.5, seed, **options)
        errors += [(model.reported.tables[view].shares - truth(RECORDS, SIZES, view)).ravel() for view in VIEWS]
    squares = (np.concatenate(errors) * len(RECORDS)) ** 2
    stated = 2 * (2 * len(VIEWS) / 0.5) ** 2
    return (squares.mean() - stated) / (stated * sqrt(5 / len(squares)))  # a squared Laplace has kurtosis 6


def test_noise_is_laplace_of_twice_the_views_over_epsilon():
    assert abs(spread()) < FIVE_SIGMA
    assert abs(spread(replace=False)) > FIVE_SIGMA


def test_what_adding_or_removing_a_record_changes_is_half_of_it():
    one = priview(RECORDS, SIZES, VIEWS, 0.5, 1).reported.tables[0, 1]
    other = priview(RECORDS, SIZES, VIEWS, 0.5, 1, replace=False).reported.tables[0, 1]
    exact = truth(RECORDS, SIZES, (0, 1))
    np.testing.assert_allclose(one.shares - exact, 2 * (other.shares - exact), atol=1e-12)
    assert one.covariance[0, 0] == pytest.approx(4 * other.covariance[0, 0])


def test_views_become_consistent_and_answer_what_none_of_them_holds():
    model = priview(RECORDS, SIZES, VIEWS, 1.0, 1)
    made = model.fit((0, 1, 2))
    assert made.table.sum() == pytest.approx(1)
    np.testing.assert_allclose(made.table, truth(RECORDS, SIZES, (0, 1, 2)), atol=0.03)


def test_counts_are_those_of_the_cells():
    assert counted(np.array([[1, 2, 0], [1, 2, 1], [0, 0, 0]]), SIZES, (0, 1)).tolist() == [1, 0, 0, 0, 0, 2]


def test_impossible_publications_are_refused():
    with pytest.raises(ParameterError):
        priview(RECORDS, SIZES, [], 1.0, 1)
    with pytest.raises(ParameterError):
        priview(RECORDS, SIZES, [(0, 3)], 1.0, 1)
    with pytest.raises(ParameterError):
        priview(RECORDS, SIZES, VIEWS, 0.0, 1)
    with pytest.raises(NoDataError):
        priview(RECORDS[:0], SIZES, VIEWS, 1.0, 1)


def test_bits_are_put_together_again():
    """With exact tables of all triples of bits the table of two attributes is the true one."""
    bits = taken_apart(RECORDS, SIZES)
    assert bits.shape == (3_000, 4)
    assert (bits[:, 1] * 2 + bits[:, 2] == RECORDS[:, 1]).all()
    views = list(combinations(range(4), 3))
    tables = {view: Table(view, truth(bits, (2,) * 4, view), np.eye(8) * 1e-9) for view in views}
    model = Calm(Reported(tables, 3_000), (2,) * 4)
    made = put_together(lambda bits: model.fit(bits).table, SIZES, (0, 1))
    np.testing.assert_allclose(made, truth(RECORDS, SIZES, (0, 1)), atol=1e-9)
    assert order_of(SIZES, 2) == 3
