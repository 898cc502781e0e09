"""What shells complete: kinds of plans, and names of tasks."""

import click

from cli.collecting import collected
from sottovoce.cli.completion import plan_kinds, task_names


def completed(function, typed, **params):
    context = click.Context(click.Command("test"))
    context.params = params
    return function(context, click.Argument(["name"]), typed)


def test_kinds_of_plans_are_completed():
    assert completed(plan_kinds, "hist") == ["histogram"]
    assert "table" in completed(plan_kinds, "")


def test_names_of_tasks_are_completed_from_the_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    collected(tmp_path, "count")
    assert completed(task_names, "co", data=tmp_path, database="") == ["count"]
    assert completed(task_names, "x", data=tmp_path) == []
    assert completed(task_names, "") == []
    assert completed(task_names, "", data=tmp_path / "nothing") == []
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert completed(task_names, "") == ["count"]
