"""What shells complete: kinds of plans and mechanisms, names of experiments and of tasks."""

import json
import os
import subprocess
import sys

import click
import pytest

from cli.collecting import collected
from sottovoce.cli.completion import lab_experiments, mechanism_kinds, plan_kinds, task_names
from sottovoce.cli.main import commands

# Completes one line after another in one process, as a shell would in a process for each.
COMPLETE = """
import contextlib, io, json, os, sys
from sottovoce.cli.main import main
shown = []
for words in json.loads(sys.stdin.read()):
    os.environ["COMP_WORDS"] = " ".join(["sottovoce", *words])
    os.environ["COMP_CWORD"] = str(len(words))
    printed = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main()
    shown.append(printed.buffer.getvalue().decode().split())
print(json.dumps(shown))
"""


def completed(function, typed, **params):
    context = click.Context(click.Command("test"))
    context.params = params
    return function(context, click.Argument(["name"]), typed)


def test_kinds_of_plans_are_completed():
    assert completed(plan_kinds, "hist") == ["histogram"]
    assert "table" in completed(plan_kinds, "")


def test_mechanisms_and_experiments_are_completed():
    assert completed(mechanism_kinds, "aff") == ["affine", "affine_prefix"]
    assert "xu-11" in completed(lab_experiments, "xu-")


def test_names_of_tasks_are_completed_from_the_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    collected(tmp_path, "count")
    assert completed(task_names, "co", data=tmp_path, database="") == ["count"]
    assert completed(task_names, "x", data=tmp_path) == []
    assert completed(task_names, "") == []
    assert completed(task_names, "", data=tmp_path / "nothing") == []
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert completed(task_names, "") == ["count"]


def lines_to_complete(command=commands, words=()):
    """Every command that has an argument called name or kind, or an option of such a meaning."""
    with click.Context(command) as context:
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                yield from lines_to_complete(command.get_command(context, name), (*words, name))
            return
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and parameter.name in ("name", "kind"):
            yield words
        for option in ("--task", "--mechanism"):
            if option in parameter.opts and not isinstance(parameter.type, click.Path):
                yield (*words, option)


LINES = list(lines_to_complete())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("collector")
    collected(made, "count")
    return made


def completions(lines, folder, **environment):
    """Ask for what may follow each line, as bash does."""
    asking = {"_SOTTOVOCE_COMPLETE": "bash_complete", "SOTTOVOCE_DATA": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE],
        input=json.dumps(lines),
        env={**os.environ, **asking, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = [[line.removeprefix("plain,") for line in lines] for lines in json.loads(done.stdout)]
    return dict(zip(map(tuple, lines), shown, strict=True))


def test_every_name_and_kind_is_completed(folder):
    """The whole line as it is typed, through the protocol of the shell."""
    assert len(LINES) > 9
    assert {("task", "show"), ("task", "init"), ("lab", "run"), ("audit",)} <= set(LINES)
    offered = completions([[*words, ""] for words in LINES], folder)
    for words in LINES:
        assert offered[*words, ""], words
    for words, expected in {
        ("task", "show"): "count",
        ("answer",): "count",
        ("sql", "--task"): "count",
        ("task", "init"): "histogram",
        ("audit",): "grr",
        ("lab", "run"): "xu-11",
    }.items():
        assert expected in offered[*words, ""], words
    begun = [[*words, offered[*words, ""][0][:2]] for words in LINES]
    for words, names in completions(begun, folder).items():
        assert names
        assert all(name.startswith(words[-1]) for name in names), words


def test_a_shell_that_asks_in_a_process_of_its_own_gets_the_same(folder):
    asking = {
        "_SOTTOVOCE_COMPLETE": "bash_complete",
        "COMP_WORDS": "sottovoce task show co",
        "COMP_CWORD": "3",
        "SOTTOVOCE_DATA": str(folder),
    }
    command = [sys.executable, "-m", "sottovoce"]
    done = subprocess.run(
        command, env=os.environ | asking, capture_output=True, text=True, check=True
    )
    assert done.stdout == "plain,count\n"


def test_an_argument_that_is_not_completed_is_noticed():
    broken = click.Command("broken", params=[click.Argument(["name"])])
    group = click.Group("group", commands={"broken": broken})
    assert list(lines_to_complete(group)) == [("broken",)]
    with click.Context(broken) as context:
        assert broken.params[0].shell_complete(context, "") == []


def test_nothing_is_offered_where_a_part_is_not_installed(base_install, folder):
    """A key that completes must not print a traceback into the line that somebody types."""
    lines = [["task", "init", ""], ["task", "show", ""], ["lab", "run", ""]]
    offered = completions(lines, folder, PYTHONPATH=base_install["PYTHONPATH"])
    assert list(offered.values()) == [[], [], []]
