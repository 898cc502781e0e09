"""Answers: every form says the same numbers, and none says a number without its error."""

import csv
import io
import json
import sys

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DomainError, MissingExtraError, ParameterError

TASK = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)
ANSWER = sv.simulate(TASK, ["cat"] * 6000 + ["dog"] * 4000, seed=1)
SURVEY = sv.simulate(
    sv.Task("survey", sv.Survey({"pet": ["cat", "dog"], "age": range(5)}), epsilon=2.0),
    {"pet": ["cat", "dog"] * 3000, "age": np.arange(6000) % 5},
    seed=2,
)


def test_rows_carry_estimate_interval_share_and_error():
    row = ANSWER.rows()[0]
    assert set(row) == {"value", "estimate", "low", "high", "share", "error", "significant"}
    assert row["low"] < row["estimate"] < row["high"]
    assert row["share"] == pytest.approx(row["estimate"] / 10_000)
    wide = ANSWER.rows(simultaneous=True)[0]
    assert wide["low"] < row["low"]


def test_findings_are_the_rows_that_stand_out():
    rows = ANSWER.rows()
    assert ANSWER.findings() == [row for row in rows if row["significant"]]
    assert 0 < len(ANSWER.findings()) <= len(rows)


def test_another_level_only_moves_the_bounds():
    wider = ANSWER.at(0.99).rows()[0]
    assert wider["estimate"] == ANSWER.rows()[0]["estimate"]
    assert wider["high"] > ANSWER.rows()[0]["high"]


def test_json_csv_and_frames_agree():
    rows = ANSWER.rows()
    content = json.loads(ANSWER.to_json())
    assert content["rows"] == rows
    assert content["users"] == 10_000
    assert content["epsilon"] == 1.0
    assert content["steps"] == []
    read = list(csv.DictReader(io.StringIO(ANSWER.to_csv())))
    assert [float(one["estimate"]) for one in read] == [one["estimate"] for one in rows]
    assert ANSWER.frame("pandas")["estimate"].tolist() == [one["estimate"] for one in rows]
    assert ANSWER.frame("polars")["low"].to_list() == [one["low"] for one in rows]
    assert ANSWER.frame("pyarrow")["value"].to_pylist() == ["cat", "dog", "fish"]


def test_an_unknown_frame_or_missing_library_is_a_clear_error(monkeypatch):
    with pytest.raises(ParameterError):
        ANSWER.frame("excel")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[frames\]"):
        ANSWER.frame("polars")


def test_sums_have_the_covariance_of_their_cells():
    everyone = ANSWER.sum(["cat", "dog", "fish"])
    assert everyone.total == pytest.approx(10_000)
    assert everyone.variance == pytest.approx(0, abs=1e-6)
    with pytest.raises(DomainError):
        ANSWER.sum(["cat", "unicorn"])


def test_printing_shows_users_epsilon_and_what_lies_within_noise():
    text = str(ANSWER)
    assert "10,000 users, epsilon 1, raw, grr" in text
    assert "95 % interval" in text
    assert "fish" in text.splitlines()[-1]
    assert "(within noise)" in text.splitlines()[-1]


def test_long_tables_print_their_head():
    task = sv.Task("numbers", sv.Histogram(range(100)), epsilon=1.0)
    text = str(sv.simulate(task, np.arange(5000) % 100, seed=3))
    assert text.splitlines()[-1] == "... and 75 more values"


def test_surveys_answer_by_name():
    assert list(SURVEY) == ["pet", "age"]
    assert len(SURVEY) == 2
    content = json.loads(SURVEY.to_json())
    assert set(content["answers"]) == {"pet", "age"}
    assert SURVEY.to_csv().startswith("question,value,estimate,low,high")
    assert "standing for 6,000" in str(SURVEY)
