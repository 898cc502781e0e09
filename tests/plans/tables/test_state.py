"""The statement of a query: ordinary SQL with the columns that its page names, split by memory."""

import pytest

import sottovoce as sv
from sottovoce.plans.tables import state as module
from sottovoce.plans.tables.pipeline import plan_query
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.state import relation, state, stated
from sottovoce.sql.reading import read

PEOPLE = {
    "age": [1, 2, 3, 4] * 50,
    "home": ["flat", "house"] * 100,
    "plan": ["free", "paid"] * 100,
}


@pytest.fixture(scope="module")
def source():
    columns = {"age": range(8), "home": ["flat", "house"]}
    task = sv.Task("t", sv.Table(columns, public={"plan": ["free", "paid"]}), epsilon=4.0)
    database = sv.simulate(task, PEOPLE, seed=1)
    return Source(database.layout, database.collected)


def plan(source, text):
    return plan_query(read(text, source.layout.tables), source)


def statement(source, text, one_report_each=True):
    made = plan(source, text)
    return stated(made, made.rows, one_report_each)


def sql(source, text, one_report_each=True):
    return statement(source, text, one_report_each).tree.sql(dialect="duckdb")


def test_a_total_and_its_square_are_summed_over_people(source):
    text = sql(source, "SELECT COUNT(*) FROM people WHERE age > 3")
    assert text.startswith("WITH f0 AS (SELECT person, s0 AS f0_0 FROM factor_0)")
    assert "COUNT(*) AS users, SUM(z0) AS t0, SUM(z0 * z0) AS m0_0 FROM z" in text
    assert "people" not in text, "no public column is read"
    assert relation(0) == "factor_0"


def test_who_has_another_number_of_reports_is_left_out_unless_all_have_one(source):
    question = "SELECT COUNT(*) FROM people WHERE age > 3"
    assert "HAVING" not in sql(source, question)
    assert "GROUP BY person HAVING COUNT(*) = 1" in sql(source, question, one_report_each=False)


def test_public_columns_group_and_filter_in_the_engine(source):
    text = sql(source, "SELECT plan, COUNT(*) FROM people WHERE plan = 'free' GROUP BY plan")
    assert "p0 AS g0" in text
    assert "p0 = 'free'" in text
    assert text.endswith("FROM z GROUP BY g0 ORDER BY g0")


def test_public_numbers_in_buckets_are_grouped_by_bucket():
    """Not by the number itself, which would be a row for almost every person."""
    table = sv.Table({"home": ["flat", "house"]}, public={"spent": sv.Buckets(0, 100, 4)})
    spent = [0.5, 24.99, 25.0, 60.0, 99.0, 100.0] * 10
    people = {"home": ["flat"] * 60, "spent": spent}
    db = sv.simulate(sv.Task("t", table, epsilon=1.0), people, seed=1)
    result = db.sql("SELECT spent, COUNT(*) AS n FROM people GROUP BY spent ORDER BY spent")
    assert [row.labels[0] for row in result.table] == [
        "0 to 25",
        "25 to 50",
        "50 to 75",
        "75 to 100",
    ]
    assert [row[0].value for row in result.figures] == [20, 10, 10, 20]


def test_an_average_needs_the_product_of_its_two_totals(source):
    made = statement(source, "SELECT AVG(age) FROM people")
    assert sorted(made.totals.values()) == [0, 1]
    assert "SUM(z0 * z1) AS m0_1" in made.tree.sql(dialect="duckdb")


def test_only_the_scores_that_are_used_are_computed(source):
    made = plan(source, "SELECT age, COUNT(*) FROM people GROUP BY age")
    few = stated(made, made.rows[:2], True)
    assert len(few.scorings[0].columns) == 2
    assert len(stated(made, made.rows, True).scorings[0].columns) == 8


def test_rows_are_split_so_that_their_scores_fit_in_memory(source, monkeypatch):
    made = plan(source, "SELECT age, COUNT(*) FROM people WHERE plan = 'free' GROUP BY age")
    assert len(state(made, source)) == 1
    monkeypatch.setattr(module, "MAX_SCORES", 3 * 200)
    parts = state(made, source)
    assert [len(part.rows) for part in parts] == [3, 3, 2]
    assert tuple(row for part in parts for row in part.rows) == made.rows


def test_more_scores_than_fit_are_decoded_where_every_total_is_one_score(source, monkeypatch):
    made = plan(source, "SELECT age, COUNT(*) FROM people GROUP BY age")
    monkeypatch.setattr(module, "MAX_SCORES", 8 * 200)
    assert state(made, source)[0].tree is not None
    monkeypatch.setattr(module, "MAX_SCORES", 8 * 200 - 1)
    (decoded,) = state(made, source)
    assert decoded.tree is None
    assert decoded.rows == made.rows
    assert decoded.text == f"-- {module.DECODED}: 8 totals"


def test_many_targets_are_decoded_where_their_cells_are_many(source, monkeypatch):
    made = plan(source, "SELECT age, COUNT(*) FROM people GROUP BY age")
    monkeypatch.setattr(module, "MAX_SCORES", 8 * 1_001)
    assert not module.way_of(made, 1_000).decoded
    monkeypatch.setattr(module, "MANY_TARGETS", 8)
    assert module.way_of(made, 1_000).decoded
    assert not module.way_of(made, 999).decoded


@pytest.mark.parametrize(
    "text",
    [
        "SELECT age, COUNT(*) FROM people WHERE plan = 'free' GROUP BY age",
        "SELECT plan, age, COUNT(*) FROM people GROUP BY plan, age",
        "SELECT age, COUNT(*) FROM people GROUP BY age WITH (SCALE = HAJEK)",
    ],
)
def test_what_depends_on_public_columns_or_shares_is_scored(source, monkeypatch, text):
    monkeypatch.setattr(module, "MAX_SCORES", 1)
    assert not module.way_of(plan(source, text), 200).decoded


def test_layers_and_tables_that_do_not_fit_are_not_decoded(source, monkeypatch):
    made = plan(source, "SELECT age, COUNT(*) FROM people GROUP BY age")
    monkeypatch.setattr(module, "MAX_SCORES", 1)
    assert module.way_of(made, 200).decoded
    for limit in ("MAX_CELLS", "MAX_TABLE"):
        with monkeypatch.context() as patched:
            patched.setattr(module, limit, 3)
            assert not module.way_of(made, 200).decoded
