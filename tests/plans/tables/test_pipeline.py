"""The passes of a query: in their order, each method planned once, and the crowd behind every
row.
"""

from collections import Counter
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.plans.tables import pipeline, weigh
from sottovoce.plans.tables.database import PlanCache
from sottovoce.plans.tables.explain import facts_of
from sottovoce.plans.tables.pipeline import PASSES, answer_plan, plan_query, read
from sottovoce.plans.tables.select import QueryPlan
from sottovoce.plans.tables.source import Source

PEOPLE = 3000
CONDITION = "age > 2 AND (home = 'flat' OR plan = 'free')"
TEXT = f"SELECT AVG(age) AS a, COUNT(*) AS n FROM people WHERE {CONDITION}"


@pytest.fixture(scope="module")
def database():
    dice = np.random.default_rng(2)
    plan = sv.Table(
        {"age": range(8), "home": ["flat", "house"]}, public={"plan": ["free", "paid"]}, fanout=2
    )
    people = {
        "age": dice.integers(0, 8, PEOPLE),
        "home": dice.choice(["flat", "house"], PEOPLE),
        "plan": np.array(["free", "paid"])[(np.arange(PEOPLE) % 4 == 0).astype(int)],
    }
    return sv.simulate(sv.Task("t", plan, 6.0), people, seed=4)


def test_the_passes_are_listed_in_the_order_in_which_the_page_shows_them():
    names = [each.__name__ for each in PASSES]
    assert names == ["read", "demand", "weigh", "predict", "select", "state", "run", "combine"]
    positions = [pipeline.__doc__.index(f"--{name}-->") for name in names]
    assert positions == sorted(positions)
    assert all(len(signature(each).parameters) == 2 for each in PASSES)


def test_every_pass_but_the_first_has_a_file_of_its_name():
    for each in PASSES[1:]:
        assert each.__module__ == f"sottovoce.plans.tables.{each.__name__}"


def test_what_a_pass_returns_the_next_one_takes(database):
    source, value = Source(database.layout, database.collected), TEXT
    for each in PASSES:
        value = each(value, source)
    assert value.rows() == database.sql(TEXT).rows()


@pytest.fixture
def made(monkeypatch):
    """How often the coefficients of a target were computed, by target and method."""
    counted, plain = Counter(), weigh.coefficients

    def counting(target, method, known):
        counted[target.key, method] += 1
        return plain(target, method, known)

    monkeypatch.setattr(weigh, "coefficients", counting)
    return counted


@pytest.mark.parametrize(
    "text", [TEXT, f"EXPLAIN {TEXT}", "SELECT home, SUM(age) FROM people GROUP BY home"]
)
def test_every_method_is_planned_once(database, made, text):
    replace(database, plans=PlanCache()).sql(text)
    assert set(made.values()) == {1}


def test_explain_prints_the_plan_that_is_executed(database, monkeypatch):
    source = Source(database.layout, database.collected)
    plan = plan_query(read(TEXT, source), source)
    assert isinstance(plan, QueryPlan)
    result = answer_plan(plan, source)
    assert result.explanation == facts_of(plan, PEOPLE)
    explained = database.sql(f"EXPLAIN {TEXT}").facts
    assert {name: explained[name] for name in result.explanation} == result.explanation
    assert [row["method"] for row in explained["compared with"]] == [
        "ADD",
        "SIGNED",
        "RDC",
        "GLS",
        "BLUE",
    ]


def answered(database, text, **settings):
    return database.answer(read(text, Source(database.layout)), **settings)


def test_an_answer_carries_the_people_behind_every_row(database):
    """Those in its public groups who meet a public condition; without one everybody may count."""
    free = PEOPLE - PEOPLE // 4
    assert answered(database, "SELECT COUNT(*) FROM people WHERE age > 2").people == (PEOPLE,)
    assert answered(database, "SELECT COUNT(*) FROM people WHERE plan = 'free'").people == (free,)
    assert answered(database, "SELECT FREQ(*) FROM people WHERE plan = 'free'").people == (free,)
    either = answered(database, "SELECT COUNT(*) FROM people WHERE plan = 'free' OR age = 3")
    assert either.people == (PEOPLE,)
    impossible = answered(database, "SELECT COUNT(*) FROM people WHERE plan = 'free' OR age = 77")
    assert (impossible.people, impossible.people_count, impossible.users) == ((free,), free, PEOPLE)
    groups = answered(database, "SELECT plan, home, COUNT(*) FROM people GROUP BY plan, home")
    assert groups.people == (free, free, PEOPLE - free, PEOPLE - free)


@pytest.mark.parametrize(
    "tail", ["WHERE age > 2", "WHERE plan = 'free' AND age < 5 GROUP BY home", "GROUP BY plan"]
)
def test_the_records_of_a_row_are_estimated_on_demand_and_change_no_number(database, tail):
    group = f"{tail.partition('GROUP BY ')[2]}, ".lstrip(", ")
    text = f"SELECT {group}SUM(age) AS s FROM people {tail}"
    plain, counted = answered(database, text), answered(database, text, count_rows=True)
    assert [row.count for row in plain.table] == [None] * len(plain)
    assert counted.rows() == plain.rows()
    counts = answered(database, text.replace("SUM(age)", "COUNT(*)"))
    expected = [row.figures[0].value for row in counts.table]
    assert [row.count for row in counted.table] == pytest.approx(expected, rel=1e-9)
