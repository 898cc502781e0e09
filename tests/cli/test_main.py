"""The command line as a whole."""

import subprocess
import sys

import click
import pytest

import sottovoce
from sottovoce.cli.main import COMMANDS, commands


def test_help_lists_every_command(run):
    result = run("--help")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in COMMANDS)


def every_command():
    """Every command as it is typed; a group stands for those in it."""
    with click.Context(commands) as context:
        for name in COMMANDS:
            found = commands.get_command(context, name)
            inside = found.list_commands(context) if isinstance(found, click.Group) else [None]
            yield from ((name,) if one is None else (name, one) for one in inside)


@pytest.mark.parametrize("words", list(every_command()), ids=" ".join)
def test_every_command_has_help_and_json(run, words):
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert "--json" in result.stdout


@pytest.mark.parametrize("group", ["task", "token", "data"])
def test_a_group_lists_what_is_in_it(run, group):
    result = run(group, "--help")
    assert result.exit_code == 0
    assert all(words[1] in result.stdout for words in every_command() if words[0] == group)


def test_the_version_is_the_packages(run):
    assert sottovoce.__version__ in run("--version").stdout


def test_an_unknown_command_is_refused(run):
    assert run("divine").exit_code == 2


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", "--help"], capture_output=True, text=True, check=True
    )
    assert "Usage: sottovoce" in done.stdout


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from sottovoce.cli.main import commands\n"
        "commands(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'numba', 'rich', 'scipy', 'duckdb', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_an_error_leaves_its_exit_code_and_one_line_on_stderr():
    arguments = ["advise", "--users", "10", "--size", "1", "--epsilon", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "Error: `size` must be a whole number of at least 2\n"
