"""What is decoded from the sums of layers is what scoring everybody gives: totals to the last
digits, errors up to their own spread.
"""

from functools import cache

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.experiments.tables import contributions
from sottovoce.plans.tables import state
from sottovoce.plans.tables.coefficients import AxisProduct, Coefficients
from sottovoce.plans.tables.decoding import table_size
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.source import Source
from sottovoce.sql.reading import read

USERS = 6_000
QUERIES = [
    "SELECT a, COUNT(*) AS n FROM people GROUP BY a",
    "SELECT a, b, COUNT(*) AS n FROM people GROUP BY a, b",
    "SELECT b, SUM(a) AS n FROM people WHERE a BETWEEN 2 AND 9 GROUP BY b",
    "SELECT b, AVG(a) AS n FROM people GROUP BY b",
    "SELECT b, FREQ(*) AS n FROM people WHERE a > 3 GROUP BY b",
    "SELECT b, COUNT(*) AS n FROM people WHERE a < 3 OR (a > 5 AND c = 1) OR c = 2 GROUP BY b",
]


# With a workload layers are weighed, and a total has several terms.
WORKLOAD = (QUERIES[0], QUERIES[1], QUERIES[5])


@cache
def database(workload=None):
    dice = np.random.default_rng(5)
    held = {
        "a": np.minimum(dice.poisson(4, USERS), 11),
        "b": dice.choice(["x", "y", "z"], USERS, p=[0.5, 0.3, 0.2]),
        "c": dice.integers(0, 4, USERS),
    }
    plan = sv.Table(
        {"a": range(12), "b": ["x", "y", "z"], "c": range(4)}, fanout=4, workload=workload
    )
    return sv.simulate(sv.Task("t", plan, 3.0), held, seed=2)


def asked(text, workload=None):
    return database(workload).sql(text)


@pytest.mark.parametrize(
    ("text", "workload"), [(text, workload) for workload in (None, WORKLOAD) for text in QUERIES]
)
def test_decoded_answers_are_those_of_scored_people(text, workload, monkeypatch):
    scored = asked(text, workload)
    monkeypatch.setattr(state, "MAX_SCORES", 1)
    decoded = asked(text, workload)
    assert state.DECODED in decoded.statement
    assert state.DECODED not in scored.statement
    assert [row.labels for row in decoded.table] == [row.labels for row in scored.table]
    assert (decoded.users, decoded.notices) == (scored.users, scored.notices)
    found = [row.figures[0] for row in decoded.table]
    wanted = [row.figures[0] for row in scored.table]
    values = [figure.value for figure in wanted]
    np.testing.assert_allclose([figure.value for figure in found], values, rtol=1e-9, atol=1e-6)
    # Two estimates of one variance: by the law and by the squares of the scores, whose mean has
    # this relative standard error.
    squares = contributions(database(workload), text) ** 2
    spread = (squares.std(axis=0) / squares.mean(axis=0)).max() / np.sqrt(USERS)
    ratios = np.array([new.variance / old.variance for new, old in zip(found, wanted, strict=True)])
    print(f"variance ratios {ratios.min():.3f} to {ratios.max():.3f}, spread {spread:.3f}")
    assert (np.abs(ratios - 1) < 5 * spread).all()
    assert (np.abs(2 * ratios - 1) > 5 * spread).all()  # twice as much would be noticed


def test_explain_says_that_an_answer_is_decoded(monkeypatch):
    text = f"EXPLAIN {QUERIES[0]}"
    scored = asked(text).facts
    assert scored["answered from"] == f"12 x {USERS:,} scores of reports"
    assert scored["limit"] == (
        "reports are scored up to 33,554,432 scores, beyond that sums are decoded"
    )
    monkeypatch.setattr(state, "MAX_SCORES", 1)
    assert asked(text).facts["answered from"] == f"12 totals, {state.DECODED}"


def test_the_table_is_as_large_as_the_combinations_of_different_vectors():
    first, second, third = ((np.ones(2),), (np.zeros(2),), (np.ones(2),))
    single = [
        Coefficients(((AxisProduct(1.0, (first, third)),),)),
        Coefficients(((AxisProduct(1.0, (second, third)),),)),
    ]
    both = np.array([[0, 0], [1, 1]])
    assert table_size(single, both) == 2
    assert table_size(single, np.array([[0, 0], [0, 1], [1, 1]])) == 3
    twice = [Coefficients(((AxisProduct(1.0, (first, third)), AxisProduct(1.0, (second, first))),))]
    assert table_size(twice, np.array([[0, 0]])) == 3**2  # on each axis: two squares, one product


def test_groups_of_two_columns_under_a_workload_share_their_vectors():
    """Without that every group would have vectors of its own, and the table their square."""
    query = read(QUERIES[1], database(WORKLOAD).layout.tables)
    plan = plan_query(query, Source(database(WORKLOAD).layout))
    (scoring,) = plan.scorings.values()
    own = np.arange(len(scoring.columns))
    size = table_size(scoring.columns, np.stack([own, own], axis=1))
    terms = [len(column.groups[0]) for column in scoring.columns]
    print(f"{size} combinations for {len(own)} groups of {max(terms)} terms")
    assert max(terms) > 1
    assert size < len(own) * max(terms) ** 4
