"""Group commit of sealed messages: each request gets its own receipt."""

import asyncio

import pytest

from shuffler.hops import people
from sottovoce.shuffler.intake import HopIntake, SealedUpload
from sottovoce.web.problems import RequestError


@pytest.fixture
def counted():
    return []


@pytest.fixture
def intake(hop, counted):
    made = HopIntake(hop, lambda task, outcomes: counted.append((task, dict(outcomes))), 1_000)
    made.start()
    yield made
    made.stop()


def submit(intake, *uploads):
    async def all_at_once():
        return await asyncio.gather(*(intake.submit(upload) for upload in uploads))

    return asyncio.run(all_at_once())


def test_requests_that_are_stored_together_get_their_own_receipts(hop, receiver, intake, counted):
    [task] = hop.tasks()
    _, sealed = people(receiver, 5)
    uploads = [
        SealedUpload(task, 0, sealed[:3]),
        SealedUpload(task, 0, [sealed[0], b"x", sealed[3]]),
        SealedUpload(task, 7, sealed[4:]),
    ]
    first, second, third = submit(intake, *uploads)
    assert (first.accepted, first.duplicates, first.refused) == (3, 0, [])
    assert (second.accepted, second.duplicates) == (1, 1)
    assert [refused.code for refused in second.refused] == ["malformed"]
    assert [(refused.code, refused.retry) for refused in third.refused] == [("too-early", True)]
    assert ("count", {"accepted": 3}) in counted


def test_a_full_queue_turns_requests_away(hop, receiver, intake):
    [task] = hop.tasks()
    with pytest.raises(RequestError) as refusal:
        submit(intake, SealedUpload(task, 0, [b"x"] * 1_001))
    assert refusal.value.code == "busy"
