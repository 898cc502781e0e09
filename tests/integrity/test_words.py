"""Every test has words."""

from integrity.collections import collection
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity.examine import examine
from sottovoce.integrity.result import Integrity
from sottovoce.integrity.words import WORDS, verdict, words_of


def test_every_test_of_a_round_has_words():
    found = collection("1000")
    integrity = examine(found.collected.task.plan, found.collected, 0)
    assert {test.name for test in integrity.tests} <= set(WORDS)
    assert "implausible seeds" in verdict(integrity)


def test_the_share_of_false_reports_is_told():
    test = PlausibilityTest("load", 2.0, 1.0, 0.0, 10)
    said = verdict(Integrity(0, 10, (test,), share=0.047))
    assert said.endswith("About 4.7 % of the reports seem to be false.")


def test_a_quiet_round_says_so():
    assert verdict(Integrity(0, 10, ())).startswith("No test found")


def test_a_new_test_has_a_title_at_least():
    test = PlausibilityTest("new test", 2.0, 1.0, 0.0, 10)
    assert words_of(test.name).title == "New test"
