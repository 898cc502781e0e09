"""The mechanism, the trees, the hash and the examples in SQL, as the analysis of joint collections
wants them.

Source: Xu 2020; the queries are those of a shop with users and transactions.
"""

from functools import cache
from math import exp

import numpy as np
import pytest

from sottovoce.domains.buckets import Buckets
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.tables import Population, pums_p, syn_1
from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.coefficients import Target, coefficients
from sottovoce.plans.tables.decompositions import over_values, smallest_sets
from sottovoce.plans.tables.method import Method
from sottovoce.plans.tables.result import Explanation

TABLE = [  # epsilon, buckets, p, q, s0, s1
    (0.1, 2, 0.52498, 0.5, 400.6668, 400.6668),
    (0.25, 2, 0.56218, 0.5, 64.6677, 64.6677),
    (0.5, 3, 0.45186, 0.33333, 15.8174, 18.6296),
    (1, 4, 0.47537, 0.25, 3.6917, 5.9103),
    (1.25, 4, 0.53777, 0.25, 2.2641, 4.0016),
    (2, 8, 0.51352, 0.125, 0.7246, 2.6550),
    (2.5, 13, 0.50377, 0.07692, 0.3897, 2.3720),
    (5, 149, 0.50070, 0.00671, 0.0273, 2.0245),
]


@pytest.mark.parametrize(("epsilon", "buckets", "p", "q", "s0", "s1"), TABLE)
def test_local_hashing_has_the_tabulated_moments(epsilon, buckets, p, q, s0, s1):
    """AT-1: to the printed decimals; the ratio that privacy rests on to 1e-12."""
    olh = OLH(float(epsilon), 1000)
    assert olh.buckets == buckets
    assert (round(olh.p, 5), round(olh.q, 5)) == (p, q)
    gap = (olh.p - olh.q) ** 2
    assert olh.q * (1 - olh.q) / gap == pytest.approx(s0, abs=6e-5)
    assert 1 + olh.p * (1 - olh.p) / gap == pytest.approx(s1, abs=6e-5)
    assert olh.p / ((1 - olh.p) / (olh.buckets - 1)) / exp(epsilon) == pytest.approx(1, abs=1e-12)


@cache
def factor(columns, size=125):
    """Return the factor of a table of numbers as published."""
    table = {"t": {"columns": {name: range(1, size + 1) for name in "abcd"[:columns]}}}
    return PublishedTables(table).layout(2.0).factors[0]


def wanted(*sets, size=125):
    return Target(factor(max(2, len(sets)), size), dict(enumerate(sets)))


def between(low, high, size=125):
    values = np.arange(size)
    return (values >= low) & (values <= high)


def rebuilt(tree, terms):
    """Return what the terms for one column, all others being everything, say about every value."""
    found = np.zeros(tree.size)
    for term in terms:
        own = sum(
            np.repeat(one, tree.width(level))[: tree.size]
            for level, one in enumerate(term.axes[0])
            if one is not None
        )
        rest = sum(
            one[0] for one in term.axes[1] if one is not None
        )  # any value of the second column
        found += term.weight * own * rest
    return found


@pytest.mark.parametrize(
    ("method", "step"), [("add", 3), ("signed", 41), ("rdc", 41), ("gls", 41), ("blue", 11)]
)
def test_every_way_rebuilds_every_range(method, step):
    """AT-11, 125 values; the costlier ways for every low end and a part of the high ends."""
    tree = Hierarchy(125, 5)
    for low in range(125):
        for high in range(low, 125, step):
            held = between(low, high)
            if held.all():
                continue
            (terms,) = coefficients(wanted(held), Method(method, k=4)).groups
            total = _blue_rebuilt(tree, terms) if method == "blue" else rebuilt(tree, terms)
            assert np.abs(total - held).max() < 1e-9


def _blue_rebuilt(tree, terms):
    """The second column's coefficients sum to one over the nodes that hold any value."""
    (term,) = terms
    sums = [
        sum(np.repeat(one, tree.width(level))[: tree.size] for level, one in enumerate(axis))
        for axis in term.axes
    ]
    assert np.abs(sums[1] - 1).max() < 1e-9
    return sums[0]


