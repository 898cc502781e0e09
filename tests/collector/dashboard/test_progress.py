"""The progress of a collection in words: what is missing, until when, and what was refused."""

import pytest

from collector.people import counting, published
from collector.shuffled import shuffled
from sottovoce.collector import wire
from sottovoce.collector.dashboard import progress
from sottovoce.collector.shuffle_status import ShuffleLine
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


SHUFFLE = ShuffleLine(
    hops=["https://mix-a.example"],
    keys=1,
    layers=2,
    set_signatures=1,
    received=0,
    parts=0,
    complete=False,
    messages=0,
    unopened=0,
    duplicates=0,
    fakes=7,
    canaries=3,
    canaries_found=0,
    detection=0.0,
    central=0.5,
    against_users=1.5,
    local=6.0,
    delta=1e-9,
)


def shuffle_facts(**changes):
    given = {name: getattr(SHUFFLE, name) for name in SHUFFLE.__struct_fields__} | changes
    (row,) = live(shuffled(), line(shuffle=ShuffleLine(**given)))["rounds"]
    return dict(row["shuffle"]["facts"]), row["shuffle"]["alarm"], row["until"]


def test_a_shuffled_round_shows_its_hops_keys_and_all_three_promises():
    facts, alarm, until = shuffle_facts()
    assert facts["Hops"] == "https://mix-a.example"
    assert facts["Keys"] == "1 of 2 are here"
    assert facts["Signed as a set"] == "by 1 of 1 shufflers"
    assert facts["Batch"] == "no part has come"
    assert facts["Canaries"] == "3 sent"
    assert facts["Against the collector alone"].startswith("epsilon 0.5, except")
    assert facts["Against the collector with all other users"].startswith("epsilon 1.5, except")
    assert facts["Against everybody, the hops included"] == "epsilon 6"
    assert (alarm, until) == (False, "Closes when the last hop has delivered the batch.")


def test_missing_canaries_are_an_alarm_once_the_batch_is_opened():
    arrived = {"received": 2, "parts": 2, "complete": True, "messages": 1_000, "duplicates": 4}
    facts, alarm, _ = shuffle_facts(**arrived, canaries_found=2, detection=0.9)
    assert facts["Batch"] == "2 of 2 parts, complete"
    assert facts["Messages"] == "1,000, of which 7 are fakes"
    assert facts["Duplicates dropped"] == "4"
    assert facts["Canaries"].startswith("2 of 3 found; a loss of 1 % would show")
    assert alarm
    _, alarm, _ = shuffle_facts(**arrived, canaries_found=3)
    assert not alarm
