"""Errors that are promised before anything is collected: the published formulas, and what
collections then state.
"""

from dataclasses import replace

import numpy as np
import pytest

import sottovoce as sv
from plans.tables.enumeration import of_total, people, stated
from plans.tables.plans import layout_of, ordinal, planned, question, table_plan
from plans.tables.populations import asked, repeated, table
from sottovoce.domains.categories import Categories
from sottovoce.lab.experiments.wang_chapter7.box_errors import published_error
from sottovoce.lab.populations.tables import Shape, boxes
from sottovoce.plans.tables.coefficients import Target, coefficients
from sottovoce.plans.tables.demand import WeightedTarget
from sottovoce.plans.tables.method import NAMES, Method
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.predict import predicted_score
from sottovoce.plans.tables.source import Source

ADD = Method("add", "enum")


@pytest.mark.parametrize("method", ["mg", "hi", "hio", "sc", "sc_sampled"])
@pytest.mark.parametrize("sizes", [(1024,), (125, 64), (30, 25, 20)])
def test_published_plans_have_the_published_errors(method, sizes):
    """Wang 2021, theorems 7.3.1 to 7.4.3 with exact constants."""
    layout = layout_of(
        {f"o{at}": ordinal(size) for at, size in enumerate(sizes)},
        method,
        2.0,
        fanout=5,
        published=True,
    )
    for sides in boxes(sizes, 0.2, 6, seed=1):
        if any(len(side) == size for side, size in zip(sides, sizes, strict=True)):
            continue
        predicted = planned(layout, question(layout, dict(enumerate(sides))), ADD).variances[0]
        assert predicted == pytest.approx(published_error(method, sizes, sides, 2.0), rel=1e-9)


def test_layers_forgotten_in_the_formula_are_noticed():
    layout = layout_of(
        {"o0": ordinal(125), "o1": ordinal(64)}, "hio", 2.0, fanout=5, published=True
    )
    sides = (range(3, 70), range(10, 31))
    predicted = planned(layout, question(layout, dict(enumerate(sides))), ADD).variances[0]
    assert predicted == pytest.approx(published_error("hio", (125, 64), sides, 2.0), rel=1e-9)
    assert predicted > 3 * published_error("hio", (125,), sides[:1], 2.0)


def test_what_is_known_of_everybody_is_no_part_of_what_a_report_has_to_say():
    """The exact variance by enumeration; the broken twin counts what is known as if reports had to
    tell it.
    """
    layout = layout_of({"a": ordinal(7)}, "hio", 4.0)
    wanted = Target(layout.factors[0], {}, 0, np.arange(3.0, 10.0))
    made = coefficients(wanted, Method())
    assert made.known > 1
    work = planned(layout, question(layout, {}, measured=0), Method())
    exact = of_total(work, people(layout))[1].mean()
    assert stated(work).variance == pytest.approx(exact, rel=1e-9)
    assert predicted_score((WeightedTarget(1.0, wanted),), made).variance == pytest.approx(
        exact, rel=1e-9
    )
    broken = predicted_score((WeightedTarget(1.0, wanted),), replace(made, known=0.0))
    assert broken.variance != pytest.approx(exact, rel=0.1)


QUESTIONS = {
    "COUNT(*)": [
        "o0 BETWEEN 20 AND 69",
        "o0 < 50 AND o1 BETWEEN 4 AND 19",
        "o0 > 30 AND o1 > 5 AND l0 IN ('v0', 'v2')",
    ],
    "SUM(o0)": ["o0 BETWEEN 20 AND 69", "o1 BETWEEN 4 AND 19"],
}


@pytest.mark.parametrize("published", [False, True])
def test_expected_errors_are_those_that_an_even_spread_then_has(published):
    """Within 5 %, of one product; epsilon 1, where people themselves hardly differ beside their
    reports.
    """
    shape = Shape((100, 25), (4,))
    even = shape.people(60_000, 2, even=True)
    task = sv.Task("t", table_plan(shape.columns, published=published), 1.0)
    database = sv.simulate(task, even, seed=5)
    for number, conditions in QUESTIONS.items():
        for where in conditions:
            text = f"SELECT {number} FROM people WHERE {where}"
            (expected,) = database.sql(f"EXPLAIN {text}").facts["numbers"]
            assert database.sql(text).figure.error == pytest.approx(
                expected["expected error"], rel=0.05
            )


def test_the_best_way_is_never_expected_to_be_worse_than_another():
    layout = layout_of({"a": ordinal(125), "b": Categories(tuple("abcdef"))}, "hio", 1.0, fanout=5)
    for (side,) in boxes((125,), 0.3, 8, seed=3):
        query = question(layout, {0: side, 1: [1, 4]})
        errors = {name: planned(layout, query, Method(name)).variances[0] for name in NAMES}
        best = min(errors["blue"], planned(layout, query, Method("blue", signal=0.4)).variances[0])
        assert best <= 1.001 * min(errors.values())
        assert errors["gls"] <= 1.05 * errors["rdc"]


def test_the_average_of_a_public_column_has_the_error_that_is_promised():
    """Over 400 collections of the same 600 people, within five standard errors of a deviation."""
    plan = table({"home": ["flat", "house", "boat"]}, public={"spent": range(100)})
    dice = np.random.default_rng(3)
    people = {
        "home": dice.choice(["flat", "house", "boat"], 600),
        "spent": dice.integers(0, 100, 600),
    }
    text = "SELECT AVG(spent) FROM people WHERE home = 'flat'"
    (found,) = asked(repeated(plan, 4.0, people, 400, 5), text)
    source = Source(plan.layout(4.0))
    work = plan_query(read(text, source), source)
    promised = work.prediction.number(work.rows[0], work.rows[0].numbers[0], 600).error
    assert found.values.std() == pytest.approx(promised, rel=5 / np.sqrt(800) + 0.05)
