"""What the engine returns: a row for every public group, with sums over nobody taken as nothing."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.run import EngineRows, run
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.state import Statement, state
from sottovoce.sql.reading import read

NUMBERED = Statement(plan=None, rows=(), scorings={}, totals={7: 0, 9: 1}, tree=None)


COLUMNS = {
    "users": [3, 2],
    "people": [2, None],
    "g0": ["free", "paid"],
    "t0": [1.5, None],
    "t1": np.ma.masked_array([4.0, 5.0], [False, True]),
    "m0_1": [6.0, 7.0],
}


def test_totals_and_squares_have_the_numbers_of_the_plan():
    rows = EngineRows(NUMBERED, COLUMNS)
    assert len(rows) == 2
    assert rows.total(7, 0) == 1.5
    assert rows.square(9, 7, 1) == rows.square(7, 9, 1) == 7.0
    assert rows.key(0, 1) == "paid"


def test_a_sum_over_nobody_is_nothing_and_people_are_those_who_meet_the_condition():
    rows = EngineRows(NUMBERED, COLUMNS)
    assert (rows.total(7, 1), rows.total(9, 1)) == (0.0, 0.0)
    assert (rows.users, rows.people) == ([3, 2], [2, 0])
    unfiltered = {name: column for name, column in COLUMNS.items() if name != "people"}
    assert EngineRows(NUMBERED, unfiltered).people == [3, 2]


def test_the_engine_counts_people_by_public_group():
    columns, public = {"age": range(4)}, {"plan": ["free", "paid"]}
    task = sv.Task("t", sv.Table(columns, public=public), epsilon=4.0)
    people = {"age": [0, 1, 2, 3] * 25, "plan": ["free", "free", "free", "paid"] * 25}
    database = sv.simulate(task, people, seed=1)
    source = Source(database.layout, database.collected)
    text = "SELECT plan, SUM(age) AS years FROM people GROUP BY plan"
    plan = plan_query(read(text, source.layout.tables), source)
    (rows,) = run(state(plan, source), source)
    assert dict(zip((rows.key(0, group) for group in range(2)), rows.users, strict=True)) == {
        "free": 75,
        "paid": 25,
    }
    figures = database.sql(text).rows()
    total = plan.rows[0].numbers[0].totals[0]
    assert rows.total(total, 0) == pytest.approx(figures[0]["years"], rel=1e-9)
