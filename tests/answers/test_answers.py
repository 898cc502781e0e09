"""Answers to several questions: a mapping by name that says what all of its parts say."""

import pytest

import sottovoce as sv
from sottovoce.answers.answers import Answers
from sottovoce.errors import NoDataError


def part(name, users, epsilon):
    task = sv.Task(name, sv.Histogram(["yes", "no"]), epsilon=epsilon)
    return sv.simulate(task, ["yes"] * users, seed=1)


@pytest.fixture
def answers():
    parts = {"pet": part("pet", 1000, 1.0), "pet & age": part("pet & age", 900, 2.0)}
    return Answers("survey", parts)


def test_the_parts_are_found_by_name_and_in_their_order(answers):
    assert list(answers) == list(answers.questions()) == ["pet", "pet & age"]
    assert len(answers) == 2
    assert not answers.single
    assert answers["pet"].users == 1000


def test_users_and_guarantee_are_the_largest_of_the_parts(answers):
    assert answers.users == 1000
    assert answers.guarantee.local == 2.0
    assert answers.about == {"name": "survey", "guarantee": {"local": 2.0}}


def test_rows_name_their_question(answers):
    rows = answers.rows()
    assert [row["question"] for row in rows] == ["pet"] * 2 + ["pet & age"] * 2
    assert {key: value for key, value in rows[0].items() if key != "question"} == answers[
        "pet"
    ].rows()[0]


def test_level_and_method_reach_every_part(answers):
    assert {answer.level for answer in answers.at(0.8).values()} == {0.8}
    method = answers.methods[1]
    assert all(answer.about["steps"] == [method] for answer in answers.postprocess(method).values())
    assert str(answers).count("users") == 2


def test_attributes_select_the_part_about_them_together(answers):
    assert answers.select(["pet", "age"]) is answers["pet & age"]
    with pytest.raises(NoDataError, match="not among those kept"):
        answers.select(["age", "home"])