def test_the_published_pair_of_ranges_has_four_decompositions_of_nine_nodes():
    """AT-11: figure 5, [11, 25] of 25 values in two columns; the next ones of a column have seven
    nodes.
    """
    tree = Hierarchy(25, 5)
    found = smallest_sets(tree, between(10, 24, 25), 3)
    assert [len(one) for one in found] == [3, 3, 7]
    assert all((over_values(tree, one) == between(10, 24, 25)).all() for one in found)
    held = between(10, 24, 25)
    (terms,) = coefficients(wanted(held, held, size=25), Method("rdc")).groups
    sizes = [
        np.prod([sum(np.count_nonzero(one) for one in axis if one is not None) for axis in t.axes])
        for t in terms
    ]
    assert sizes == [9, 9, 9, 9]
    assert [term.weight for term in terms] == pytest.approx([0.25] * 4)


def squared(sets, way, size):
    return coefficients(wanted(*sets, size=size), way).squared_sum


@pytest.mark.parametrize(
    ("lengths", "left"), [((3, 3), 2.25), ((1, 2), 1.1111), ((4, 2, 3), 2.6667)]
)
def test_combined_decompositions_leave_what_lemma_9_says(lengths, left):
    """AT-12, through the coefficients of a question: l of five values, in as many columns."""
    sets = [between(0, length - 1, 5) for length in lengths]
    assert squared(sets, Method("rdc"), 5) == pytest.approx(left, abs=1e-4)
    assert squared(sets, Method("add"), 5) == pytest.approx(np.prod(lengths))


def test_the_best_coefficients_of_two_columns_are_those_of_all_their_pairs_of_nodes():
    """AT-13 in two dimensions: a dense least squares over the pairs of nodes has the same
    squares.
    """
    tree, sets = Hierarchy(8, 2), [between(1, 3, 8), between(2, 6, 8)]
    layout = PublishedTables({"t": {"columns": {"a": range(8), "b": range(8)}}}, fanout=2).layout(
        2.0
    )
    found = coefficients(
        Target(layout.factors[0], dict(enumerate(sets))), Method("blue")
    ).squared_sum
    nodes = [(level, node) for level in range(tree.height + 1) for node in range(tree.nodes(level))]
    holds = np.array([over_values(tree, {one: 1.0}) for one in nodes]).T
    dense = np.linalg.pinv(np.kron(holds, holds)) @ np.kron(*[one.astype(float) for one in sets])
    assert found == pytest.approx((dense**2).sum(), abs=1e-8)


def collisions(hashed, buckets):
    """Return how far pairs and triples that meet in one bucket are from 1/g and 1/g^2, in standard
    deviations.
    """
    pair, triple = hashed[0] == hashed[1], (hashed[0] == hashed[1]) & (hashed[1] == hashed[2])
    scores = []
    for met, chance in ((pair, 1 / buckets), (triple, 1 / buckets**2)):
        scores.append((met.mean() - chance) / np.sqrt(chance * (1 - chance) / len(met)))
    return np.abs(scores)


