"""Advice: the errors it states are those of the plans it names, and the method it names is the best of them."""

import json
from math import sqrt

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.plans.tables import planning
from sottovoce.plans.tables.advice import advise_tables
from sottovoce.plans.tables.fanout import best_fanout
from sottovoce.sql.reading import read

TABLE = sv.Table({"age": range(30), "state": ["a", "b", "c"]})
RANGE = "SELECT COUNT(*) FROM people WHERE age BETWEEN 4 AND 20"
POINT = "SELECT COUNT(*) FROM people WHERE state = 'a'"


def test_errors_are_those_of_the_plans():
    advice = advise_tables(TABLE, [RANGE, POINT], users=10_000, epsilon=1.0)
    assert [way.cost for way in advice.ways] == sorted(way.cost for way in advice.ways)
    assert {way.method for way in advice.ways} == set(planning_methods())
    best = sv.Table({"age": range(30), "state": ["a", "b", "c"]}, method=advice.method, fanout=advice.fanout)
    asking = best.asking(1.0)
    for text, error in zip([RANGE, POINT], advice.ways[0].errors, strict=True):
        work = planning.plan(asking, read(text, best.domain))
        assert error == pytest.approx(sqrt(10_000 * work.predicted[0]))
    assert advice.method in str(advice)
    assert json.loads(advice.to_json())["method"] == advice.method


def planning_methods():
    from sottovoce.plans.tables.layout import METHODS

    return METHODS


def test_points_and_ranges_want_different_collections():
    """Splitting attributes comes closer for single points, layers are for ranges of several columns together."""
    table = sv.Table({name: range(9) for name in "abc"}, fanout=3)
    points, boxes = (
        {
            way.method: way.cost
            for way in advise_tables(table, [f"SELECT COUNT(*) FROM people WHERE {one}"], 9000, 4.0).ways
        }
        for one in ("a = 3", "a > 3 AND b > 3 AND c > 3")
    )
    assert min(boxes, key=boxes.get) == "hio"
    assert points["sc_sampled"] / points["hio"] < boxes["sc_sampled"] / boxes["hio"]


def test_lists_leave_out_what_is_for_records():
    orders = sv.Table({"amount": range(25)}, most=5, name="orders")
    advice = advise_tables(orders, ["SELECT SUM(amount) FROM orders"], users=1_000, epsilon=2.0)
    assert {way.method for way in advice.ways} == {"hio", "mg", "ahio", "ehio"}


def test_bad_requests_are_refused():
    with pytest.raises(ParameterError):
        advise_tables(TABLE, [], users=1_000, epsilon=1.0)
    with pytest.raises(ParameterError):
        advise_tables(TABLE, [RANGE], users=1, epsilon=1.0)
    with pytest.raises(ParameterError):
        advise_tables(TABLE, ["SELECT MIN(age) FROM people"], users=1_000, epsilon=1.0)


def test_a_fan_out_chooses_itself():
    auto = sv.Table({"age": range(1000), "state": ["a", "b"]}, fanout="auto")
    assert auto.fanout == best_fanout(1000)
    with pytest.raises(ParameterError):
        sv.Table({"age": range(10)}, fanout="large")
