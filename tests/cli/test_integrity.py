"""``sottovoce integrity``: the tests of a task in words, and as JSON."""

import pytest

from cli.collecting import said
from collector import poisoning
from collector.people import text
from collector.sending import send
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.web.settings import clock


@pytest.fixture
def poisoned(tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    collector = Collector(store, tmp_path, clock)
    task = poisoning.survey()
    collector.create(text(task), toml=False)
    send(collector, task.name, poisoning.honest(task) + poisoning.false(task))
    collector.close(task.name, at_once=True)
    collector.advance()
    store.close()
    return tmp_path


def test_alarms_are_told_in_words(run, poisoned):
    shown = run("integrity", "drinks", "--data", poisoned).stdout
    assert "Implausible seeds" in shown
    assert "ALARM" in shown
    assert "Suspected: " in shown
    content = said(run("integrity", "drinks", "--data", poisoned, "--json"))
    assert content["alarm"]
    assert content["rounds"][0]["reports"] == 3500


def test_the_answer_warns_and_takes_a_defence(run, poisoned):
    shown = run("answer", "drinks", "--data", poisoned)
    assert "reports of round 0 are implausible" in shown.stderr
    content = said(run("answer", "drinks", "--data", poisoned, "--json", "--defence", "auto"))
    assert content["steps"][0].startswith("seed filter")


def test_an_open_task_has_no_tests_yet(run, tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    Collector(store, tmp_path, clock).create(text(poisoning.survey()), toml=False)
    store.close()
    shown = run("integrity", "drinks", "--data", tmp_path).stdout
    assert "No round of this task is sealed" in shown
