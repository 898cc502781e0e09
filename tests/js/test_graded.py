"""The JavaScript client answers in graded groups, and the collector reads what it sends."""

from collections import Counter

import pytest

import sottovoce as sv
from sottovoce.engine.memory import batches_of
from sottovoce.wire import codec

USERS = 40


@pytest.mark.parametrize("plan", [sv.Distribution, sv.Mean])
def test_every_group_makes_as_many_reports_as_it_is_asked_for(worker, plan):
    task = sv.Task("age", plan(0, 100, defence="graded", probe=0.125), epsilon=1.0)
    text = codec.canonical(codec.document(task))
    given = {"graded": {"text": text, "value": 34.5, "users": USERS}}
    messages = worker.messages("answers", given)["graded"]
    batches = batches_of(task, task.opening, messages)
    slots = Counter(address.member for address in batches)
    assert set(slots) == {0, 1, 2, 3}, "with 40 people an empty group has a chance of 4e-5"
    assert slots == {0: 1, 1: 2, 2: 4, 3: 8}
    people = {address.member: len(batch.reports) for address, batch in batches.items()}
    assert sum(people.values()) == len(messages) == USERS
