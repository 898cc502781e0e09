"""The command line as a whole."""

import json
import subprocess
import sys

import click
import pytest

import sottovoce
from cli.collecting import collected
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
    assert 'default: ""' not in result.stdout
    lines = [line.strip() for line in result.stdout.splitlines()[1:]]
    assert not [line for line in lines if " sottovoce " in line]  # examples begin their lines


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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("advise", "--users", 10, "--size", 1, "--epsilon", 1), 2),
        (("advise", "--users", "many"), 2),
        (("task", "list", "--data", "nowhere"), 7),
    ],
)
def test_an_error_is_json_where_json_is_asked_for(run, words, code):
    result = run(*words, "--json")
    document = json.loads(result.stderr)
    assert document["exit_code"] == result.exit_code == code
    assert document["error"]
    assert result.stdout == ""


SERVER_COMMANDS = (
    ("serve", "--data", "folder"),
    ("demo", "--out", "folder", "--people", "200"),
    ("task", "list", "--data", "folder"),
    ("task", "init", "histogram"),
    ("token", "list", "--data", "folder"),
    ("answer", "task", "--data", "folder"),
    ("integrity", "task", "--data", "folder"),
    ("sql", "SELECT COUNT(*) FROM people", "--task", "task", "--data", "folder"),
    ("data", "export", "task", "file", "--data", "folder"),
    ("shuffle", "status", "--data", "folder"),
    ("compare", "people.csv", "--column", "city"),
    ("audit", "grr"),
    ("lab", "list"),
    ("lab", "run", "xu-11"),
    ("bench",),
    ("warm",),
)
PLOT_COMMANDS = (
    ("simulate", "people.csv", "--column", "city", "--epsilon", "1", "--plot", "folder"),
    ("compare", "people.csv", "--column", "city", "--epsilon", "1", "--plot", "folder"),
    ("answer", "count", "--data", "collector", "--plot", "folder"),
)


def without(command, environment, folder):
    """Run a command in a process that finds less than everything, beside a file of people."""
    (folder / "people.csv").write_text("city\n" + 60 * "Rome\n" + 40 * "Oslo\n")
    command = [sys.executable, "-m", "sottovoce", *command]
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", SERVER_COMMANDS, ids=lambda words: "-".join(words[:2]))
def test_without_its_extra_a_command_says_what_to_install(base_install, tmp_path, words):
    done = without(words, base_install, tmp_path)
    assert done.returncode == 8, done.stderr
    assert "pip install 'sottovoce[server]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize("words", PLOT_COMMANDS, ids=lambda words: words[0])
def test_without_matplotlib_a_picture_names_its_extra(install_without, tmp_path, run, words):
    collected(tmp_path / "collector")
    run("task", "close", "count", "--data", tmp_path / "collector", "--now")
    done = without(words, install_without("plot"), tmp_path)
    assert done.returncode == 8, done.stderr
    assert "pip install 'sottovoce[plot]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "folder").exists()
