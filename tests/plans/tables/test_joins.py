"""Joins across services: products of everybody's scores, their noise, their intervals, and what may
be left out.

Source: Xu 2020, sections 4 and 5.
"""

from functools import cache, reduce
from itertools import product

import numpy as np
import pytest

from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.tables import Population, contributions, syn_2
from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.decompositions import additive
from sottovoce.plans.tables.result import Figure

PEOPLE, SIZE, LABELS, MOST = 200_000, 5, 2, 4
LAYERS = 2 * 2  # of a number of 5 values and a label
JOINED = "FROM one JOIN two USING (uid) WHERE a BETWEEN 2 AND 4 AND c = 'k1' AND b BETWEEN 1 AND 3"
NODES = 3  # of either range


@cache
def people(most=0, rows=1):
    return syn_2(PEOPLE, most=most, size=SIZE, labels=LABELS, rows=rows)


@cache
def collected(method="hio", published=True, most=0, rows=1, epsilon=6.0):
    return people(most, rows).collected(epsilon, seed=5, method=method, published=published)


def second_moments(epsilon):
    olh = OLH(epsilon, 1000)
    gap = (olh.p - olh.q) ** 2
    return olh.q * (1 - olh.q) / gap, 1 + olh.p * (1 - olh.p) / gap


def inverted(mechanisms, bits):
    """The last entry of the inverse of the matrix of all states, for one pattern of supports."""
    matrix = reduce(np.kron, [np.array([[1 - m.q, 1 - m.p], [m.q, m.p]]) for m in mechanisms])
    place = int("".join(str(int(bit)) for bit in bits), 2)
    return np.linalg.solve(matrix, np.eye(len(matrix))[place])[-1]


@pytest.mark.parametrize("services", [1, 2, 3, 4])
def test_a_product_of_votes_is_the_inverted_matrix_of_states(services):
    """AT-2, for all patterns of supports."""
    mechanisms = [OLH(epsilon, 100) for epsilon in (0.5, 1.0, 1.7, 2.5)[:services]]
    for bits in product([False, True], repeat=services):
        votes = np.prod(
            [(bit - m.q) / (m.p - m.q) for bit, m in zip(bits, mechanisms, strict=True)]
        )
        assert inverted(mechanisms, bits) == pytest.approx(votes, rel=1e-12)


def cells_of(low, high, label):
    """Return level, node and label, or None for any, of every cell of a condition."""
    return [(level, node, label) for level, node in additive(Hierarchy(SIZE, 5), low - 1, high - 1)]


def supports(database, slot, level, node, label):
    """Return who was asked about the layer of a cell, and whether their report supports it."""
    family = next(f.slots[0] for f in database.layout.factors if f.slots[0].number == slot).family
    width, labelled = Hierarchy(SIZE, 5).width(level), label is not None
    asked, told = np.zeros(PEOPLE, bool), np.zeros(PEOPLE, bool)
    for address, batch in database.collected.batches.items():
        cell = family.cell(address.member)
        if address.slot == slot and cell.widths == (width, 1 if labelled else LABELS):
            index = node * LABELS + label if labelled else node
            asked[batch.subjects] = True
            told[batch.subjects] = family[address.member].mechanism.support(
                batch.reports, np.array([index])
            )[:, 0]
    return asked, told


def test_the_factorised_join_is_the_sum_over_all_pairs_of_cells():
    """AT-3: people whose layers match, counted by state, the matrix of states inverted, times all
    layers.
    """
    database, total = collected(), 0.0
    mechanism = database.layout.factors[0].slots[0].family.mechanisms[0]
    for one, other in product(cells_of(2, 4, 1), cells_of(1, 3, None)):
        (asked_1, told_1), (asked_2, told_2) = (
            supports(database, 0, *one),
            supports(database, 1, *other),
        )
        both = asked_1 & asked_2
        for bits in product([False, True], repeat=2):
            count = (both & (told_1 == bits[0]) & (told_2 == bits[1])).sum()
            total += LAYERS**2 * count * inverted([mechanism] * 2, bits)
    assert database.sql(f"SELECT COUNT(*) {JOINED}").figure.value == pytest.approx(total, rel=1e-9)


def squares(database, text):
    z = contributions(database, text)[:, 0]
    return (z**2).sum(), np.sqrt((z**4).sum())


def states():
    """Return who meets the conditions of each table."""
    one, two = (people().data[name] for name in ("one", "two"))
    return (one["a"] >= 2) & (one["a"] <= 4) & (one["c"] == "k1"), (two["b"] <= 3)


