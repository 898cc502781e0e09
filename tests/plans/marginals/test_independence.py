from functools import reduce
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.experiments.cormode.independence_power import (
    DrawnCollection,
    copied_bits,
    power,
    rejections,
)
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import MarginalsSetting
from sottovoce.lab.populations.records import as_columns, record_domain
from sottovoce.plans.marginals.independence import dependence, pearson
from sottovoce.plans.marginals.marginal_table import MarginalTable
from sottovoce.plans.marginals.reported_views import ReportedViews

USERS, EPSILON = 1 << 16, 1.1
BITS = [[0.45, 0.55], [0.9, 0.1], [0.7, 0.3]]
MIXED = [[0.5, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25], [0.7, 0.3]]


def independent(marginals):
    return reduce(np.multiply.outer, [np.array(one) for one in marginals])


def rates(method, marginals, runs, users=USERS):
    joint = independent(marginals)
    pairs = list(combinations(range(joint.ndim), 2))
    found = rejections(DrawnCollection(method, users, EPSILON), joint, pairs, runs, seed=1)
    print(method, "rejected", found)
    return np.mean([one.aware for one in found.values()]), np.mean(
        [one.naive for one in found.values()]
    )


@pytest.mark.parametrize("marginals", [BITS, MIXED], ids=["bits", "several values"])
@pytest.mark.parametrize("method", ["inp_ht", "marg_ps"])
def test_independent_pairs_are_rejected_as_seldom_as_the_level_says(method, marginals):
    """Between 2 and 8 % at a level of 5 %, over 1,200 tests; Pearson's statistic rejects most of
    the same tables.
    """
    aware, naive = rates(method, marginals, 400)
    assert 0.02 < aware < 0.08
    assert naive > 0.7


def test_of_tables_made_consistent_the_reported_ones_are_tested():
    """Over 250 collections consistent tables were rejected a little too often: 5 to 9 %, reported
    ones 3 to 8 %.
    """
    joint, dice, found = independent(BITS), np.random.default_rng(3), []
    for _ in range(80):
        model = DrawnCollection("calm", USERS, EPSILON).draw(joint, dice)
        tests = [dependence(model.table(pair), USERS) for pair in combinations(range(3), 2)]
        assert tests[0] == dependence(model.reported.table((0, 1)), USERS)
        found += [test.rejects() for test in tests]
    print("rejected", np.mean(found), "of", len(found))
    assert 0.02 < np.mean(found) < 0.08


def test_power_grows_with_the_strength_and_starts_at_the_level():
    rate = power(
        DrawnCollection("inp_ht", USERS, EPSILON), [0.0, 0.04, 0.06, 0.1, 0.2], 200, seed=1
    )
    print("rejected", rate)
    assert rate[0] < 0.1
    assert (np.diff(rate) >= 0).all()
    assert rate[-2] > 0.9
    assert rate[-1] == 1.0


def test_the_statistic_of_two_bits_is_the_squared_covariance_of_signs_over_its_variance():
    """For a 2 x 2 table there is one deviation, k = w_AB - w_A w_B: both forms of the test
    agree.
    """
    shares = np.array([[0.3, 0.2], [0.1, 0.4]])
    table = MarginalTable((0, 1), shares, np.diag([1e-4, 2e-4, 3e-4, 1e-4]))
    rows, columns = np.array([1, 1, -1, -1]), np.array([1, -1, 1, -1])
    cells = shares.ravel()
    gradient = rows * columns - (cells @ columns) * rows - (cells @ rows) * columns
    kappa = cells @ (rows * columns) - (cells @ rows) * (cells @ columns)
    centred = np.eye(4) - 0.25  # the total is known
    together = (
        centred @ table.covariance @ centred + (np.diag(cells) - np.outer(cells, cells)) / 1_000
    )
    found = dependence(table, 1_000)
    assert found.statistic == pytest.approx(kappa**2 / (gradient @ together @ gradient))
    assert found.degrees == 1
    # Pearson's: n k^2 / ((1 - w_A^2)(1 - w_B^2))
    expected = 1_000 * kappa**2 / ((1 - (cells @ rows) ** 2) * (1 - (cells @ columns) ** 2))
    assert found.naive == pytest.approx(expected) == pytest.approx(pearson(shares, 1_000))


