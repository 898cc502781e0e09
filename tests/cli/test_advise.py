"""``sottovoce advise``."""

import json

import sottovoce as sv

SETTINGS = ("--users", 50_000, "--size", 1_000, "--epsilon", 1)


def test_it_prints_the_advice(run):
    assert run("advise", *SETTINGS).stdout == f"{sv.advise(50_000, 1_000, 1.0)}\n"


def test_it_prints_json(run):
    result = run("advise", *SETTINGS, "--questions", 3, "--error", 0.005, "--json")
    expected = sv.advise(50_000, 1_000, 1.0, questions=3, error=0.005)
    assert json.loads(result.stdout) == json.loads(expected.to_json())


def test_bad_settings_have_exit_code_2(run):
    assert run("advise", "--users", 10, "--size", 10, "--epsilon", 0).exit_code == 2
    assert run("advise", *SETTINGS, "--rule", "hope").exit_code == 2
    assert run("advise", "--users", 10).exit_code == 2