def hio_join(epsilon):
    s0, s1 = second_moments(epsilon / 2)
    first, second = states()
    return (LAYERS**2 * (NODES * s0 + (s1 - s0) * first) * (NODES * s0 + (s1 - s0) * second)).sum()


def sc_join(epsilon):
    """Three attributes with the coin of the number, each of one level below its root and with its
    own report.
    """
    each = second_moments(epsilon / 2 / 3)
    one, two = (people().data[name] for name in ("one", "two"))
    met = [((one["a"] >= 2) & (one["a"] <= 4), NODES, each), (one["c"] == "k1", 1, each)]
    met.append((two["b"] <= 3, NODES, each))
    return np.prod([nodes * s0 + (s1 - s0) * held for held, nodes, (s0, s1) in met], axis=0).sum()


@pytest.mark.parametrize(("method", "formula"), [("hio", hio_join), ("sc_join", sc_join)])
def test_squared_contributions_to_a_join_are_what_the_formulas_say(method, formula):
    """AT-5, section 5: HIO-JOIN and SC-JOIN."""
    found, error = squares(collected(method), f"SELECT COUNT(*) {JOINED}")
    assert abs(found - formula(6.0)) < FIVE_SIGMA * error, (found / formula(6.0), error / found)
    assert FIVE_SIGMA * error < 0.25 * found
    assert abs(found - formula(5.0)) > FIVE_SIGMA * error  # another budget


@cache
def drawn(rows):
    """Return everybody's label and up to MOST numbers of each: one and four layers, so that squares
    are precise.
    """
    dice = np.random.default_rng(4)
    owners = np.repeat(np.arange(PEOPLE), dice.integers(0, MOST + 1, PEOPLE))
    tables = {
        "one": {"columns": {"c": ("k0", "k1")}},
        "two": {"columns": {"b": range(1, SIZE + 1)}, "most": MOST},
    }
    tables["two"]["rows"] = rows
    data = {"c": np.array(["k0", "k1"])[dice.integers(0, 2, PEOPLE)]}
    return Population(
        tables, {"one": data, "two": {"uid": owners, "b": dice.integers(1, SIZE + 1, len(owners))}}
    )


def truncated(rows, epsilon, *, shared=True):
    """The expected sum of squares of COUNT with ``rows`` of up to MOST records reported: section
    6.
    """
    data = drawn(rows).data
    s0, s1 = second_moments(epsilon / (1 + rows))
    counted = (
        np.bincount(data["two"]["uid"], data["two"]["b"] <= NODES, PEOPLE) / MOST
    )  # of those that count at all
    weight = MOST / rows
    e1 = s0 + (s1 - s0) * (data["one"]["c"] == "k1")
    e2 = 2 * 2 * weight**2 * (2 * NODES * s0 + (s1 - s0) * counted)
    return (rows * e1 * e2 + shared * rows * (rows - 1) * e1 * (weight * counted) ** 2).sum()


@cache
def measured(rows):
    database = drawn(rows).collected(5.0, seed=6, method="ahio", published=True)
    return squares(
        database, f"SELECT COUNT(*) FROM one JOIN two USING (uid) WHERE c = 'k1' AND b <= {NODES}"
    )


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_squared_contributions_of_drawn_records_are_what_the_formula_says(rows):
    """AT-5, section 6."""
    found, error = measured(rows)
    assert abs(found - truncated(rows, 5.0)) < FIVE_SIGMA * error, (
        found / truncated(rows, 5.0),
        error / found,
    )
    assert FIVE_SIGMA * error < 0.12 * found


