"""Group commit: many requests share a transaction, and each is told its own outcome when it is
durable.
"""

import asyncio
import threading

import pytest

from collector.people import (
    counting,
    digest_of,
    envelope,
    fresh,
    honest,
    numbered,
    once,
    published,
    question,
    text,
)
from collector.sending import held, states
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.intake import Intake
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import UnavailableError
from sottovoce.tasks.round import Round
from sottovoce.web import group_commit
from sottovoce.web.problems import RequestError


class Gated(SqliteStore):
    """A store that waits at a gate before it accepts, fails on demand, and remembers how much came
    at once.
    """

    def __init__(self, path):
        super().__init__(path)
        self.gate, self.at_gate, self.groups, self.failing = (
            threading.Event(),
            threading.Semaphore(0),
            [],
            [],
        )
        self.gate.set()

    def accept(self, offers, refused, now):
        self.at_gate.release()
        self.gate.wait()
        self.groups.append(sum(len(one) for one in offers))
        if self.failing:
            raise self.failing.pop(0)
        return super().accept(offers, refused, now)


@pytest.fixture
def store(open_store):
    return open_store(kind=Gated)


@pytest.fixture
def collector(store, tmp_path, clock):
    made = Collector(store, tmp_path, clock)
    made.create(text(counting()), toml=False)
    return made


@pytest.fixture
def intake(store, clock, collector):
    made = Intake(store, clock, lambda task, outcomes: None, most_waiting=5000)
    made.start()
    yield made
    store.gate.set()
    made.stop()


async def one_group(store, *requests):
    """Let requests wait behind one that the store is busy with, then let all of them through."""
    store.gate.clear()
    first = asyncio.ensure_future(requests[0])
    await asyncio.to_thread(store.at_gate.acquire)
    rest = [asyncio.ensure_future(one) for one in requests[1:]]
    await asyncio.sleep(0)
    store.gate.set()
    return await asyncio.gather(first, *rest, return_exceptions=True)


def summary(outcome):
    refused = [(one.index, one.code, one.retry) for one in outcome.refused]
    return outcome.accepted, outcome.duplicates, refused


def test_every_request_of_a_group_gets_its_own_outcome(store, collector, intake):
    task, found = counting(), collector.find("count")
    mine = numbered(task, 1, 2, 3)
    requests = [
        mine,
        [*numbered(task, 4), b"junk", mine[0]],
        [envelope(bytes(16), b"\0")],
        mine,
        [envelope(digest_of(task), b"\0", number=1), *numbered(task, 5)],
    ]

    async def run():
        return await one_group(
            store, *(intake.submit(found, messages, ()) for messages in requests)
        )

    outcomes = asyncio.run(run())
    assert [summary(one) for one in outcomes] == [
        (3, 0, []),
        (1, 1, [(1, "malformed", False)]),
        (0, 0, [(0, "other-task", False)]),
        (0, 3, []),
        (1, 0, [(0, "too-early", True)]),
    ]
    assert store.groups == [3, 6], "those that waited shared one transaction"
    assert store.refusals(found.digest) == {"malformed": 1, "other-task": 1, "too-early": 1}


def test_a_group_may_hold_several_tasks(store, collector, intake):
    other = counting("other")
    collector.create(text(other), toml=False)
    first, second = collector.find("count"), collector.find("other")

    async def run():
        mine, theirs = numbered(counting(), 1, 2), numbered(other, 3)
        requests = [(first, mine), (second, [*theirs, *mine]), (first, theirs), (second, theirs)]
        return await one_group(
            store, *(intake.submit(at, messages, ()) for at, messages in requests)
        )

    assert [summary(one) for one in asyncio.run(run())] == [
        (2, 0, []),
        (1, 0, [(1, "other-task", False), (2, "other-task", False)]),
        (0, 0, [(0, "other-task", False)]),
        (0, 1, []),
    ]
    assert [collector.store.rounds(one.digest)[0].users for one in (first, second)] == [2, 1]


def test_a_group_is_judged_by_the_latest_that_is_known_of_its_task(store, collector, intake):
    """A request that was read before a round opened must not make the next one too early."""
    task = counting()
    before, after = published(task), published(task, Round(1, task.opening.ask))
    store.open_round(before.digest, 1, after.rounds[1].document, 0)
    early = [envelope(digest_of(task), b"\7", number=1)]

    async def run():
        return await one_group(
            store,
            intake.submit(before, numbered(task, 1), ()),
            intake.submit(before, numbered(task, 2), ()),
            intake.submit(after, early, ()),
        )

    assert [summary(one) for one in asyncio.run(run())] == [(1, 0, [])] * 3


def test_an_unavailable_store_tells_every_request_of_the_group_and_the_next_group_works(
    store, collector, intake
):
    found, task = collector.find("count"), counting()
    first, second, third = numbered(task, 1), numbered(task, 2), numbered(task, 3)

    async def run():
        store.failing = [UnavailableError("the disk is full"), UnavailableError("still full")]
        failed = await one_group(
            store, *(intake.submit(found, one, ()) for one in (first, second, third))
        )
        again = await asyncio.gather(
            *(intake.submit(found, one, ()) for one in (first, second, third))
        )
        return failed, again

    failed, again = asyncio.run(run())
    assert [type(one) for one in failed] == [UnavailableError] * 3
    assert sum(one.accepted for one in again) == 3
    assert store.rounds(found.digest)[0].users == 3
    assert intake.waiting == 0


