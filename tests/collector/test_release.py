"""What leaves the collector: nothing about too few users, through no door, and what is withheld is
marked.
"""

import csv
import io
import json

import pytest
from click.testing import CliRunner

import sottovoce as sv
from collector.people import Task, digest_of, envelope, honest, text
from collector.sending import send
from collector.serving import served
from sottovoce.cli.main import commands
from sottovoce.collector.collector import Collector
from sottovoce.collector.release import refuse_withheld, release, rows_as_csv
from sottovoce.domains.integers import Integers
from sottovoce.errors import ParameterError
from sottovoce.tasks.collection import Collection
from sottovoce.web.problems import RequestError

MINIMUM = 20


def collected(collector, plan, users, epsilon=4.0, values=None, **settings):
    """Collect a task from so many honest devices and seal it."""
    task = Task(
        "task",
        plan,
        epsilon,
        collection=Collection(**({"minimum": MINIMUM, "grace": 0} | settings)),
    )
    collector.create(text(task), toml=False)
    assert set(send(collector, "task", honest(task, users, values=values))) == {"accepted"}
    collector.close("task", at_once=True)
    collector.advance()
    return task


def lopsided(collector, first=40, second=10):
    """A survey whose second question was answered by too few people."""
    plan = sv.Survey({"pet": ["cat", "dog"], "age": Integers(18, 30)}, mechanism="grr")
    task = Task("task", plan, 4.0, collection=Collection(minimum=MINIMUM, grace=0))
    collector.create(text(task), toml=False)
    sent = [envelope(digest_of(task), b"\0", member=0) for _ in range(first)]
    sent += [envelope(digest_of(task), b"\x05", member=1) for _ in range(second)]
    assert set(send(collector, "task", sent)) == {"accepted"}
    collector.close("task", at_once=True)
    collector.advance()
    return task


def numbers(answer):
    """Every number that an answer would show, as it would be written."""
    return {
        str(row[key])
        for row in answer.rows()
        for key in ("estimate", "low", "high")
        if row[key] not in (0, 1)
    }


def doors(collector, folder, store, clock, tmp_path):
    """Everything that the API and the command line say about a task, by the name of the door."""
    said = {}
    with served(store, folder, clock) as site:
        for accept in ("application/json", "text/csv"):
            headers = site.bearing("analyst") | {"accept": accept}
            for query in ("", "?method=norm-sub", "?level=0.99"):
                answer = site.client.get(f"/v1/tasks/task/answer{query}", headers=headers)
                said[f"{accept}{query}"] = (answer.status_code, answer.text)
    file, plot = tmp_path / "rows.csv", tmp_path / "plot.svg"
    for name, options in {
        "table": [],
        "json": ["--json"],
        "csv": ["--csv", file],
        "plot": ["--plot", plot],
    }.items():
        result = CliRunner().invoke(
            commands, [str(one) for one in ("answer", "task", "--data", folder, *options)]
        )
        written = file.read_text() if name == "csv" and file.exists() else ""
        said[name] = (result.exit_code, result.output + written)
    return said


def test_a_task_with_enough_users_is_released_through_every_door(collector, store, clock, tmp_path):
    collected(collector, sv.Histogram(Integers(0, 3)), 30)
    said = doors(collector, tmp_path, store, clock, tmp_path)
    assert {code for code, _ in said.values()} == {0, 200}
    raw = json.loads(said["application/json"][1])
    assert raw["suppressed"] is False
    assert len(raw["rows"]) == 4
    assert {row["suppressed"] for row in raw["rows"]} == {False}


PLANS = {
    "histogram": sv.Histogram(Integers(0, 3)),
    "mean": sv.Mean(0, 100),
    "distribution": sv.Distribution(0, 10, 8),
    "survey": sv.Survey({"pet": ["cat", "dog"], "fur": ["long", "short"]}),
}