@pytest.mark.parametrize("rows", [2, 4])
def test_more_reported_records_cost_what_the_formula_says(rows):
    """AT-16: the budget is split among them, and that costs more than they bring."""
    (more, of_more), (one, of_one) = measured(rows), measured(1)
    stated, relative = (
        truncated(rows, 5.0) / truncated(1, 5.0),
        np.hypot(of_more / more, of_one / one),
    )
    assert more / one == pytest.approx(stated, rel=FIVE_SIGMA * relative)
    assert FIVE_SIGMA * relative < 0.15
    assert stated > 1.5
    assert truncated(1, 5.0) / truncated(1, 3.0) < 0.5  # the budget shows


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("rows", [1, 3])
def test_joins_with_drawn_records_are_unbiased(rows, published):
    population = syn_2(PEOPLE // 2, most=MOST, size=SIZE, labels=LABELS, rows=rows)
    database = population.collected(
        4.0 * (1 + rows), seed=7, method="ahio" if published else "hio", published=published
    )
    for wanted in ("COUNT(*)", "SUM(a)", "SUM(b)"):
        text = f"SELECT {wanted} FROM one JOIN two USING (uid) WHERE a <= 3 AND d = 'k1'"
        figure = database.sql(text).figure
        assert abs(figure.value - population.truth(text)[0][0]) < FIVE_SIGMA * figure.error
        assert abs(figure.value) > 2.5 * figure.error  # or a bias would not show


RUNS, EACH, BUDGET = 500, 400, 4.0


@cache
def repeated():
    """Return one collection in which a public column tells the runs apart: everybody takes part in
    each of them.
    """
    once = syn_2(EACH, size=5, labels=3)
    data = {
        name: {column: np.tile(held, RUNS) for column, held in one.items() if column != "uid"}
        for name, one in once.data.items()
    }
    data["one"]["run"] = np.repeat(np.arange(RUNS), EACH)
    tables = {**once.tables, "one": {**once.tables["one"], "public": {"run": range(RUNS)}}}
    return once, Population(tables, data).collected(BUDGET, seed=9)


def covered(text):
    """Return how often the interval of every number contains the truth over all runs, and values by
    their errors.
    """
    once, database = repeated()
    truth = once.truth(text)[0]
    found = database.sql(text.replace("SELECT", "SELECT run,") + " GROUP BY run")
    assert len(found) == RUNS
    hits = [
        [
            low <= true <= high
            for (low, high), true in zip((one.interval() for one in row), truth, strict=True)
        ]
        for row in found.figures
    ]
    sizes = np.array([[abs(one.value) / one.error for one in row] for row in found.figures])
    return np.mean(hits, axis=0), np.median(sizes, axis=0)


JOINT_COUNT = "SELECT COUNT(*) FROM one JOIN two USING (uid) WHERE a <= 3 AND d = 'k1'"


def test_intervals_contain_the_truth_as_often_as_they_say():
    """AT-17: 95 % of a joint count, and of an average whose count is more than ten standard
    errors.
    """
    joint, _ = covered(JOINT_COUNT)
    stable, sizes = covered("SELECT COUNT(*), AVG(a) FROM one WHERE c <> 'k0'")
    assert 0.91 <= joint[0] <= 0.98, joint
    assert 0.91 <= stable[1] <= 0.98, stable
    assert sizes[0] > 10


def test_intervals_of_half_their_width_are_caught(monkeypatch):
    interval = Figure.interval
    half = 0.673  # the level of an interval of 0.98 standard errors
    monkeypatch.setattr(Figure, "interval", lambda self, level=half: interval(self, level))
    assert covered(JOINT_COUNT)[0][0] < 0.8


@pytest.mark.parametrize("published", [True, False])
def test_a_table_of_single_records_that_is_not_used_changes_no_digit(published):
    """AT-19: what is true of everybody is a factor of exactly 1; a list in the join counts its
    records.
    """
    single, many = (
        collected(published=published),
        collected(published=published, most=MOST, epsilon=8.0),
    )
    condition = "WHERE a BETWEEN 2 AND 4 AND c = 'k1'"
    alone, joined = (
        f"SELECT COUNT(*) FROM {tables} {condition}"
        for tables in ("one", "one JOIN two USING (uid)")
    )
    one, other = single.sql(alone).figure, single.sql(joined).figure
    assert (one.value, one.variance) == (other.value, other.variance)
    one, other = many.sql(alone).figure, many.sql(joined).figure
    assert other.value - one.value > FIVE_SIGMA * other.error  # 2.5 records of everybody
    assert abs(other.value - people(MOST).truth(joined)[0][0]) < FIVE_SIGMA * other.error


def test_layers_of_two_services_are_picked_independently():
    """One coin for both would ask everybody about the same layer twice, and products would be
    biased.
    """
    members = np.zeros((2, PEOPLE), np.int64)
    for address, batch in collected().collected.batches.items():
        members[address.slot, batch.subjects] = address.member
    counts = np.bincount(members[0] * LAYERS + members[1], minlength=LAYERS**2)
    expected = PEOPLE / LAYERS**2
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < (LAYERS**2 - 1) + FIVE_SIGMA * np.sqrt(2 * (LAYERS**2 - 1)) + FIVE_SIGMA**2
    same = (
        contributions(collected(), f"SELECT COUNT(*) {JOINED}")[:, 0]
        * (members[0] == members[1])
        * LAYERS
    )
    truth = people().truth(f"SELECT COUNT(*) {JOINED}")[0][0]
    assert abs(same.sum() - truth) > FIVE_SIGMA * np.sqrt(
        (same**2).sum()
    )  # as if there had been one coin