def test_an_error_that_nobody_thought_of_does_not_stop_the_intake(store, collector, intake):
    found, task = collector.find("count"), counting()

    async def run():
        store.failing = [ZeroDivisionError()]
        with pytest.raises(UnavailableError, match="could not be stored"):
            await intake.submit(found, numbered(task, 1), ())
        return await intake.submit(found, numbered(task, 1), ())

    assert summary(asyncio.run(run())) == (1, 0, [])


def test_more_than_may_wait_is_turned_away_at_once(store, collector, intake):
    found, task = collector.find("count"), counting(size=256)

    async def run():
        store.gate.clear()
        waiting = [
            asyncio.ensure_future(intake.submit(found, numbered(task, *range(250)), ()))
            for _ in range(20)
        ]
        await asyncio.sleep(0)
        assert intake.waiting == 5000
        with pytest.raises(RequestError) as refused:
            await intake.submit(found, numbered(task, 1), ())
        store.gate.set()
        await asyncio.gather(*waiting)
        return refused.value, await intake.submit(found, numbered(task, 1), ())

    refused, later = asyncio.run(run())
    assert (refused.code, refused.retry_after) == ("busy", 1.0)
    assert summary(later) == (1, 0, [])
    assert intake.waiting == 0


def test_a_transaction_has_an_end_however_much_is_waiting(store, collector, intake, monkeypatch):
    monkeypatch.setattr(group_commit, "MESSAGES_AT_ONCE", 4_000)
    found, task = collector.find("count"), counting()

    async def run():
        requests = [intake.submit(found, numbered(task, *range(200)), ()) for _ in range(24)]
        return await one_group(store, *requests)

    outcomes = asyncio.run(run())
    assert sum(one.accepted for one in outcomes) == 24 * 200
    assert store.groups == [200, 4_000, 600]


def test_a_request_that_went_away_is_stored_and_holds_up_nobody(store, collector, intake):
    found, task = collector.find("count"), counting()

    async def run():
        store.gate.clear()
        gone = asyncio.ensure_future(intake.submit(found, numbered(task, 1), ()))
        await asyncio.to_thread(store.at_gate.acquire)
        gone.cancel()
        store.gate.set()
        return await intake.submit(found, numbered(task, 2), ())

    assert summary(asyncio.run(run())) == (1, 0, [])
    assert store.rounds(found.digest)[0].users == 2
    assert intake.waiting == 0


def test_stopping_finishes_what_is_waiting(store, collector, clock):
    found, task = collector.find("count"), counting()
    intake = Intake(store, clock, lambda task, outcomes: None, most_waiting=5000)
    intake.start()

    async def run():
        store.gate.clear()
        waiting = [
            asyncio.ensure_future(intake.submit(found, numbered(task, one), ())) for one in range(5)
        ]
        await asyncio.sleep(0)
        stopping = asyncio.create_task(asyncio.to_thread(intake.stop))
        store.gate.set()
        await stopping
        return await asyncio.gather(*waiting)

    assert sum(one.accepted for one in asyncio.run(run())) == 5
    assert store.rounds(found.digest)[0].users == 5


def test_tokens_are_matched_to_their_own_messages(store, collector, intake, clock):
    task = once(question(), name="enrolled", enrolment=True)
    collector.create(text(task), toml=False)
    found = collector.find("enrolled")
    good = access.issue(store, "enrolment", clock.now, batch=access.TokenBatch(3))
    sent = honest(task, 6)

    async def run():
        return await one_group(
            store,
            intake.submit(found, sent[:1], good[:1]),
            intake.submit(found, sent[1:3], ()),
            intake.submit(found, sent[3:6], [good[1], "nobody", good[1]]),
            intake.submit(found, sent[:2], [good[0], good[2]]),
        )

    assert [summary(one) for one in asyncio.run(run())] == [
        (1, 0, []),
        (0, 0, [(0, "token-missing", False), (1, "token-missing", False)]),
        (1, 0, [(1, "token-unknown", False), (2, "token-spent", False)]),
        (1, 1, []),
    ]


def test_what_was_acknowledged_is_what_is_sealed(store, collector, intake):
    found, task = collector.find("count"), counting()

    async def run():
        sent = [numbered(task, 3 * one, 3 * one + 1, 3 * one + 2) for one in range(20)]
        return await asyncio.gather(*(intake.submit(found, one, ()) for one in [*sent, *sent]))

    outcomes = asyncio.run(run())
    assert (sum(one.accepted for one in outcomes), sum(one.duplicates for one in outcomes)) == (
        60,
        60,
    )
    collector.close("count", at_once=True)
    collector.advance()
    assert states(collector, "count") == ["sealed"]
    assert held(collector, "count") == dict.fromkeys(range(60), 1)


def test_one_report_in_two_requests_at_once_is_counted_once(store, collector, intake):
    found, task, report = collector.find("count"), counting(), fresh()
    same = numbered(task, 9, report=report)

    async def run():
        return await one_group(store, *(intake.submit(found, same, ()) for _ in range(4)))

    assert sorted(summary(one)[:2] for one in asyncio.run(run())) == [(0, 1)] * 3 + [(1, 0)]
