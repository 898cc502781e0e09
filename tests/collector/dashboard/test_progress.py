"""The progress of a collection in words: what is missing, until when, and what was refused."""

from dataclasses import replace

import pytest

from collector.people import counting, published
from sottovoce.collector import wire
from sottovoce.collector.dashboard import progress
from sottovoce.collector.store.base import State

NOW = 1_800_000_000


def line(**settings):
    usual = {
        "number": 0,
        "state": "open",
        "users": 30,
        "opened": NOW - 60,
        "count": None,
        "checksum": None,
        "erased": False,
    }
    return wire.RoundLine(**(usual | settings))


def status(line, **settings):
    usual = {
        "name": "count",
        "digest": "d",
        "state": "open",
        "failure": "",
        "trouble": "",
        "rounds": [line],
        "arrivals": [],
        "refused": {},
    }
    return wire.Status(**(usual | settings))


def live(task, row=None, **settings):
    return progress.live(published(task), status(row or line(), **settings), NOW)


def test_a_page_has_an_address_whatever_its_task_is_called():
    assert progress.path("a/b") == "/tasks/a%2Fb"


def test_a_task_in_the_list_says_how_far_it_is():
    facts = progress.task(published(counting(quota=100, minimum=50)), 3)
    assert (facts["name"], facts["state"], facts["users"]) == ("count", "open", "0")
    assert facts["goal"] == "0 of 100 users (quota)"
    assert progress.task(published(counting(minimum=50)), 3)["goal"] == "0 of 50 users (minimum)"


def test_the_mark_changes_with_round_and_state():
    task = counting()
    marks = {progress.mark(published(task, state=state)) for state in (State.OPEN, State.CLOSING)}
    assert len(marks) == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "Closes when an operator closes it."),
        ({"quota": 100}, "Closes at 100 users."),
        ({"seconds": 3660}, "Closes on 15 January 2027, 09:00 UTC, in 1 hour."),
        ({"seconds": 30}, "Closes as soon as 2 users are in: its time is over."),
    ],
)
def test_a_round_says_until_when_it_is_open(settings, words):
    (facts,) = live(counting(**settings))["rounds"]
    assert facts["until"] == words


def test_a_round_that_is_not_open_has_no_end_to_wait_for():
    (facts,) = live(counting(quota=100), line(state="sealed", count=30))["rounds"]
    assert facts["until"] == ""
    assert facts["sealed"] == "30"


def test_arrivals_are_counted_in_slices_of_five_minutes():
    recent = [(NOW - 240, 3), (NOW - 7 * 3600, 100)]
    facts = live(counting(), arrivals=recent)["arrivals"]
    assert facts["text"] == "3 in the last 6 hours, at most 3 in 5 minutes."
    assert [number for _, number in facts["rows"]] == ["3"]
    assert live(counting())["arrivals"]["text"] == "No reports in the last 6 hours."


def test_refusals_are_explained_and_the_most_frequent_is_first():
    facts = live(counting(), refused={"too-early": 2, "malformed": 1000, "of-tomorrow": 1})
    refusals = facts["refusals"]
    assert [refusal["code"] for refusal in refusals] == ["malformed", "too-early", "of-tomorrow"]
    assert refusals[0]["number"] == "1,000"
    assert refusals[0]["remedy"]
    assert refusals[2]["title"] == "of-tomorrow"


def test_a_failed_task_says_why():
    failed = status(line(), failure="too few users")
    made = published(counting())
    assert progress.live(made, failed, NOW)["summary"] == "Failed: too few users."
    made = replace(made, record=replace(made.record, failure="too few users", finished=NOW))
    assert progress.state(made) == "failed"