@pytest.mark.parametrize("values", [(0, 1, 2), (3, 5, 6), (0, 4096, 8191)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_pairs_and_triples_of_cells_meet_as_often_as_independent_ones(values, epsilon):
    """AT-21: over 10^6 seeds; counted seeds, that a weak hash would show."""
    olh, seeds = OLH(epsilon, 10_000), np.arange(1_000_000, dtype=np.uint32)
    hashed = [olh.hash(np.full(1, value), seeds) for value in values]
    assert (collisions(hashed, olh.buckets) < FIVE_SIGMA).all()
    linear = [(seeds * np.uint32(2 * value + 1)) % olh.buckets for value in values]
    assert (collisions(linear, olh.buckets) > 10 * FIVE_SIGMA).any()


def test_groups_sum_to_the_whole_exactly_where_they_are_of_the_same_cells():
    """AT-18: from leaves alone, and with the best coefficients, which are linear in what is
    wanted.
    """
    population = syn_1(20_000, size=25)
    whole = "SELECT COUNT(*) FROM t WHERE a BETWEEN 6 AND 17"
    for settings, options in (
        ({"method": "mg", "published": True}, ""),
        ({}, " WITH (METHOD = BLUE)"),
    ):
        database = population.collected(2.0, seed=1, **settings)
        groups = database.sql(f"{whole.replace('COUNT', 'b, COUNT')} GROUP BY b{options}")
        parts = [row[0].value for row in groups.figures]
        assert len(parts) == 25
        assert sum(parts) == pytest.approx(database.sql(whole + options).figure.value, rel=1e-9)


def test_groups_sum_to_the_whole_in_expectation_where_cells_differ():
    """AT-18: as published every group is a leaf, the whole a root; in errors of both."""
    database = pums_p(200_000).collected(5.0, seed=2, published=True)
    whole = database.sql("SELECT COUNT(*) FROM persons WHERE age BETWEEN 31 AND 50").figure
    groups = database.sql(
        "SELECT marst, COUNT(*) FROM persons WHERE age BETWEEN 31 AND 50 GROUP BY marst"
    )
    parts = [row[0] for row in groups.figures]
    gap = sum(one.value for one in parts) - whole.value
    error = np.sqrt(whole.variance + sum(one.variance for one in parts))
    assert gap != 0
    assert abs(gap) < FIVE_SIGMA * error
    assert abs(gap + parts[0].value) > FIVE_SIGMA * error  # a group counted twice


EXAMPLES = {
    "E1": "SELECT COUNT(*) FROM users WHERE Age BETWEEN 20 AND 40 AND State = 'NY'",
    "E2": "SELECT SUM(Income) FROM users WHERE Age BETWEEN 20 AND 40",
    "E3": "SELECT AVG(Income) FROM users WHERE Income >= 1000 AND OS = 'iOS'",
    "E4": "SELECT AVG(Amount) FROM txn JOIN users ON users.UID = txn.UID "
    "WHERE Category = 'Sports' AND Age IN [20, 40]",
    "E5": "SELECT SUM(Income) FROM users JOIN txn USING (UID) WHERE Category = 'Books'",
    "E6": "SELECT COUNT(*) FROM txn WHERE Amount > 100",
    "E7": "SELECT State, COUNT(*) AS c FROM users JOIN txn USING (UID) "
    "GROUP BY State ORDER BY c DESC",
    "E8": "SELECT COUNT(*) FROM users WHERE Age < 20 OR State = 'WA' WITH (METHOD = BLUE)",
}


@cache
def shop():
    """Return users and their transactions; incomes stand in the middle of their buckets, as they
    are estimated.
    """
    dice, users = np.random.default_rng(8), 30_000
    owners = np.repeat(np.arange(users), dice.integers(0, 6, users))
    tables = {
        "users": {
            "columns": {
                "Age": range(1, 126),
                "Income": Buckets(0.0, 250_000.0, 125),
                "State": ("NY", "WA", "CA"),
            },
            "public": {"OS": ("iOS", "Android")},
        },
        "txn": {
            "columns": {"Amount": range(1, 626), "Category": ("Sports", "Books", "Food")},
            "most": 10,
        },
    }
    ages = np.clip(dice.normal(40, 15, users).round(), 1, 125).astype(int)
    data = {
        "users": {
            "Age": ages,
            "Income": dice.integers(5, 60, users) * 2000.0 + 1000,
            "State": np.array(["NY", "WA", "CA"])[dice.choice(3, users, p=[0.5, 0.3, 0.2])],
            "OS": np.array(["iOS", "Android"])[dice.integers(0, 2, users)],
        },
        "txn": {
            "uid": owners,
            "Amount": dice.integers(1, 626, len(owners)),
            "Category": np.array(["Sports", "Books", "Food"])[dice.integers(0, 3, len(owners))],
        },
    }
    return Population(tables, data)


@cache
def shopping():
    return shop().collected(8.0, seed=1)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_explained_and_answered(name):
    """AT-20: beside what an ordinary database says, within the error of its own answer."""
    text, database = EXAMPLES[name], shopping()
    explained = database.sql(f"EXPLAIN {text}")
    assert isinstance(explained, Explanation)
    assert explained.to_dict()["epsilon of a record"] == 4.0
    found = database.sql(text)
    plain = text.replace("IN [20, 40]", "BETWEEN 20 AND 40").partition(" WITH")[0]
    truth = {row[:-1]: float(row[-1]) for row in shop().truth(plain)}
    assert {tuple(labels) for labels in found.groups} == set(truth)
    for labels, (figure,) in zip(found.groups, found.figures, strict=True):
        assert abs(figure.value - truth[tuple(labels)]) < FIVE_SIGMA * figure.error
        assert figure.error > 0
    values = [row[0].value for row in found.figures]
    assert values == sorted(values, reverse=True)
