"""A few hundred enrolled devices through a collector that is killed.

``scripts/graded_groups.py`` does the same with 10,000.  ``tests/system/test_graded.py`` kills a
collector every day; here only the devices are made daily.
"""

import pytest

from sottovoce.lab.graded_collection import (
    GradedSettings,
    MessageRefusal,
    enrolled_devices,
    graded_run,
)

SMALL = GradedSettings(devices=600, epsilon=0.5, buckets=16)


def test_every_token_pays_for_the_message_of_its_group():
    tokens = [f"token {number}" for number in range(SMALL.devices)]
    devices = enrolled_devices(SMALL, tokens)
    assert sorted(devices.tokens) == sorted(tokens)
    assert devices.honest.sum() == pytest.approx(1)
    assert devices.answer.users == SMALL.devices
    place = devices.of_member(0, 100)
    assert place >= 100
    assert len(devices.messages[place]) == min(len(message) for message in devices.messages)


@pytest.mark.papers
def test_the_answer_survives_the_kill_and_dishonest_messages_are_refused():
    run = graded_run(SMALL)
    print(run.divergences, run.refusals)
    assert run.is_same_answer
    assert run.answer["users"] == SMALL.devices
    assert len(run.refusals) == 4
    assert all(refusal.is_right for refusal in run.refusals)
    run.answer["users"] -= 1
    assert not run.is_same_answer, "the comparison can fail"


def test_a_message_that_was_taken_is_no_refusal():
    assert not MessageRefusal("a report too many", "incomplete", ()).is_right
    assert not MessageRefusal("a report too many", "incomplete", ("not-asked",)).is_right
    assert MessageRefusal("a report too many", "incomplete", ("incomplete",)).is_right
