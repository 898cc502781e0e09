"""``sottovoce answer``: a table for people, JSON and CSV for machines, a chart, and nothing about
too few users.
"""

import csv
import json

import pytest

import sottovoce as sv
from cli.collecting import collected, said
from collector.people import text
from collector.sending import send
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.web.settings import clock


@pytest.fixture
def sealed(run, tmp_path):
    collected(tmp_path)
    run("task", "close", "count", "--data", tmp_path, "--now")
    return tmp_path


def test_the_answer_is_a_table_with_intervals(run, sealed):
    shown = run("answer", "count", "--data", sealed).stdout
    assert "count  (8 users, epsilon 1)" in shown
    assert "interval" in shown
    assert len(shown.splitlines()) >= 10


def test_most_noise_of_a_search_is_folded(run, tmp_path):
    """The search of a collector, closed and answered on the command line."""
    rules = Collection(minimum=2, grace=0)
    task = sv.Task("word", sv.HeavyHitters(sv.Strings(3), 9), 6.0, collection=rules)
    collect_finished(tmp_path, task, ["yes"] * 120 + ["ja"] * 80)
    rows = said(run("answer", "word", "--data", tmp_path, "--json"))["rows"]
    noise = sum(not row["suppressed"] and not row["significant"] for row in rows)
    shown = run("answer", "word", "--data", tmp_path).stdout
    assert noise > 3
    assert sum(line.rstrip().endswith("within noise") for line in shown.splitlines()) == 3
    assert f"within noise: {noise - 3} more row" in shown


def test_json_is_what_the_api_says(run, sealed):
    answer = said(run("answer", "count", "--data", sealed, "--json"))
    assert (answer["users"], answer["suppressed"], len(answer["rows"])) == (8, False, 8)
    wide = said(
        run("answer", "count", "--data", sealed, "--json", "--level", 0.99, "--method", "norm-sub")
    )
    assert (wide["level"], wide["steps"]) == (0.99, ["norm-sub"])


def test_rows_go_to_a_file(run, sealed, tmp_path):
    file = tmp_path / "rows.csv"
    assert run("answer", "count", "--data", sealed, "--csv", file).exit_code == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["value"] for row in rows] == [str(value) for value in range(8)]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_answer_can_be_drawn(run, sealed, tmp_path, kind):
    file = tmp_path / f"chart.{kind}"
    assert run("answer", "count", "--data", sealed, "--plot", file, "--json").exit_code == 0
    assert file.stat().st_size > 1000


def test_a_task_that_is_still_open_has_no_answer(run, tmp_path):
    collected(tmp_path)
    refused = run("answer", "count", "--data", tmp_path)
    assert refused.exit_code == 11
    assert "not finished" in refused.stderr
    assert refused.stdout == ""


def test_too_few_users_have_no_answer(run, tmp_path):
    collected(tmp_path, minimum=9)
    run("task", "close", "count", "--data", tmp_path, "--now", "--force")
    refused = run("answer", "count", "--data", tmp_path)
    assert refused.exit_code != 0
    assert "fewer than 9 users" in refused.stderr
    assert refused.stdout == ""
    as_json = run("answer", "count", "--data", tmp_path, "--json")
    assert "fewer than 9 users" in json.loads(as_json.stderr)["error"]


@pytest.mark.parametrize("wrong", [["--level", 0.2], ["--level", "much"], ["--method", "magic"]])
def test_a_setting_that_cannot_work_is_refused(run, sealed, wrong):
    assert run("answer", "count", "--data", sealed, *wrong).exit_code == 2


def test_an_unknown_task_is_refused(run, sealed):
    refused = run("answer", "none", "--data", sealed)
    assert refused.exit_code != 0
    assert "no task of this name" in refused.stderr


def test_the_answer_of_a_search_says_how_it_searched(run, tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    task = sv.Task(
        "words", sv.HeavyHitters(sv.Strings(2), 2), 6.0, collection=Collection(minimum=2, grace=0)
    )
    collector = Collector(store, tmp_path, clock)
    collector.create(text(task), toml=False)
    send(collector, "words", crowd.messages(task, ["ja"] * 90 + ["[b"] * 60, rng=SeededRng(1)))
    collector.close("words", at_once=True)
    collector.advance()
    store.close()
    shown = run("answer", "words", "--data", tmp_path).stdout
    for words in (
        "ja",
        "[b",
        "Guarantee: local epsilon 6",
        "Groups of users: 1",
        "Values are seen from a share of: ",
    ):
        assert words in shown
    assert said(run("answer", "words", "--data", tmp_path, "--json"))["groups"] == 1
    refused = run("answer", "words", "--data", tmp_path, "--method", "norm-sub")
    assert refused.exit_code == 2
    assert "`method` must be one of none, base, base-pos" in refused.stderr


def test_bounds_allow_for_a_share_of_false_reports(run, sealed):
    plain = said(run("answer", "count", "--data", sealed, "--json"))
    wide = said(run("answer", "count", "--data", sealed, "--json", "--fakes", 0.1))
    assert (wide["fakes"], "fakes" in plain) == (0.1, False)
    for row, before in zip(wide["rows"], plain["rows"], strict=True):
        assert row["low_attacked"] < before["low"] < before["high"] < row["high_attacked"]
    shown = run("answer", "count", "--data", sealed, "--fakes", 0.1).stdout
    assert "if 10 % false" in shown
    assert "One false report: adds at most" in shown
    refused = run("answer", "count", "--data", sealed, "--fakes", 1)
    assert refused.exit_code != 0


def collect_finished(folder, task, values):
    """Collect a task in a folder to its end."""
    store = SqliteStore(folder / "collector.db")
    collector = Collector(store, folder, clock)
    collector.create(text(task), toml=False)
    send(collector, task.name, crowd.messages(task, values, rng=SeededRng(1)))
    collector.close(task.name, at_once=True)
    collector.advance()
    store.close()


def test_a_distribution_is_answered_by_mean_and_quantiles(run, tmp_path):
    rules = Collection(minimum=2, grace=0)
    task = sv.Task("age", sv.Distribution(0, 120), 2.0, collection=rules)
    collect_finished(tmp_path, task, [40.0] * 200)
    shown = run("answer", "age", "--data", tmp_path).stdout
    rows = {line.split("  ")[0]: line for line in shown.splitlines()}
    assert {"mean", "variance", "5 %", "50 %", "95 %"} <= set(rows)
    assert "512 intervals" in shown
    assert len(rows["mean"].split()[1]) <= 5  # digits for people, not six of them
    assert len(shown.splitlines()) < 30


def test_a_mean_can_be_drawn(run, tmp_path):
    rules = Collection(minimum=2, grace=0)
    task = sv.Task("age", sv.Mean(0, 120), 2.0, collection=rules)
    collect_finished(tmp_path, task, [40.0] * 50)
    file = tmp_path / "mean.png"
    assert run("answer", "age", "--data", tmp_path, "--plot", file).exit_code == 0
    assert file.stat().st_size > 1000


def test_a_long_table_shows_the_largest_rows(run, tmp_path):
    rules = Collection(minimum=2, grace=0)
    task = sv.Task("number", sv.Histogram(range(60)), 2.0, collection=rules)
    collect_finished(tmp_path, task, [7] * 300)
    shown = run("answer", "number", "--data", tmp_path).stdout.splitlines()
    assert shown[2].startswith("7 ")
    assert any("35 more values" in line for line in shown)