def test_without_noise_the_test_is_close_to_pearsons():
    counts = np.random.default_rng(4).multinomial(
        5_000, independent([[0.5, 0.3, 0.2], [0.6, 0.4]]).ravel()
    )
    shares = counts.reshape(3, 2) / 5_000
    found = dependence(MarginalTable((0, 1), shares, np.zeros((6, 6))), 5_000)
    assert found.statistic == pytest.approx(found.naive, rel=0.1)
    assert found.degrees == 2


@pytest.mark.parametrize("method", ["inp_ht", "calm"])
def test_a_genuine_collection_finds_the_pair_that_hangs_together(method):
    dice, users = np.random.default_rng(5), 1 << 15
    records = dice.integers(0, 2, (users, 3))
    records[:, 1] = np.where(dice.random(users) < 0.5, records[:, 0], records[:, 1])
    plan = MarginalsSetting((2, 2, 2), 2, method, 1.5).plan(users)
    answer = sv.simulate(sv.Task("tables", plan, epsilon=1.5), as_columns(records), seed=1)
    assert answer.dependence("a0", "a1").rejects(1e-6)
    assert not answer.dependence("a0", "a2").rejects(0.01)


def test_genuine_collections_reject_as_seldom():
    """The cross-check of the law that the collections above are drawn from: 150 tests of
    independent pairs.
    """
    found = []
    for run in range(50):
        records = (np.random.default_rng(run).random((1 << 12, 3)) < [0.55, 0.3, 0.5]).astype(
            np.int64
        )
        plan = BaselineMarginals(record_domain((2, 2, 2)), "inp_ht", 2)
        answer = sv.simulate(sv.Task("tables", plan, epsilon=1.1), as_columns(records), seed=run)
        found += [
            answer.dependence(f"a{one}", f"a{other}").rejects()
            for one, other in combinations(range(3), 2)
        ]
    print("rejected", np.mean(found), "of", len(found))
    assert abs(np.mean(found) - 0.05) < 5 * sqrt(0.05 * 0.95 / len(found))


def test_a_population_of_copies_is_what_it_says():
    joint = copied_bits(0.4, 3)
    assert joint.sum() == pytest.approx(1)
    np.testing.assert_allclose(joint.sum(axis=2), [[0.35, 0.15], [0.15, 0.35]])


def test_attributes_that_nobody_was_asked_about_together_cannot_be_tested():
    tables = {
        view: MarginalTable(view, np.array([[0.3, 0.2], [0.1, 0.4]]), np.eye(4) * 1e-4)
        for view in [(0, 1), (2, 3)]
    }
    model = Calm(ReportedViews(tables, 1_000), (2, 2, 2, 2))
    assert dependence(model.table((0, 1)), 1_000).degrees == 1
    with pytest.raises(NoDataError, match="together"):
        dependence(model.table((0, 2)), 1_000)


def test_an_attribute_of_one_value_cannot_be_tested():
    with pytest.raises(NoDataError, match="two values"):
        dependence(MarginalTable((0, 1), np.array([[0.5, 0.5], [0.0, 0.0]]), np.zeros((4, 4))), 100)


def test_a_test_is_of_two_attributes_and_only_some_methods_have_a_law():
    with pytest.raises(ParameterError, match="two attributes"):
        dependence(MarginalTable((0,), np.array([0.5, 0.5]), np.eye(2)), 100)
    with pytest.raises(ParameterError, match="`method`"):
        DrawnCollection("fc", 100, 1.0)
