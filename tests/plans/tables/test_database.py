"""Plans of queries are kept, and give the same answers again."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.plans.tables import database as module
from sottovoce.plans.tables.database import Asked, PlanCache

TEXT = "SELECT COUNT(*) FROM people WHERE a >= ?"


@pytest.fixture(scope="module")
def database():
    plan = sv.Table({"a": range(8), "b": ["x", "y"]})
    held = {"a": np.arange(400) % 8, "b": ["x", "y"] * 200}
    return sv.simulate(sv.Task("t", plan, 2.0), held, seed=1)


def test_a_query_is_planned_once_and_answered_alike(database, monkeypatch):
    first = database.sql(TEXT, [3]).rows()
    other = database.sql(TEXT, [4]).rows()
    explained = database.sql(f"EXPLAIN {TEXT}", [3]).facts
    monkeypatch.setattr(module, "plan_query", lambda *_: pytest.fail("it was planned again"))
    assert database.sql(TEXT, [3]).rows() == first
    assert database.sql(TEXT, [4]).rows() == other != first
    assert "numbers" in explained


def test_values_of_other_kinds_are_other_queries():
    cache = PlanCache()
    cache.keep(Asked("q", [1]), "one")
    assert cache.find(Asked("q", [1])) == "one"
    for other in ([True], [1.0], ["1"], {"a": 1}, []):
        assert cache.find(Asked("q", other)) is None
    for other in (Asked("q", [1], level=0.9), Asked("q", [1], count_rows=True)):
        assert cache.find(other) is None
    cache.keep(Asked("q", [np.arange(3)]), "an array")
    assert cache.find(Asked("q", [np.arange(3)])) is None


def test_the_oldest_plan_is_forgotten():
    cache = PlanCache(size=2)
    for text in "abc":
        cache.keep(Asked(text), text.upper())
    assert (len(cache), cache.find(Asked("a")), cache.find(Asked("c"))) == (2, None, "C")
