"""The page of integrity: bars, words, suspects, and a banner on the answer."""

import pytest

from collector import poisoning
from collector.people import counting, published
from collector.sending import send
from sottovoce.collector.dashboard import integrity
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity.result import Integrity, Suspects

QUIET = PlausibilityTest("buckets", 1.0, 5.0, 1.0, 100)
LOUD = PlausibilityTest("load", 9.0, 7.0, 1e-9, 100)
EQUAL = PlausibilityTest("equal seeds", 2.0, 0.0, 1e-12, 100)
SUSPECTS = Suspects("load", 0, 0, ("tea", "<b>"), ((0.0, 3.5), (3.5, 0.0)))


def test_nothing_is_said_above_an_honest_answer():
    assert integrity.banner([Integrity(0, 100, (QUIET,))]) == ""


def test_the_banner_names_rounds_and_tests():
    said = integrity.banner([Integrity(0, 9, (LOUD,)), Integrity(2, 9, (EQUAL,))])
    assert said == (
        "Tests of rounds 0, 2 found what honest reports hardly ever do: too greedy reports, equal"
        " seeds."
    )


def test_the_page_shows_every_test_and_the_suspects():
    facts = integrity.shown(
        published(counting()), [Integrity(0, 100, (QUIET, LOUD, EQUAL), (SUSPECTS,))]
    )
    (shown,) = facts["rounds"]
    assert [row["alarm"] for row in shown["tests"]] == [False, True, True]
    assert shown["drawing"].count("<rect") == 3
    assert shown["drawing"].count("alarm") >= 2
    assert "<b>" not in shown["suspects"][0]["drawing"]
    assert "One false report can add" in facts["influence"][0]


@pytest.fixture
def attacked(fresh):
    task = fresh.publish(poisoning.survey())
    send(fresh.api.collector, task.name, poisoning.honest(task) + poisoning.false(task))
    fresh.close(task)
    fresh.enter()
    return fresh


def test_people_can_read_the_tests(attacked):
    page = attacked.browser.get("/tasks/drinks/integrity").text
    assert "Can these reports be honest?" in page
    assert "Implausible seeds" in page
    answer = attacked.browser.get("/tasks/drinks").text
    assert "Some reports are implausible." in answer
    careful = attacked.browser.get("/tasks/drinks?defence=auto").text
    assert "seed filter" in careful
    download = attacked.browser.get("/tasks/drinks/answer.json?defence=auto").json()
    assert download["steps"][0].startswith("seed filter")


def test_an_untested_task_says_so(fresh):
    fresh.publish(poisoning.survey())
    fresh.enter()
    assert "No round has been tested yet." in fresh.browser.get("/tasks/drinks/integrity").text