@pytest.mark.parametrize("kind", ["histogram", "mean", "distribution"])
def test_with_too_few_users_no_number_leaves_through_any_door(
    collector, store, clock, tmp_path, kind
):
    collected(collector, PLANS[kind], MINIMUM - 1)
    published = collector.find("task")
    secrets = numbers(published.task.plan.step(collector.collected(published)))
    assert secrets
    for door, (status, shown) in doors(collector, tmp_path, store, clock, tmp_path).items():
        assert status in (409, 11), (door, shown)
        assert not any(secret in shown for secret in secrets), door
        assert f"fewer than {MINIMUM} users" in shown


def test_a_part_with_too_few_users_is_only_its_name(collector, store, clock, tmp_path):
    lopsided(collector)
    answer = collector.answer("task")
    hidden, shown_numbers = numbers(answer["age"]), numbers(answer["pet"])
    said = doors(collector, tmp_path, store, clock, tmp_path)
    for door, (status, shown) in said.items():
        assert status in (200, 0) or door == "plot", (door, shown)
        assert not any(number in shown for number in hidden - shown_numbers), door
    released = json.loads(said["application/json"][1])
    assert released["answers"]["age"] == {
        "name": "age",
        "minimum": MINIMUM,
        "suppressed": True,
        "rows": [],
    }
    assert released["answers"]["pet"]["users"] == 40
    rows = list(csv.DictReader(io.StringIO(said["text/csv"][1])))
    assert [row["suppressed"] for row in rows if row["question"] == "age"] == ["True"]
    assert {row["value"] for row in rows if row["question"] == "age"} == {""}
    assert json.loads(said["json"][1]) == released
    assert "age  (suppressed)" in said["table"][1]
    assert "18" not in said["table"][1]


def test_what_is_suppressed_is_not_drawn(collector, store, clock, tmp_path):
    lopsided(collector)
    status, said = doors(collector, tmp_path, store, clock, tmp_path)["plot"]
    assert status == 7
    assert "not drawn" in said
    assert not list(tmp_path.glob("*.svg"))


def test_a_value_below_the_crowd_is_marked_and_not_zero(collector, store, clock, tmp_path):
    collected(collector, sv.Histogram(Integers(0, 3), "grr"), 60, crowd=16)
    answer = collector.answer("task")
    small = [row for row in answer.rows() if row["estimate"] < 16]
    assert 0 < len(small) < 4
    said = doors(collector, tmp_path, store, clock, tmp_path)
    released = json.loads(said["application/json"][1])
    assert [row for row in released["rows"] if row["suppressed"]] == [
        {"value": row["value"], "suppressed": True} for row in small
    ]
    hidden = {str(row[key]) for row in small for key in ("estimate", "low", "high", "share")}
    for door, (_, shown) in said.items():
        if "norm-sub" not in door:
            assert not any(number in shown for number in hidden), door
    marked = [
        row
        for row in csv.DictReader(io.StringIO(said["text/csv"][1]))
        if row["suppressed"] == "True"
    ]
    assert [row["value"] for row in marked] == [row["value"] for row in small]
    assert {row["estimate"] for row in marked} == {""}
    assert said["table"][1].count("suppressed") == len(small)
    processed = json.loads(said["application/json?method=norm-sub"][1])
    assert all(row["suppressed"] or row["estimate"] >= 16 for row in processed["rows"])


def test_one_small_value_is_never_suppressed_alone(collector):
    """The users are known, so the others would tell it by subtraction: the next smallest goes with
    it.
    """
    task = Task(
        "task",
        sv.Histogram(Integers(0, 3), "grr"),
        4.0,
        collection=Collection(minimum=MINIMUM, crowd=10),
    )
    collector.create(text(task), toml=False)
    counts = {0: 30, 1: 4, 2: 25, 3: 20}
    sent = [
        envelope(digest_of(task), bytes([value]))
        for value, count in counts.items()
        for _ in range(count)
    ]
    send(collector, "task", sent)
    collector.close("task", at_once=True)
    collector.advance()
    released = release(collector.answer("task"), task.collection)
    assert [row["value"] for row in released["rows"] if row["suppressed"]] == ["1", "3"]


