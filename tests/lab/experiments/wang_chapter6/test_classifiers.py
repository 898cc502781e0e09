from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.wang_chapter6.classification import Split
from sottovoce.lab.experiments.wang_chapter6.classifiers import (
    NaiveBayes,
    linear_machine,
    naive_bayes,
    sample_cells,
)
from sottovoce.lab.populations.records import as_columns, record_domain, true_table
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.marginals.marginal_table import MarginalTable

SIZES = (2, 3, 2, 2)


def people(users, seed):
    """A label, two features that depend on it, one that does not."""
    dice = np.random.default_rng(seed)
    label = dice.random(users) < 0.4
    first = np.where(dice.random(users) < 0.7, 2 * label, dice.integers(0, 3, users))
    second = np.where(dice.random(users) < 0.5, label, dice.integers(0, 2, users))
    return np.stack([label, first, second, dice.integers(0, 2, users)], axis=1).astype(np.int64)


class Exact:
    def __init__(self, records):
        self.records, self.users = records, len(records)

    def table(self, view):
        shares = true_table(self.records, SIZES, view)
        return MarginalTable(view, shares, np.zeros((shares.size, shares.size)))


def test_naive_bayes_is_the_product_of_its_tables():
    records = people(5_000, 1)
    learnt = naive_bayes(Exact(records), 0, [1, 2])
    every = np.array([[0, *rest] for rest in product(range(3), range(2), range(2))])
    for row, scores in zip(every, learnt.scores(every), strict=True):
        label, first, second = (true_table(records, SIZES, view) for view in [(0,), (0, 1), (0, 2)])
        chances = label * (first / label[:, None])[:, row[1]] * (second / label[:, None])[:, row[2]]
        np.testing.assert_allclose(
            np.exp(scores - scores.max()), chances / chances.max(), rtol=1e-6
        )
    assert (learnt.predict(every) == learnt.scores(every).argmax(axis=1)).all()


def test_the_label_may_stand_anywhere():
    records = people(5_000, 1)
    learnt = naive_bayes(Exact(records), 3, [0, 1])
    np.testing.assert_allclose(
        learnt.given[0],
        true_table(records, SIZES, (0, 3)).T / true_table(records, SIZES, (3,))[:, None],
    )


def test_a_value_that_was_never_seen_is_rare_and_not_impossible():
    learnt = NaiveBayes(
        (1,),
        np.array([0.5, 0.5]),
        (naive_bayes(Exact(np.array([[0, 0, 0, 0], [1, 1, 1, 1]])), 0, [1]).given),
    )
    assert np.isfinite(learnt.scores(np.array([[0, 2, 0, 0]]))).all()


def test_naive_bayes_learns_from_a_genuine_collection():
    split = Split.of(people(1 << 16, 2), 1)
    plan = sv.Marginals(record_domain(SIZES), len(split.asked), 2)
    model = sv.simulate(sv.Task("tables", plan, epsilon=1.5), as_columns(split.asked), seed=1).model
    wrong, exact = (
        split.by_bayes(model, 0, [1, 2, 3]),
        split.by_bayes(Exact(split.asked), 0, [1, 2, 3]),
    )
    print("wrong", wrong, "with true tables", exact, "majority", split.majority(0))
    assert wrong < exact + 0.02 < split.majority(0)


def scores(shares, count=50_000):
    found = sample_cells(shares, count, SeededRng(3))
    assert found.sum() == count
    wanted = np.maximum(shares.ravel(), 1e-12) * count
    return np.abs((found - wanted) / np.sqrt(wanted)).max()


def test_drawn_records_follow_the_table():
    table = np.array([[0.3, 0.25], [0.0, 0.45]])
    assert scores(table) < FIVE_SIGMA
    found = sample_cells(table, 50_000, SeededRng(3))
    assert found[2] == 0
    swapped = np.abs(found.reshape(2, 2).T.ravel() - 50_000 * table.ravel()) / np.sqrt(50_000 * 0.3)
    assert swapped.max() > FIVE_SIGMA  # the wrong order of cells would be seen


def test_a_machine_finds_what_separates_the_labels():
    joint = np.zeros((2, 2, 2))  # label, the same again, a coin
    joint[0, 0] = joint[1, 1] = 0.25
    learnt = linear_machine(joint, (0, 1, 2), 0, 1_000, SeededRng(1))
    every = np.array(list(product(range(2), repeat=3)))
    assert learnt.predict(every).tolist() == every[:, 1].tolist()


def test_a_machine_reads_features_by_their_place_in_the_record():
    joint = np.zeros((2, 3))
    joint[0, 0] = joint[1, 1] = joint[0, 2] = 1 / 3
    learnt = linear_machine(
        joint.T, (1, 4), 4, 3_000, SeededRng(1)
    )  # the label is the last attribute of the view
    records = np.zeros((3, 5), np.int64)
    records[:, 1] = [0, 1, 2]
    assert learnt.predict(records).tolist() == [0, 1, 0]


def test_records_with_one_label_only_teach_that_label():
    joint = np.zeros((2, 2))
    joint[1] = 0.5
    assert linear_machine(joint, (0, 1), 0, 100, SeededRng(1)).predict(
        np.zeros((4, 2), np.int64)
    ).tolist() == [1, 1, 1, 1]


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn.svm", None)
    with pytest.raises(MissingExtraError, match="server"):
        linear_machine(np.full((2, 2), 0.25), (0, 1), 0, 100, SeededRng(1))


@pytest.mark.parametrize("features", [[], [0], [1, 1]])
def test_impossible_features_are_refused(features):
    with pytest.raises(ParameterError):
        naive_bayes(Exact(people(10, 1)), 0, features)


def test_a_table_without_the_label_is_refused():
    with pytest.raises(ParameterError):
        linear_machine(np.full((2, 2), 0.25), (0, 1), 2, 100, SeededRng(1))
