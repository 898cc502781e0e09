"""Group commit waits a moment for more where many wait already, and for nobody where few do.

A full group waits for nobody, and is checked while the one before is stored.  What becomes of the
messages of a group is in ``collector/test_intake.py``.
"""

import asyncio
import threading

import pytest

from sottovoce.errors import UnavailableError
from sottovoce.web import group_commit
from sottovoce.web.group_commit import BUSY, GroupCommit
from sottovoce.web.uploads import UploadReceipt

LONG = 0.4  # seconds
FOR_EVER = 3_600.0
PATIENCE = 20.0  # seconds until a test gives up
FULL = 3 * BUSY  # messages in a full group of the tests that fill one


class Checks:
    """A check that changes nothing, and remembers the sizes of groups."""

    def __init__(self):
        self.sizes, self.ended = [], threading.Semaphore(0)

    def __call__(self, group):
        self.sizes.append(len(group))
        self.ended.release()
        if "broken" in group:
            raise UnavailableError("a check that fails")
        return group


class Commits:
    """A store that waits at a gate, and remembers the sizes of groups."""

    def __init__(self):
        self.gate, self.sizes, self.at_gate = threading.Event(), [], threading.Semaphore(0)

    def __call__(self, group):
        self.sizes.append(len(group))
        self.at_gate.release()
        self.gate.wait()
        if "lost" in group:
            raise UnavailableError("a store that fails")
        return [UploadReceipt(1, 0, []) for _ in group]


@pytest.fixture
def checks():
    return Checks()


@pytest.fixture
def commits():
    return Commits()


@pytest.fixture
def intake(checks, commits, monkeypatch):
    monkeypatch.setattr(group_commit, "PAUSE_SECONDS", LONG)
    made = GroupCommit("test", checks, commits, 1000)
    made.start()
    yield made
    commits.gate.set()
    made.stop()


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(group_commit, "MESSAGES_AT_ONCE", FULL)


def enqueued(intake, count, submission=0):
    return [asyncio.ensure_future(intake.enqueue(submission, 1)) for _ in range(count)]


async def first_at_gate(intake, commits, submission=0):
    """Return a request that is being stored until the gate opens."""
    first = enqueued(intake, 1, submission)
    await asyncio.to_thread(commits.at_gate.acquire)
    return first


async def acquired(semaphore):
    return await asyncio.to_thread(semaphore.acquire, timeout=PATIENCE)


@pytest.mark.parametrize(
    ("waiting", "groups"), [(BUSY, [1, BUSY + 5]), (BUSY - 1, [1, BUSY - 1, 5])]
)
def test_a_busy_queue_is_given_some_time(intake, commits, waiting, groups):
    async def run():
        requests = [asyncio.ensure_future(intake.enqueue(0, 1))]
        await asyncio.to_thread(commits.at_gate.acquire)
        requests += [asyncio.ensure_future(intake.enqueue(0, 1)) for _ in range(waiting)]
        await asyncio.sleep(0)
        commits.gate.set()
        await asyncio.sleep(LONG / 2)
        requests += [asyncio.ensure_future(intake.enqueue(0, 1)) for _ in range(5)]
        await asyncio.gather(*requests)

    asyncio.run(run())
    assert commits.sizes[:2] == groups[:2]
    assert sum(commits.sizes) == sum(groups)
    assert intake.waiting == 0


def test_one_answer_that_fails_does_not_keep_the_others_waiting(intake, commits, caplog):
    def broken(result):
        raise ValueError

    async def run():
        commits.gate.set()
        intake.offer(0, 1, broken)
        return await intake.enqueue(0, 1)

    assert asyncio.run(run()) == UploadReceipt(1, 0, [])
    assert intake.waiting == 0
    assert "ValueError" in caplog.text


def test_a_full_group_is_given_no_time(intake, commits, small_groups, monkeypatch):
    monkeypatch.setattr(group_commit, "PAUSE_SECONDS", FOR_EVER)
    commits.gate.set()

    async def run():
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*enqueued(intake, FULL))

    asyncio.run(run())
    assert sum(commits.sizes) == FULL


def test_time_that_is_given_ends_when_the_group_is_full(intake, commits, small_groups, monkeypatch):
    monkeypatch.setattr(group_commit, "PAUSE_SECONDS", FOR_EVER)

    async def run():
        requests = await first_at_gate(intake, commits)
        requests += enqueued(intake, FULL - 1)
        await asyncio.sleep(0)
        commits.gate.set()
        await requests[0]
        await asyncio.sleep(LONG / 4)
        assert commits.sizes == [1], "a busy queue is given time"
        requests += enqueued(intake, 1)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*requests)

    asyncio.run(run())
    assert commits.sizes == [1, FULL]


def test_a_full_group_is_checked_while_another_is_stored(intake, checks, commits, small_groups):
    async def run():
        requests = await first_at_gate(intake, commits)
        assert await acquired(checks.ended)
        requests += enqueued(intake, 3 * FULL)
        assert await acquired(checks.ended)
        await asyncio.sleep(LONG / 4)
        assert checks.sizes == [1, FULL], "one group is checked ahead, and no more"
        assert commits.sizes == [1]
        assert not any(request.done() for request in requests), "nothing of it is durable"
        commits.gate.set()
        await asyncio.gather(*requests)

    asyncio.run(run())
    assert checks.sizes == commits.sizes == [1, FULL, FULL, FULL]
    assert intake.waiting == 0


def test_a_group_grows_while_another_is_stored(intake, checks, commits, small_groups):
    async def run():
        requests = await first_at_gate(intake, commits)
        for count in (BUSY, 1, FULL - BUSY - 2):
            requests += enqueued(intake, count)
            await asyncio.sleep(LONG / 8)
        commits.gate.set()
        await asyncio.gather(*requests)

    asyncio.run(run())
    assert checks.sizes == commits.sizes == [1, FULL - 1]


def test_a_check_that_fails_is_told_to_its_own_group(intake, commits, small_groups):
    async def run():
        requests = await first_at_gate(intake, commits)
        broken = enqueued(intake, FULL, "broken")
        others = enqueued(intake, FULL)
        with pytest.raises(UnavailableError, match="a check that fails"):
            await broken[-1]
        assert not requests[0].done()
        commits.gate.set()
        return await asyncio.gather(*requests, *others), broken

    receipts, broken = asyncio.run(run())
    assert len(receipts) == 1 + FULL
    assert all(isinstance(request.exception(), UnavailableError) for request in broken)
    assert commits.sizes == [1, FULL]


def test_a_store_that_fails_does_not_fail_the_group_behind_it(intake, commits, small_groups):
    async def run():
        lost = await first_at_gate(intake, commits, "lost")
        others = enqueued(intake, FULL)
        await asyncio.sleep(LONG / 8)
        commits.gate.set()
        with pytest.raises(UnavailableError, match="a store that fails"):
            await lost[0]
        return await asyncio.gather(*others)

    assert len(asyncio.run(run())) == FULL


def test_stopping_finishes_what_is_waiting(intake, checks, commits, small_groups):
    async def run():
        requests = await first_at_gate(intake, commits)
        requests += enqueued(intake, 2 * FULL + 1)
        await asyncio.sleep(0)
        stopping = asyncio.to_thread(intake.stop)
        commits.gate.set()
        await stopping
        return await asyncio.gather(*requests)

    assert len(asyncio.run(run())) == 2 * FULL + 2
