"""``sottovoce task``: publish, list, show and close, beside a running server and without one."""

import io
import json
from contextlib import closing

import pytest
from click.testing import CliRunner

from cli.collecting import TOML, collected, said
from collector.people import counting, text
from collector.running import client, running, until
from sottovoce.cli.main import commands
from sottovoce.collector import access
from sottovoce.collector.published import OPEN_TO_ANYBODY
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.web.settings import clock


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "browser.toml"
    path.write_text(TOML)
    return path


def test_a_task_is_published_from_a_file_once(run, tmp_path, file):
    data = tmp_path / "data"
    first = run("task", "create", file, "--data", data)
    assert first.stdout.startswith("published: browser  digest ")
    again = run("task", "create", file, "--data", data)
    assert again.stdout.startswith("already here: browser")
    assert said(run("task", "create", file, "--data", data, "--json"))["new"] is False


def test_a_json_document_is_a_file_too(run, tmp_path):
    path = tmp_path / "count.json"
    path.write_text(text(counting()))
    made = said(run("task", "create", path, "--data", tmp_path / "data", "--json"))
    assert (made["name"], made["state"], made["new"], made["users"]) == ("count", "open", True, 0)


def test_another_task_of_the_same_name_has_its_exit_code(run, tmp_path, file):
    run("task", "create", file, "--data", tmp_path / "data")
    file.write_text(TOML.replace("2.0", "3.0"))
    refused = run("task", "create", file, "--data", tmp_path / "data")
    assert refused.exit_code == 5
    assert refused.stderr.startswith("Error: another task has this name")


@pytest.mark.parametrize(
    ("content", "exit_code", "rule"),
    [
        (b"name = ", 4, "not TOML"),
        (b"name = '\xff'", 4, "UTF-8"),
        (TOML.replace("20", "1").encode(), 2, "`minimum` must be a whole number from 2"),
        (TOML.replace("histogram", "horoscope").encode(), 2, "unknown plan kind"),
    ],
)
def test_a_file_that_cannot_work_says_the_rule(run, tmp_path, file, content, exit_code, rule):
    file.write_bytes(content)
    refused = run("task", "create", file, "--data", tmp_path / "data")
    assert refused.exit_code == exit_code
    assert rule in refused.stderr
    assert refused.stdout == ""


def test_a_file_that_is_not_there_is_refused(run, tmp_path):
    assert run("task", "create", tmp_path / "none.toml", "--data", tmp_path).exit_code == 2


def test_tasks_are_listed_with_their_state(run, tmp_path):
    collected(tmp_path, "first")
    collected(tmp_path, "second", quota=8)
    listed = said(run("task", "list", "--data", tmp_path, "--json"))["tasks"]
    assert [(one["name"], one["state"], one["users"]) for one in listed] == [
        ("first", "open", 8),
        ("second", "open", 8),
    ]
    table = run("task", "list", "--data", tmp_path).stdout
    assert "first" in table
    assert "epsilon" in table


def test_an_empty_collector_has_no_tasks_yet(run, tmp_path):
    run("token", "create", "analyst", "--data", tmp_path)
    assert "no tasks yet" in run("task", "list", "--data", tmp_path).stdout
    assert said(run("task", "list", "--data", tmp_path, "--json")) == {"tasks": []}


@pytest.mark.parametrize(
    "command", [["task", "list"], ["task", "close", "x"], ["answer", "x"], ["token", "list"]]
)
def test_a_folder_without_a_collector_is_left_alone(run, tmp_path, command):
    for folder in (tmp_path, tmp_path / "missing"):
        refused = run(*command, "--data", folder)
        assert refused.exit_code == 7
        assert "no collector" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_the_folder_comes_from_the_environment_too(run, tmp_path, monkeypatch):
    collected(tmp_path)
    assert run("task", "list").exit_code == 2
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert said(run("task", "list", "--json"))["tasks"][0]["name"] == "count"


def test_show_tells_what_a_task_promises(run, tmp_path):
    collected(tmp_path)
    shown = said(run("task", "show", "count", "--data", tmp_path, "--json"))
    assert shown["document"]["name"] == "count"
    assert shown["statement"]
    assert "count" in run("task", "show", "count", "--data", tmp_path).stdout
    assert run("task", "show", "none", "--data", tmp_path).exit_code == 7


def test_closing_seals_and_answers_when_there_is_no_grace(run, tmp_path):
    collected(tmp_path)
    assert run("task", "close", "count", "--data", tmp_path).stdout == "count: finished\n"
    again = run("task", "close", "count", "--data", tmp_path)
    assert again.exit_code == 11
    assert "no round to close" in again.stderr


def state(run, folder):
    return said(run("task", "list", "--data", folder, "--json"))["tasks"][0]["state"]


def test_closing_with_too_few_users_needs_force_and_fails_the_task(run, tmp_path, file):
    """Such a task failed for ever, and the command said that it was finished."""
    run("task", "create", file, "--data", tmp_path)
    refused = run("task", "close", "browser", "--data", tmp_path, "--now")
    assert refused.exit_code == 11
    assert "0 of the 20 users" in refused.stderr
    assert state(run, tmp_path) == "open"
    forced = run("task", "close", "browser", "--data", tmp_path, "--now", "--force")
    assert forced.exit_code == 0
    assert forced.stdout.startswith("browser: failed: ")
    assert forced.stderr == (
        "Warning: too few users have answered: the task browser fails for ever\n"
    )
    assert state(run, tmp_path) == "failed"


class Terminal(io.BytesIO):
    """The answers that somebody types."""

    def isatty(self):
        return True