def test_a_bin_below_the_crowd_is_suppressed_like_a_value(collector):
    plan = sv.Histogram(Integers(0, 59), "grr")
    values = [5] * 50 + [25] * 10
    task = collected(collector, plan, 60, epsilon=8.0, values=values, crowd=30)
    content = release(collector.answer("task"), task.collection, 6)
    shown = [row["value"] for row in content["rows"] if not row["suppressed"]]
    assert shown == ["0–9"]
    hidden = [row for row in content["rows"] if row["suppressed"]]
    assert hidden == [
        {"value": f"{low}–{low + 9}", "suppressed": True} for low in range(10, 60, 10)
    ]
    assert "0–9" in rows_as_csv(content)


def test_without_a_crowd_an_estimate_below_zero_is_a_number_like_any_other(collector):
    task = collected(
        collector, sv.Histogram(Integers(0, 3), "grr"), 40, epsilon=0.5, values=[0] * 40
    )
    answer = collector.answer("task")
    assert min(row["estimate"] for row in answer.rows()) < 0
    released = release(answer, task.collection)
    assert [row["estimate"] for row in released["rows"]] == [
        row["estimate"] for row in answer.rows()
    ]


def test_a_mean_below_zero_is_released(collector):
    task = collected(collector, sv.Mean(-100, -50), 40)
    (row,) = release(collector.answer("task"), task.collection)["rows"]
    assert row["estimate"] < 0
    assert row["suppressed"] is False


def test_a_distribution_is_released_with_its_measures_and_its_crowd(collector):
    task = collected(collector, sv.Distribution(0, 10, 8), 60, values=[0, 1, 2] * 20, crowd=10)
    released = release(collector.answer("task"), task.collection)
    assert {row["value"] for row in released["measures"]} >= {"mean", "50 %"}
    assert {row["suppressed"] for row in released["rows"]} == {True, False}
    assert all("estimate" not in row for row in released["rows"] if row["suppressed"])


@pytest.mark.parametrize("kind", PLANS)
def test_exactly_the_minimum_is_enough(collector, kind):
    users = 200 if kind == "survey" else MINIMUM
    task = collected(collector, PLANS[kind], users)
    released = refuse_withheld(release(collector.answer("task"), task.collection))
    assert released["minimum"] == MINIMUM


def test_an_answer_with_nothing_in_it_says_so(collector):
    task = lopsided(collector, first=12, second=10)
    with pytest.raises(RequestError, match="nothing is released"):
        refuse_withheld(release(collector.answer("task"), task.collection))


def test_rows_of_csv_say_which_question_they_answer(collector):
    task = collected(collector, PLANS["survey"], 200)
    rows = list(
        csv.DictReader(io.StringIO(rows_as_csv(release(collector.answer("task"), task.collection))))
    )
    assert [(row["question"], row["value"]) for row in rows] == [
        ("pet", "cat"),
        ("pet", "dog"),
        ("fur", "long"),
        ("fur", "short"),
    ]


@pytest.mark.parametrize("minimum", [0, 1])
def test_a_minimum_that_is_no_crowd_is_refused_at_every_door(store, tmp_path, clock, minimum):
    plan = 'name = "x"\nepsilon = 1.0\n[plan]\nkind = "histogram"\ndomain = ["a", "b"]\n'
    file = f"{plan}[collection]\nminimum = {minimum}\n"
    path = tmp_path / "task.toml"
    path.write_text(file)
    result = CliRunner().invoke(commands, ["task", "create", str(path), "--data", str(tmp_path)])
    assert result.exit_code == 2
    assert "`minimum` must be a whole number from 2" in result.output
    with served(store, tmp_path, clock) as site:
        headers = site.bearing("operator") | {"content-type": "application/toml"}
        assert site.client.post("/v1/tasks", content=file, headers=headers).status_code == 400
    with pytest.raises(ParameterError):
        Collection(minimum=minimum)
    assert Collector(store, tmp_path, clock).tasks() == []
