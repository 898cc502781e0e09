"""``sottovoce demo``: a real collector, real clients over HTTP and, where there is one, a real
browser.
"""

import json

import pytest

from sottovoce.cli.demo import this_command
from sottovoce.lab import browser
from sottovoce.wire import codec

PEOPLE = 1000


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory):
    """Run the demonstration once, as JSON."""
    from click.testing import CliRunner

    from sottovoce.cli.main import commands

    folder = tmp_path_factory.mktemp("demo")
    arguments = [
        "demo",
        "--people",
        str(PEOPLE),
        "--epsilon",
        "2",
        "--seed",
        "7",
        "--out",
        str(folder),
        "--json",
    ]
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


def test_everybody_is_counted_once(demonstrated):
    _, summary = demonstrated
    assert summary["people"] == sum(summary["answered"].values()) == PEOPLE
    assert sum(question["users"] for question in summary["questions"]) == PEOPLE
    assert summary["answered"]["devices"] == PEOPLE // 10
    assert summary["intervals"] == 156
    covered = [
        row["low"] <= row["truth"] <= row["high"]
        for one in summary["questions"]
        for row in one["rows"]
    ]
    assert summary["covered"] == sum(covered)


def test_messages_are_an_envelope_and_a_report(demonstrated):
    _, summary = demonstrated
    assert (
        len(bytes.fromhex(summary["example_message"]))
        == summary["message_bytes"]
        == 44 + summary["report_bytes"]
    )


def test_the_dashboard_is_started_again_as_the_demonstration_was(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sys.argv", ["/somewhere/sottovoce/__main__.py", "demo"])
    monkeypatch.setattr("sys.executable", ".venv/bin/python")
    monkeypatch.setenv("PYTHONPATH", "src")
    assert this_command() == "PYTHONPATH=src .venv/bin/python -m sottovoce"
    monkeypatch.setattr("sys.argv", [".venv/bin/sottovoce", "demo"])
    assert this_command() == ".venv/bin/sottovoce"


@pytest.mark.skipif(
    browser.find() is None, reason="there is no Chromium here: nobody can answer in a page"
)
def test_people_answer_in_a_page(demonstrated):
    _, summary = demonstrated
    assert (summary["answered"]["page"], summary["note"]) == (PEOPLE // 10, "")


def test_it_writes_figures_an_answer_and_a_task(demonstrated):
    folder, summary = demonstrated
    assert (folder / "survey.png").read_bytes().startswith(b"\x89PNG")
    assert set(json.loads((folder / "answer.json").read_text())["answers"]) >= {"browser", "age"}
    task = codec.task(codec.parse((folder / "task.json").read_text()))
    assert (task.name, task.epsilon) == ("survey", 2.0)
    assert len(summary["files"]) == 5


def test_it_tells_truth_beside_estimate_and_where_the_dashboard_is(run, tmp_path, monkeypatch):
    """Without a browser: everybody answers by a device or in the crowd."""
    monkeypatch.setattr(browser, "find", lambda: None)
    result = run("demo", "--people", 200, "--seed", 1, "--out", tmp_path, "--leave")
    assert "the crowd answers it (180)" in result.stderr
    survey_is_told = result.output.index("contain the truth")
    assert survey_is_told < result.output.index("everybody sends how long they slept")
    text = result.stdout
    expected = (
        "truth",
        "estimate",
        "95 % interval",
        "Chrome",
        "contain the truth",
        "One report:",
        "2.72 times",
    )
    for words in (*expected, "serve --data", "token"):
        assert words in text


def test_a_folder_with_other_files_is_refused_and_kept(run, tmp_path):
    """``--out .`` once deleted the collector that lay there."""
    (tmp_path / "collector").mkdir()
    (tmp_path / "collector" / "reports.db").write_text("reports of real people")
    result = run("demo", "--people", 200, "--out", tmp_path, "--leave")
    assert result.exit_code == 2
    assert "Choose another folder" in result.stderr
    assert (tmp_path / "collector" / "reports.db").read_text() == "reports of real people"


def test_a_demonstration_needs_people(run, tmp_path):
    assert run("demo", "--people", 99, "--out", tmp_path).exit_code == 2


def test_one_task_passes_two_shufflers(demonstrated):
    pytest.importorskip("cryptography", reason="sealing needs the extra `sealed`")
    _, summary = demonstrated
    shuffled = summary["shuffled"]
    assert shuffled["people"] == shuffled["question"]["users"] == PEOPLE
    guarantee = shuffled["guarantee"]
    assert guarantee["hops"] == 2
    assert guarantee["users"] == PEOPLE
    assert guarantee["central"] < guarantee["local"]
    assert guarantee["against_users"] < guarantee["local"]
