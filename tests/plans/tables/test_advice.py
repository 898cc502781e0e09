"""Advice: the errors it states are those of the plans it names, and what it names is the best of
them.
"""

import json
from math import sqrt

import pytest

import sottovoce as sv
from plans.tables.plans import plan
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.tables.layouts import LAYOUTS
from sottovoce.plans.tables.advice import FANOUTS, advise_tables, rate_layouts
from sottovoce.plans.tables.fanout import best_fanout
from sottovoce.sql.reading import read

TABLE = sv.Table({"age": range(30), "state": ["a", "b", "c"]})
RANGE = "SELECT COUNT(*) FROM people WHERE age BETWEEN 4 AND 20"
POINT = "SELECT COUNT(*) FROM people WHERE state = 'a'"


def test_errors_are_those_of_the_plans():
    advice = advise_tables(TABLE, [RANGE, POINT], users=10_000, epsilon=1.0)
    assert [way.cost for way in advice.ways] == sorted(way.cost for way in advice.ways)
    assert sorted((way.fanout, bool(way.weights)) for way in advice.ways) == [
        (fanout, weighted) for fanout in FANOUTS for weighted in (False, True)
    ]
    columns = {"age": range(30), "state": ["a", "b", "c"]}
    best = sv.Table(columns, fanout=advice.fanout, weights=advice.weights)
    layout = best.layout(1.0)
    for text, error in zip([RANGE, POINT], advice.ways[0].errors, strict=True):
        work = plan(layout, read(text, best.domain))
        assert error == pytest.approx(sqrt(10_000 * work.variances[0]))
    assert advice.method in str(advice)
    assert json.loads(advice.to_json())["method"] == advice.method


def test_weighted_layers_are_suggested_and_then_recognised():
    even = advise_tables(TABLE, [RANGE, POINT], users=10_000, epsilon=1.0)
    assert "write them as `workload`" in str(even)
    best, plain = even.ways[0], min(way.cost for way in even.ways if not way.weights)
    assert best.weights
    assert best.cost < 0.9 * plain
    columns = {"age": range(30), "state": ["a", "b", "c"]}
    weighted = sv.Table(columns, fanout=even.fanout, weights=even.weights)
    again = advise_tables(weighted, [RANGE, POINT], users=10_000, epsilon=1.0)
    assert again.ways[0].as_planned
    assert "write them as `workload`" not in str(again)
    assert json.loads(again.to_json())["weights"] == [list(even.weights[0])]


def test_averages_are_ranked_by_their_own_error():
    """Not by that of the sum above the line, which is thousands of times as large."""
    text = "SELECT AVG(age) FROM people WHERE state = 'a'"
    advice = advise_tables(TABLE, [text], users=10_000, epsilon=1.0)
    sums = advise_tables(TABLE, [text.replace("AVG", "SUM")], users=10_000, epsilon=1.0)
    assert advice.ways[0].errors[0] < 2
    assert sums.ways[0].errors[0] > 2000
    assert advice.ways[0].relative[0] == pytest.approx(advice.ways[0].errors[0] / 14.5, rel=0.01)


def rated(plan, text, users, epsilon):
    """The cost of every published method that can be asked, with our mechanisms."""
    lists = any(map(plan.domain.most, range(len(plan.domain.names))))
    kinds = [layout for layout in LAYOUTS.values() if layout.lists or not lists]
    layouts = [layout(plan.domain, plan.rows, plan.fanout, epsilon) for layout in kinds]
    return {way.method: way.cost for way in rate_layouts(layouts, [text], users, epsilon).ways}


def test_points_and_ranges_want_different_collections():
    """Splitting attributes comes closer for single points, layers are for ranges of several columns
    together.
    """
    table = sv.Table({name: range(9) for name in "abc"}, fanout=3)
    points, boxes = (
        rated(table, f"SELECT COUNT(*) FROM people WHERE {condition}", 9000, 4.0)
        for condition in ("a = 3", "a > 3 AND b > 3 AND c > 3")
    )
    assert set(points) == set(boxes) == set(LAYOUTS)
    assert min(boxes, key=boxes.get) == "hio"
    assert points["sc_sampled"] / points["hio"] < boxes["sc_sampled"] / boxes["hio"]


def test_lists_leave_out_what_is_for_records():
    orders = sv.Table({"amount": range(25)}, most=5, name="orders")
    costs = rated(orders, "SELECT SUM(amount) FROM orders", 1_000, 2.0)
    assert set(costs) == {"hio", "mg", "amg", "ahio", "ehio"}
    assert min(costs, key=costs.get) == "hio"
    with pytest.raises(ParameterError, match="one record per person"):
        LAYOUTS["sc"](orders.domain, orders.rows, orders.fanout, 2.0)


def test_bad_requests_are_refused():
    with pytest.raises(ParameterError):
        advise_tables(TABLE, [], users=1_000, epsilon=1.0)
    with pytest.raises(ParameterError):
        advise_tables(TABLE, [RANGE], users=1, epsilon=1.0)
    with pytest.raises(ParameterError):
        advise_tables(TABLE, ["SELECT DISTINCT age FROM people"], users=1_000, epsilon=1.0)
    with pytest.raises(ParameterError, match="must ask for numbers"):
        advise_tables(TABLE, ["SHOW TABLES"], users=1_000, epsilon=1.0)


def test_a_fan_out_chooses_itself():
    auto = sv.Table({"age": range(1000), "state": ["a", "b"]}, fanout="auto")
    assert auto.fanout == best_fanout(1000)
    with pytest.raises(ParameterError):
        sv.Table({"age": range(10)}, fanout="large")
