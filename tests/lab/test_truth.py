"""Truth beside estimate."""

import json

import numpy as np

import sottovoce as sv
from sottovoce.lab.truth import compare


def test_every_row_has_its_truth_and_says_whether_it_is_covered():
    task = sv.Task("t", sv.Histogram(["a", "b", "c"]), 2.0)
    held = ["a"] * 700 + ["b"] * 300
    (compared,) = compare(task, held, sv.simulate(task, held, seed=1))
    assert compared.truth == {"a": 700, "b": 300, "c": 0}
    rows = compared.rows()
    assert [row["truth"] for row in rows] == [700, 300, 0]
    assert [row["covered"] for row in rows] == [row["low"] <= row["truth"] <= row["high"] for row in rows]
    assert compared.covered == sum(row["covered"] for row in rows)
    assert json.loads(json.dumps(compared.to_dict()))["intervals"] == 3


def test_a_survey_is_compared_question_by_question_and_bands_add_up():
    task = sv.Task("t", sv.Survey({"pet": ["cat", "dog"], "age": range(18, 100)}), 1.0)
    held = {"pet": ["cat"] * 600 + ["dog"] * 400, "age": np.full(1000, 25)}
    pet, age = compare(task, held, sv.simulate(task, held, seed=1))
    assert pet.truth == {"cat": 600, "dog": 400}
    bands = {row["value"]: row["truth"] for row in age.rows(most=10)}
    assert bands["20–29"] == 1000
    assert sum(bands.values()) == 1000