def typed(text, *arguments):
    """Run the command line at a terminal where somebody types this."""
    return CliRunner().invoke(commands, list(map(str, arguments)), input=Terminal(text))


def test_a_terminal_is_asked_before_a_task_fails_for_ever(run, tmp_path, file):
    run("task", "create", file, "--data", tmp_path)
    close = ["task", "close", "browser", "--data", tmp_path, "--now"]
    for answer in (b"n\n", b"\n", b""):
        kept = typed(answer, *close)
        assert kept.exit_code == 1
        assert "0 of the 20 users" in kept.stderr
        assert "the task fails for ever? [y/N]" in kept.stderr
        assert kept.stdout == ""
        assert state(run, tmp_path) == "open"
    as_json = typed(b"y\n", *close, "--json")
    assert (as_json.exit_code, as_json.stdout) == (11, "")
    closed = typed(b"y\n", *close)
    assert closed.exit_code == 0
    assert closed.stdout.startswith("browser: failed: ")
    assert state(run, tmp_path) == "failed"


def test_nobody_is_asked_where_enough_have_answered(tmp_path):
    for options in ([], ["--force"]):
        folder = tmp_path / "-".join(["folder", *options])
        collected(folder)
        folder.chmod(0o700)
        closed = typed(b"", "task", "close", "count", "--data", folder, "--now", *options)
        assert (closed.stdout, closed.stderr) == ("count: finished\n", "")


def test_the_same_is_asked_about_a_task_at_an_address(run, tmp_path, file):
    run("task", "create", file, "--data", tmp_path)
    with closing(SqliteStore(tmp_path / "collector.db")) as store:
        (token,) = access.issue(store, access.OPERATOR, int(clock()))
    with running(tmp_path) as server:
        place = ["--url", server.url, "--token", token]
        close = ["task", "close", "browser", *place, "--now"]
        refused = run(*close)
        assert refused.exit_code == 11
        assert "0 of the 20 users" in refused.stderr
        kept = typed(b"n\n", *close)
        assert kept.exit_code == 1
        assert "the task fails for ever? [y/N]" in kept.stderr
        assert said(run("task", "list", *place, "--json"))["tasks"][0]["state"] == "open"
        closed = typed(b"y\n", *close)
        assert closed.exit_code == 0
        until(lambda: said(run("task", "list", *place, "--json"))["tasks"][0]["state"] == "failed")
        again = typed(b"y\n", *close, "--force")
        assert again.exit_code == 11
        assert "no round to close" in again.stderr
        assert server.stop() == 0


def test_closing_waits_for_grace_unless_it_is_now(run, tmp_path):
    collected(tmp_path, grace=3600)
    assert said(run("task", "close", "count", "--data", tmp_path, "--json"))["state"] == "closing"
    assert (
        said(run("task", "close", "count", "--data", tmp_path, "--now", "--json"))["state"]
        == "finished"
    )


def test_commands_and_a_running_server_see_the_same_tasks(run, tmp_path, file):
    data = tmp_path / "data"
    collected(data)
    with running(data) as server, client(server) as people:
        run("task", "create", file, "--data", data)
        until(lambda: len(people.get("/v1/tasks").json()["tasks"]) == 2)
        assert said(run("task", "close", "count", "--data", data, "--now", "--json"))["state"] in (
            "sealed",
            "finished",
        )
        until(lambda: people.get("/v1/tasks/count/round").json()["state"] == "finished")
        assert json.loads(run("answer", "count", "--data", data, "--json").stdout)["users"] == 8
        assert server.stop() == 0


def test_what_speaks_against_a_task_is_said_when_it_is_published(run, tmp_path):
    file = tmp_path / "songs.toml"
    plan = 'kind = "dbs"\ndomain = {low = 1, high = 2_000}\nusers = 400\ntop = 2'
    file.write_text(f'name = "songs"\nepsilon = 0.5\n[plan]\n{plan}\n')
    made = run("task", "create", file, "--data", tmp_path / "data", "--json")
    assert said(made)["new"]
    assert made.stderr.startswith("Warning: pruning 2,000 items to 20 will lose items of the top")
    file.write_text(TOML)
    anybody = run("task", "create", file, "--data", tmp_path / "data")
    assert anybody.stderr == f"Warning: {OPEN_TO_ANYBODY}\n"
    enrolled = TOML.replace('"browser"', '"enrolled"')
    file.write_text(enrolled.replace("[collection]", "[collection]\nenrolment = true"))
    assert run("task", "create", file, "--data", tmp_path / "data").stderr == ""


def test_show_tells_what_a_device_does_with_a_set(run, tmp_path):
    file = tmp_path / "songs.toml"
    file.write_text(
        'name = "songs"\nepsilon = 2.0\n[plan]\nkind = "svim"\ndomain = ["a", "b", "c"]\ntop = 1\n'
    )
    run("task", "create", file, "--data", tmp_path / "data")
    assert (
        "only one of your items, drawn at random, or none"
        in run("task", "show", "songs", "--data", tmp_path / "data").stdout
    )


def test_a_task_that_waits_says_why(run, tmp_path):
    collected(tmp_path)
    store = SqliteStore(tmp_path / "collector.db")
    (record,) = store.tasks()
    store.note_trouble(record.digest, "the disk is full")
    store.close()
    listed = run("task", "list", "--data", tmp_path)
    assert "count waits, and is tried again: the disk is full" in listed.stderr
    (facts,) = said(run("task", "list", "--data", tmp_path, "--json"))["tasks"]
    assert facts["trouble"] == "the disk is full"
