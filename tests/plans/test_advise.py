"""One entry point for advice about any plan."""

import json

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.advice import advise_histogram
from sottovoce.plans.heavy_hitters.advice import advise_values
from sottovoce.plans.itemsets.advice import advise_items
from sottovoce.plans.marginals.advice import advise_marginals
from sottovoce.plans.tables.advice import advise_tables
from sottovoce.tasks.advice import Advice

FOODS = ["bread", "milk", "tea", "oats", "rye", "figs"]
TABLE = sv.Table({"age": range(9)})
QUESTION = "SELECT AVG(age) FROM people"

SAME = {
    "size": (
        lambda: sv.advise(users=9_000, epsilon=1.0, size=6, error=0.01),
        lambda: advise_histogram(9_000, 6, 1.0, error=0.01),
    ),
    "histogram": (
        lambda: sv.advise(sv.Histogram(FOODS), users=9_000, epsilon=1.0, error=0.01),
        lambda: advise_histogram(9_000, 6, 1.0, error=0.01),
    ),
    "survey": (
        lambda: sv.advise(sv.Survey({"a": FOODS, "b": ["x", "y"]}), users=9_000, epsilon=1.0),
        lambda: advise_histogram(9_000, 6, 1.0, questions=2),
    ),
    "heavy hitters": (
        lambda: sv.advise(sv.HeavyHitters(sv.Bits(48), 8), users=9_000, epsilon=2.0, share=0.3),
        lambda: advise_values(9_000, 48, 2.0, top=8, share=0.3),
    ),
    "top items": (
        lambda: sv.advise(sv.TopItems(FOODS, 3), users=9_000, epsilon=2.0, basket=2.0),
        lambda: advise_items(9_000, 6, 2.0, top=3, basket=2.0),
    ),
    "marginals": (
        lambda: sv.advise(
            sv.Marginals({"a": FOODS, "b": ["x", "y"]}, order=2), users=9_000, epsilon=2.0
        ),
        lambda: advise_marginals(9_000, (6, 2), 2.0, 2),
    ),
    "tables": (
        lambda: sv.advise(TABLE, users=9_000, epsilon=2.0, sql=[QUESTION]),
        lambda: advise_tables(TABLE, [QUESTION], 9_000, 2.0),
    ),
}


@pytest.mark.parametrize(("asked", "expected"), SAME.values(), ids=SAME)
def test_advice_about_a_plan_is_that_of_its_own_mathematics(asked, expected):
    assert asked() == expected()


@pytest.mark.parametrize(("asked", "expected"), SAME.values(), ids=SAME)
def test_all_advice_has_facts_rows_text_and_json(asked, expected):
    advice = asked()
    assert isinstance(advice, Advice)
    assert advice.facts()["users"] == advice.users == 9_000
    assert json.loads(advice.to_json()) == json.loads(json.dumps(advice.to_dict()))
    assert all(isinstance(row, dict) for row in advice.rows())
    assert "9,000 users" in str(advice)


def test_what_is_compared_stands_in_rows():
    rows = sv.advise(users=9_000, epsilon=1.0, size=6).rows()
    assert {"grr", "oue"} <= {row["mechanism"] for row in rows}


def test_the_mechanism_that_a_plan_names_is_compared_with_the_usual_ones():
    usual = sv.advise(sv.Histogram(FOODS), users=9_000, epsilon=1.0)
    named = sv.advise(sv.Histogram(FOODS, mechanism="hadamard"), users=9_000, epsilon=1.0)
    assert named.alternatives[:-1] == usual.alternatives
    assert named.alternatives[-1].mechanism == "hadamard"


@pytest.mark.parametrize("plan", [sv.Mean(0, 1), sv.Distribution(0, 1), sv.Tracking(FOODS, 3)])
def test_a_plan_without_advice_of_its_own_says_what_it_asks(plan):
    advice = sv.advise(plan, users=500, epsilon=1.0)
    assert advice.to_dict() == {
        "plan": plan.kind,
        "users": 500,
        "epsilon": 1.0,
        "mechanisms": advice.mechanisms,
        "asked_first": 500,
        "reports_per_person": 1,
        "report_bytes": advice.report_bytes,
        "concerns": (),
    }
    assert advice.report_bytes > 0
    assert f"plan        {plan.kind}" in str(advice)


BAD = {
    "nothing": ({}, "either a `plan` or the `size`"),
    "both": ({"plan": sv.Mean(0, 1), "size": 4}, "either a `plan` or the `size`"),
    "a wish of another plan": (
        {"plan": sv.Mean(0, 1), "share": 0.1},
        "does not take `share`: it takes no wishes",
    ),
    "an unknown wish": (
        {"size": 4, "luck": 1},
        "does not take `luck`: it takes questions, error, rule, mechanism",
    ),
}


@pytest.mark.parametrize(("settings", "rule"), BAD.values(), ids=BAD)
def test_what_cannot_be_advised_about_is_refused(settings, rule):
    with pytest.raises(ParameterError, match=rule):
        sv.advise(users=100, epsilon=1.0, **settings)
