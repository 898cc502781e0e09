"""Published methods are runnable in the laboratory, and no document can name them."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.tables.layouts import LAYOUTS
from sottovoce.lab.baselines.tables.plan import PublishedTables, published_table
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.source import Source
from sottovoce.tasks.plan import Plan
from sottovoce.wire import codec

COLUMNS = {"age": range(8), "home": ["flat", "house"]}


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("method", LAYOUTS)
def test_every_method_is_simulated_and_close_to_the_truth(method, published):
    people = {
        "age": np.arange(20_000) % 8,
        "home": np.array(["flat", "house"])[np.arange(20_000) // 8 % 2],
    }
    plan = published_table(COLUMNS, method, fanout=2, published=published)
    database = sv.simulate(sv.Task("t", plan, 6.0), people, seed=1)
    figure = database.sql("SELECT COUNT(*) FROM people WHERE age > 3 AND home = 'flat'").figure
    assert abs(figure.value - 5000) < FIVE_SIGMA * figure.error
    assert database.layout.name == method
    words = "as published" if published else "affine response"
    assert (
        database.sql("EXPLAIN SELECT COUNT(*) FROM people").facts["collected by"]
        == f"{method}, {words}"
    )


def test_a_document_cannot_name_it():
    with pytest.raises(ParameterError, match="unknown plan kind"):
        Plan.kinds["published_tables"]
    task = sv.Task("t", published_table(COLUMNS), 1.0)
    with pytest.raises(ParameterError, match="unknown plan kind"):
        codec.task(codec.document(task))


def test_it_takes_the_tables_of_a_plan_or_their_settings():
    table = sv.Table(COLUMNS, name="t", fanout=3)
    assert PublishedTables(table, fanout=3).domain == table.domain
    joint = PublishedTables({"t": {"columns": COLUMNS}}, "ahio")
    assert joint.domain.names == ("t",)
    with pytest.raises(ParameterError, match="`method` must be one of hio, hi"):
        PublishedTables(table, "magic")


def test_the_product_asks_what_hio_asks_with_the_same_mechanisms():
    table = sv.Table(COLUMNS, fanout=2)
    assert (
        PublishedTables(table, fanout=2, published=False).layout(2.0).ask == table.layout(2.0).ask
    )


def test_the_marginal_of_the_asked_columns_has_the_exact_variance():
    """Wang 2021, section 7.2: cells of the marginal of two columns of three, one by one."""
    columns = {"age": range(8), "home": ["flat", "house"], "visits": range(30)}
    plan = published_table(columns, "mg", asked=("home", "age"))
    source = Source(plan.layout(2.0))
    text = "SELECT COUNT(*) FROM people WHERE age BETWEEN 2 AND 4 AND home = 'flat'"
    noise = OLH(2.0, 16).noise
    exact = 3 * noise.unheld + 3 / 16 * noise.held
    assert plan_query(read(text, source), source).variances[0] == pytest.approx(exact)
    whole = Source(published_table(columns, "mg").layout(2.0))
    assert plan_query(read(text, whole), whole).variances[0] > 25 * exact
    with pytest.raises(ParameterError, match="no report is about the column 'visits'"):
        plan_query(read("SELECT AVG(visits) FROM people", source), source)
    with pytest.raises(ParameterError, match="`asked`"):
        published_table(columns, "hio", asked=("age",))
    with pytest.raises(ParameterError, match="`asked`"):
        plan_query(
            read(text, source), Source(published_table(columns, "mg", asked=("x",)).layout(1.0))
        )


def test_the_partition_is_the_numbers_all_columns_or_those_that_are_named():
    def rounded(partition):
        layout = published_table(COLUMNS, "ahio", partition=partition).layout(1.0)
        return layout.rounded_columns(0)

    assert [rounded(each) for each in ("numbers", "all", ("home",))] == [(0,), (0, 1), (1,)]
    for wrong in ("age", ("x",), ()):
        with pytest.raises(ParameterError, match="`partition` must be 'numbers', 'all'"):
            rounded(wrong)
    with pytest.raises(ParameterError, match="methods amg, ahio, ehio, sr_hio"):
        published_table(COLUMNS, "hio", partition="all")


def test_everybody_can_be_partitioned_over_all_columns_in_a_simulation():
    people = {
        "age": np.arange(20_000) % 8,
        "home": np.array(["flat", "house"])[np.arange(20_000) // 8 % 2],
    }
    for method in ("ahio", "ehio", "amg"):
        plan = published_table(COLUMNS, method, fanout=2, partition="all")
        database = sv.simulate(sv.Task("t", plan, 6.0), people, seed=2)
        figure = database.sql("SELECT SUM(age) FROM people WHERE home = 'flat'").figure
        assert abs(figure.value - 35_000) < FIVE_SIGMA * figure.error
