"""Frames of pandas, polars and Arrow give the answers of the same columns."""

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.frames import values_of

COLUMNS = {"browser": ["chrome", "other"] * 40, "age": [18, 30] * 40}
SURVEY = sv.Task("survey", sv.Survey({"browser": ["chrome", "other"], "age": range(18, 40)}), 1.0)
HISTOGRAM = sv.Task("browser", sv.Histogram(["chrome", "other"]), 1.0)
PEOPLE = sv.Task("people", sv.Table({"browser": ["chrome", "other"], "age": range(18, 40)}), 1.0)
KINDS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


@pytest.fixture(params=KINDS)
def frame(request):
    library = pytest.importorskip(request.param, reason="frames need the extra `frames`")
    return getattr(library, KINDS[request.param])


@pytest.mark.parametrize("task", [SURVEY, PEOPLE], ids=["survey", "table"])
def test_the_columns_that_a_task_asks_for_are_taken(frame, task):
    columns = values_of(task.plan.domain, frame({**COLUMNS, "not asked": ["x"] * 80}))
    assert columns == COLUMNS


def test_an_answer_is_that_of_the_columns(frame):
    answer = sv.simulate(SURVEY, frame(COLUMNS), seed=7)
    assert answer.to_json() == sv.simulate(SURVEY, COLUMNS, seed=7).to_json()


def test_a_task_about_one_value_takes_a_frame_of_one_column(frame):
    answer = sv.simulate(HISTOGRAM, frame({"any name": COLUMNS["browser"]}), seed=7)
    assert answer.to_json() == sv.simulate(HISTOGRAM, COLUMNS["browser"], seed=7).to_json()
    with pytest.raises(ParameterError, match="must have one column, not 2"):
        sv.simulate(HISTOGRAM, frame(COLUMNS))


def test_a_column_that_is_missing_is_named(frame):
    with pytest.raises(ParameterError, match="lacks the columns age; it has browser"):
        sv.simulate(SURVEY, frame({"browser": COLUMNS["browser"]}))


def test_frames_may_be_the_tables_of_services(frame):
    people = sv.Table({"age": range(18, 40)})
    shop = sv.Table({"cost": range(5)}, most=2)
    domain = sv.Joint({"users": people, "orders": shop}).domain
    users = {"uid": [0, 1], "age": [18, 30]}
    orders = {"uid": [0, 0, 1], "cost": [1, 2, 3]}
    values = values_of(domain, {"users": frame(users), "orders": frame(orders)})
    assert values == {"users": users, "orders": orders}


@pytest.mark.parametrize("values", [["chrome"], iter(["chrome"]), COLUMNS, range(3)])
def test_what_is_no_frame_stays_as_it_is(values):
    kept = values_of(SURVEY.plan.domain, values)
    assert kept == values if isinstance(values, dict) else kept is values
