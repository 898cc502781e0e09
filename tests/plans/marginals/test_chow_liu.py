from math import log

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.populations.records import (
    PARENTS,
    as_columns,
    record_domain,
    tree_like,
    true_table,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.marginals.chow_liu import (
    Tree,
    chow_liu,
    mutual_information,
    pairwise,
    to_distribution,
)
from sottovoce.plans.marginals.marginal_table import MarginalTable

EDGES = sorted(
    tuple(sorted((place, parent))) for place, parent in enumerate(PARENTS) if parent is not None
)


class Exact:
    """The true tables of records."""

    def __init__(self, records, sizes):
        self.records, self.sizes, self.users = records, sizes, len(records)

    def table(self, view):
        shares = true_table(self.records, self.sizes, view)
        return MarginalTable(view, shares, np.zeros((shares.size, shares.size)))


def test_mutual_information_is_that_of_the_formula():
    shares = np.array([[0.3, 0.1, 0.1], [0.05, 0.25, 0.2]])
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = sum(
        shares[i, j] * log(shares[i, j] / (rows[i] * columns[j]))
        for i in range(2)
        for j in range(3)
    )
    assert mutual_information(shares) == pytest.approx(expected)
    assert mutual_information(np.outer(rows, columns)) == pytest.approx(0, abs=1e-12)


def test_negative_cells_are_projected_before_any_logarithm():
    noisy = np.array([[0.6, -0.05], [-0.05, 0.5]])
    assert mutual_information(noisy) == pytest.approx(mutual_information(to_distribution(noisy)))
    assert to_distribution(noisy).min() == 0


def test_the_tree_of_exact_tables_is_the_one_that_made_the_records():
    tree = chow_liu(Exact(tree_like(50_000), (2,) * 10), 10)
    assert tree.edges == EDGES
    assert (tree.order[0], tree.parents[0]) == (0, -1)
    assert all(parent in tree.order[:place] for place, parent in enumerate(tree.parents) if place)


def test_no_other_tree_has_more_information():
    """All 125 trees of five attributes, by their Pruefer codes."""
    records = np.random.default_rng(1).integers(0, 2, (400, 5))
    model = Exact(records, (2,) * 5)
    measured = pairwise(5, lambda pair: mutual_information(model.table(pair).shares))
    best = max(sum(measured[edge] for edge in _pruefer(code)) for code in np.ndindex(5, 5, 5))
    assert sum(chow_liu(model, 5).information) == pytest.approx(best)


def _pruefer(code):
    degrees = [1 + code.count(place) for place in range(len(code) + 2)]
    for place in code:
        leaf = degrees.index(1)
        yield leaf, place
        degrees[leaf] -= 1
        degrees[place] -= 1
    yield tuple(place for place, degree in enumerate(degrees) if degree == 1)


def test_ties_go_to_the_first_pair():
    same = np.repeat(np.array([[0], [1]]), 4, axis=1)
    assert chow_liu(Exact(same, (2,) * 4), 4).parents == (-1, 0, 0, 0)


class Upright(Tree):
    """Every attribute by itself, whatever its parent."""

    def records(self, count, rng):
        drawn = super().records(count, rng)
        return np.stack([column[np.argsort(rng.longs(count))] for column in drawn.T], axis=1)


def worst(kind, count=40_000):
    """The largest deviation of drawn records from the tables of their tree, in sigmas."""
    tree = chow_liu(Exact(tree_like(20_000), (2,) * 10), 10)
    tree = kind(tree.order, tree.parents, tree.information, tree.tables)
    records = tree.records(count, SeededRng(1))
    scores = []
    for one, parent, table in zip(tree.order[1:], tree.parents[1:], tree.tables[1:], strict=True):
        found = true_table(records, (2,) * 10, (parent, one))
        scores.append(np.abs((found - table) / np.sqrt(table * (1 - table) / count)).max())
    return max(scores)


def test_records_drawn_from_a_tree_have_its_tables():
    """Parents' shares from their own pair; children follow, so that all pairs of the tree agree
    within five sigma.
    """
    assert worst(Tree) < FIVE_SIGMA
    assert worst(Upright) > FIVE_SIGMA


def test_a_value_that_no_parent_has_falls_back_on_everybody():
    tables = (np.array([[1.0, 0.0]]), np.array([[0.4, 0.6], [0.0, 0.0]]))
    tree = Tree((0, 1), (-1, 0), (0.0, 0.1), tables)
    drawn = tree.records(2_000, SeededRng(2))
    assert not drawn[:, 0].any()
    assert abs(drawn[:, 1].mean() - 0.6) < FIVE_SIGMA * np.sqrt(0.24 / 2_000)


def test_a_genuine_collection_finds_the_tree_and_invents_records_like_its_people():
    records = tree_like(1 << 16, seed=1)[:, :6]
    plan = sv.Marginals(record_domain((2,) * 6), len(records), 2)
    answer = sv.simulate(sv.Task("tables", plan, epsilon=2.0), as_columns(records), seed=1)
    assert answer.tree().edges == [edge for edge in EDGES if max(edge) < 6]
    information = answer.information()
    np.testing.assert_array_equal(information, information.T)
    true = mutual_information(true_table(records, (2,) * 6, (0, 1)))
    assert information[0, 1] == pytest.approx(true, rel=0.1)
    invented = answer.synthetic(20_000, SeededRng(3))
    assert set(invented[0]) == set(plan.domain.names)
    both = np.mean([row["a0"] == row["a1"] for row in invented])
    assert both == pytest.approx((records[:, 0] == records[:, 1]).mean(), abs=0.03)


def test_one_attribute_is_no_tree():
    with pytest.raises(ParameterError):
        chow_liu(Exact(np.zeros((1, 1), np.int64), (2,)), 1)
