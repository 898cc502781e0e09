"""Answers read back from JSON: what was released, and nothing that was suppressed."""

import json

import pytest

import sottovoce as sv
from sottovoce.answers.exported import ExportedAnswer
from sottovoce.errors import CodecError, NoDataError

ROW = {"value": "cat", "estimate": 41.26, "low": 30.1, "high": 52.4, "error": 5.7, "share": 0.4}
CONTENT = {
    "name": "pets",
    "users": 100,
    "epsilon": 1.0,
    "level": 0.95,
    "rows": [ROW | {"suppressed": False}, {"value": "dog", "suppressed": True}],
}


def test_a_file_is_read_as_it_was_written(tmp_path):
    task = sv.Task("pets", sv.Histogram(["cat", "dog"]), 2.0)
    answer = sv.simulate(task, ["cat"] * 60 + ["dog"] * 40, seed=1)
    (tmp_path / "answer.json").write_text(answer.to_json())
    exported = sv.ExportedAnswer.load(tmp_path / "answer.json")
    assert exported.to_dict() == json.loads(answer.to_json())
    assert exported.rows() == answer.rows()
    assert exported.to_csv() == answer.to_csv()
    assert exported.frame("pandas")["value"].tolist() == ["cat", "dog"]
    assert (exported.name, exported.users) == ("pets", 100)


def test_several_questions_stay_apart():
    task = sv.Task("s", sv.Survey({"x": ["a", "b"], "y": ["c", "d"]}), 4.0)
    answer = sv.simulate(task, {"x": ["a"] * 50, "y": ["c"] * 50}, seed=1)
    exported = ExportedAnswer(answer.to_dict())
    assert list(exported.questions()) == ["x", "y"]
    assert exported.rows() == answer.rows()
    assert str(exported).count("epsilon 4") == 2
    with pytest.raises(NoDataError, match="one by one"):
        exported.plot()


def test_the_figures_of_a_distribution_and_of_sql_are_shown():
    answer = sv.simulate(sv.Task("age", sv.Distribution(0, 9), 2.0), [4.0] * 200, seed=1)
    shown = str(ExportedAnswer(answer.to_dict()))
    assert "mean" in shown
    assert "50 %" in shown
    task = sv.Task("people", sv.Table({"city": ["Rome", "Oslo"]}), 2.0)
    result = sv.simulate(task, {"city": ["Rome", "Oslo"] * 60}, seed=1).sql(
        "SELECT city, COUNT(*) AS people FROM people GROUP BY city"
    )
    exported = ExportedAnswer(result.to_dict())
    assert "Rome" in str(exported)
    (axes,) = exported.plot().axes
    assert axes.get_title(loc="left") == "people"


def test_every_column_has_its_heading_above_it():
    rows = [
        ROW | {"significant": True},
        ROW | {"value": "guinea pig", "significant": False},
        {"value": "dog", "suppressed": True},
    ]
    *_, heading, cat, pig, dog = str(ExportedAnswer(CONTENT | {"rows": rows})).splitlines()
    assert heading.split("  ")[0] == "value"
    assert [heading.index("estimate") + len("estimate")] == [pig.index("(within noise)") + 14]
    assert heading.endswith("95 % interval")
    assert len(heading) == len(cat) == len(pig)
    assert dog.split() == ["dog", "suppressed"]


def test_the_groups_and_numbers_of_a_query_are_headings():
    task = sv.Task("people", sv.Table({"city": ["Rome", "Oslo"], "sex": ["f", "m"]}), 4.0)
    rows = {"city": ["Rome", "Oslo"] * 60, "sex": ["f"] * 60 + ["m"] * 60}
    simulated = sv.simulate(task, rows, seed=1)
    groups = "SELECT city, sex, COUNT(*) AS n FROM people GROUP BY city, sex"
    shown = str(ExportedAnswer(simulated.sql(groups).to_dict())).splitlines()
    assert shown[2].split() == ["city", "/", "sex", "n", "95", "%", "interval"]
    assert shown[3].startswith("Rome / f")
    total = str(ExportedAnswer(simulated.sql("SELECT COUNT(*) AS n FROM people").to_dict()))
    assert total.splitlines()[2].split() == ["n", "95", "%", "interval"]


def test_what_is_suppressed_has_no_number_anywhere():
    exported = ExportedAnswer(CONTENT)
    assert "suppressed" in str(exported)
    (axes,) = exported.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cat"]
    with pytest.raises(NoDataError, match="suppressed"):
        ExportedAnswer(CONTENT | {"rows": CONTENT["rows"][1:]}).plot()


def test_what_is_no_answer_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("[1")
    with pytest.raises(CodecError, match="must be JSON"):
        ExportedAnswer.load(tmp_path / "x.json")
    with pytest.raises(CodecError, match="JSON object"):
        ExportedAnswer([1])
