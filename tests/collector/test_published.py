"""A task as a collector holds it: read once, with the rounds that were asked."""

from dataclasses import replace

import pytest

from collector.people import ASKS, counting, once, published
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import State
from sottovoce.maths import exact
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.wire import codec


def test_it_is_the_task_of_its_record():
    task = counting()
    made = published(task)
    assert made.task == task
    assert made.digest == codec.digest(codec.document(task))
    assert made.fingerprint == codec.fingerprint(made.record.document)
    assert made.asked == {0: task.opening}


def test_newer_records_share_what_was_read():
    made = published(counting())
    later = made.after(made.record, [replace(made.last, users=7)])
    assert later.last.users == 7
    assert later.task is made.task
    assert later.asked[0] is made.asked[0]


@pytest.mark.parametrize("name", ["grr", "choice of a family", "bundle of choices"])
def test_a_question_is_found_by_its_address_and_others_are_not_there(name):
    made = published(once(ASKS[name]))
    asked = made.asked[0]
    for address in asked.addresses(lambda slot: 0):
        assert made.question(address) == asked.question(address)
    assert made.question(Address(0, 1000, 0)) is None
    assert made.question(Address(0, 0, 17)) is None


def test_a_round_closes_at_its_share_of_the_quota_but_never_below_the_minimum():
    task = counting(quota=100, minimum=20)
    half = replace(task.opening, number=1, low=0, high=exact.UNIT // 2)
    sliver = Round(2, task.opening.ask, low=0, high=exact.UNIT // 100)
    made = published(task, half, sliver)
    assert [made.quota(number) for number in range(3)] == [100, 50, 20]
    assert published(counting()).quota(0) == 0


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (State.OPEN, "open"),
        (State.CLOSING, "closing"),
        (State.SEALING, "sealed"),
        (State.SEALED, "sealed"),
    ],
)
def test_clients_see_whether_reports_are_taken(state, shown):
    made = published(counting(), state=state)
    assert made.state == shown
    finished = Published.of(replace(made.record, finished=1), made.rounds)
    assert finished.state == "finished"


def test_operators_see_that_a_task_failed():
    made = published(counting())
    assert made.shown_state == made.state == "open"
    failed = Published.of(replace(made.record, finished=1, failure="too few users"), made.rounds)
    assert (failed.state, failed.shown_state) == ("finished", "failed")


def test_a_large_epsilon_is_a_concern():
    usual = published(counting())
    large = replace(usual, task=replace(usual.task, epsilon=20.0))
    assert len(large.concerns) == len(usual.concerns) + 1
    assert any("a factor of 4.85e+08" in concern for concern in large.concerns)


def test_a_token_buys_one_message_a_round_where_rounds_repeat_and_one_for_all_otherwise():
    made = published(counting())
    assert made.epoch(5) == 0
    longitudinal = replace(made, task=replace(made.task, distinct=2))
    assert longitudinal.epoch(5) == 5
