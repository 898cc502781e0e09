"""Named figures with intervals, in every form the same numbers."""

import csv
import io
import json

import pytest

from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.core.estimate import Total
from sottovoce.errors import ParameterError

FIGURES = {"mean": Total(41.5, 0.25), "median": Total(40.0, 1.0)}
ANSWER = NumberAnswer("age", FIGURES, user_count=1234, epsilon=2.0, mechanism="piecewise")


def test_rows_carry_estimate_interval_and_error():
    mean, median = ANSWER.rows()
    assert set(mean) == {"value", "estimate", "low", "high", "error"}
    assert (mean["value"], mean["estimate"], mean["error"]) == ("mean", 41.5, 0.5)
    assert (mean["low"], mean["high"]) == FIGURES["mean"].interval(0.95)
    assert median["high"] - median["low"] > mean["high"] - mean["low"]


def test_another_level_moves_the_bounds_alone():
    narrow = ANSWER.at(0.5)
    assert narrow.rows()[0]["high"] < ANSWER.rows()[0]["high"]
    assert narrow["mean"] is ANSWER["mean"]
    assert narrow.about["level"] == 0.5


def test_json_csv_and_text_say_the_same():
    content = json.loads(ANSWER.to_json())
    assert content["rows"] == ANSWER.rows()
    assert (content["users"], content["epsilon"]) == (1234, 2.0)
    (mean, _) = csv.DictReader(io.StringIO(ANSWER.to_csv()))
    assert float(mean["estimate"]) == 41.5
    assert "age: 1,234 users, epsilon 2, raw, piecewise" in str(ANSWER)
    assert "41.50  95 % in [40.52" in str(ANSWER)


def test_figures_do_not_count_people_and_take_no_post_processing():
    assert not ANSWER.counts_people
    assert ANSWER.methods == ("none",)
    with pytest.raises(ParameterError, match="takes none"):
        ANSWER.postprocess("norm_sub")
