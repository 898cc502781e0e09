"""``sottovoce advise``."""

import json

import pytest

import sottovoce as sv
from sottovoce.plans.shuffled_advice import advise_shuffled
from sottovoce.plans.tables.advice import advise_tables

SETTINGS = ("--users", 50_000, "--size", 1_000, "--epsilon", 1)


def test_it_prints_the_advice(run):
    assert (
        run("advise", *SETTINGS).stdout == f"{sv.advise(users=50_000, size=1_000, epsilon=1.0)}\n"
    )


def test_it_prints_json(run):
    result = run("advise", *SETTINGS, "--questions", 3, "--error", 0.005, "--json")
    expected = sv.advise(users=50_000, size=1_000, epsilon=1.0, questions=3, error=0.005)
    assert json.loads(result.stdout) == json.loads(expected.to_json())


def test_bad_settings_have_exit_code_2(run):
    assert run("advise", "--users", 10, "--size", 10, "--epsilon", 0).exit_code == 2
    assert run("advise", *SETTINGS, "--rule", "hope").exit_code == 2
    assert run("advise", "--users", 10).exit_code == 2


TABLE = """
name = "people"
epsilon = 1.0

[plan]
kind = "table"

[plan.columns]
age = {low = 0, high = 8}
"""


def test_it_compares_ways_to_collect_tables_for_questions(run, tmp_path):
    path = tmp_path / "people.toml"
    path.write_text(TABLE)
    asked = (
        "advise",
        "--users",
        9_000,
        "--epsilon",
        2,
        "--task",
        path,
        "--sql",
        "SELECT AVG(age) FROM people",
    )
    result = run(*asked, "--json")
    expected = advise_tables(
        sv.Table({"age": range(9)}), ["SELECT AVG(age) FROM people"], 9_000, 2.0
    )
    assert json.loads(result.stdout) == json.loads(expected.to_json())
    assert "collect by" in run(*asked).stdout
    assert run("advise", "--users", 9_000, "--epsilon", 2, "--task", path).exit_code == 2
    assert run(*asked[:-1], "SELECT MODE(age) FROM people").exit_code == 2
    path.write_text('name = "a"\nepsilon = 1.0\n[plan]\nkind = "histogram"\ndomain = ["x", "y"]\n')
    assert run(*asked).exit_code == 2
    plain = run("advise", "--users", 9_000, "--task", path, "--json")
    assert json.loads(plain.stdout) == json.loads(
        sv.advise(users=9_000, size=2, epsilon=1.0).to_json()
    )


SHUFFLED = ("--users", 5_000, "--size", 16, "--epsilon", 0.5, "--shuffle")


def test_it_advises_about_shuffled_histograms(run):
    expected = advise_shuffled(5_000, 16, 0.5, delta=1e-6, local=3.0, fakes=100)
    wishes = ("--delta", 1e-6, "--local", 3, "--fakes", 100)
    assert run("advise", *SHUFFLED, *wishes).stdout == f"{expected}\n"
    read = json.loads(run("advise", *SHUFFLED, *wishes, "--json").stdout)
    assert read == json.loads(expected.to_json())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*SETTINGS, "--delta", 1e-6), "--delta needs --shuffle"),
        ((*SHUFFLED, "--questions", 3), "--questions cannot be combined with --shuffle"),
        (("--users", 10, "--bits", 8, "--epsilon", 1, "--shuffle"), "give --size"),
        (("--users", 10, "--size", 8, "--shuffle"), "say what the collector may learn: --epsilon"),
        ((*SHUFFLED, "--delta", 2), "`delta` must be"),
    ],
)
def test_wrong_settings_of_a_shuffler_are_refused(run, arguments, message):
    result = run("advise", *arguments)
    assert result.exit_code == 2
    assert message in result.output
