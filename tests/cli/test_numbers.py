"""Numbers on the command line."""

import json

import numpy as np
import pytest


@pytest.fixture
def ages(tmp_path):
    path = tmp_path / "people.csv"
    numbers = np.random.default_rng(1).beta(2, 5, 20_000) * 100
    path.write_text("age\n" + "\n".join(f"{number:.3f}" for number in numbers))
    return path


def test_a_mean_stands_beside_the_truth(ages, run):
    done = run(
        "simulate",
        ages,
        "--column",
        "age",
        "--mean",
        "0:100",
        "--epsilon",
        1,
        "--seed",
        1,
        "--json",
    )
    (part,) = json.loads(done.stdout)["answers"]
    (row,) = part["rows"]
    assert done.exit_code == 0
    assert row["covered"] == (row["low"] <= row["truth"] <= row["high"])
    assert abs(row["estimate"] - row["truth"]) < 5 * row["error"]


def test_a_number_can_be_asked_for_in_graded_groups(tmp_path, run):
    path = tmp_path / "few.csv"
    path.write_text("age\n" + "\n".join(["20", "30", "70"] * 100))
    options = ["--distribution", "0:100", "--buckets", 8, "--defence", "graded", "--epsilon", 0.25]
    done = run("simulate", path, "--column", "age", *options, "--seed", 1, "--json")
    assert done.exit_code == 0
    assert "attackers choose their group" in done.stderr
    (part,) = json.loads(done.stdout)["answers"]
    assert part["rows"][0]["value"] == "mean"


def test_a_distribution_is_shown_drawn_and_saved(ages, tmp_path, run):
    options = ["--distribution", "0:100", "--buckets", 64, "--epsilon", 1, "--seed", 1]
    files = [
        "--plot",
        tmp_path / "a.png",
        "--csv",
        tmp_path / "a.csv",
        "--save-task",
        tmp_path / "task.json",
    ]
    done = run("simulate", ages, "--column", "age", *options, *files)
    assert done.exit_code == 0
    assert "95 %" in done.stdout
    assert (tmp_path / "a.png").exists()
    assert (tmp_path / "a.csv").read_text().startswith("question,value,truth,estimate")
    done = run("simulate", ages, "--column", "age", "--task", tmp_path / "task.json", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["answers"][0]["mechanism"] == "square_wave"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--mean", "0:50"], 3),
        (["--mean", "zero:50"], 2),
        (["--mean", "0:100", "--distribution", "0:100"], 2),
        (["--mean", "0:100", "--domain", "a,b"], 2),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(
    ages, run, monkeypatch, tmp_path, options, code
):
    monkeypatch.chdir(tmp_path)
    done = run("simulate", ages, "--column", "age", "--epsilon", 1, *options)
    assert done.exit_code == code
    assert done.stderr.startswith("Error: ")


def test_numbers_outside_are_moved_only_on_request(ages, run):
    done = run(
        "simulate", ages, "--column", "age", "--mean", "0:50", "--clamp", "--epsilon", 1, "--json"
    )
    assert done.exit_code == 0
    assert json.loads(done.stdout)["answers"][0]["rows"][0]["truth"] < 50


def test_a_mean_is_drawn_with_its_interval(ages, tmp_path, run):
    options = ["--mean", "0:100", "--epsilon", 1, "--plot", tmp_path / "mean.png"]
    assert run("simulate", ages, "--column", "age", *options).exit_code == 0
    assert (tmp_path / "mean.png").read_bytes().startswith(b"\x89PNG")
