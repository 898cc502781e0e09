"""Group commit waits a moment for more where many wait already, and for nobody where few do.

What becomes of the messages of a group is in ``collector/test_intake.py``.
"""

import asyncio
import threading

import pytest

from sottovoce.web import group_commit
from sottovoce.web.group_commit import BUSY, GroupCommit
from sottovoce.web.uploads import UploadReceipt

LONG = 0.4  # seconds


class Commits:
    """A store that waits at a gate, and remembers the sizes of groups."""

    def __init__(self):
        self.gate, self.sizes, self.at_gate = threading.Event(), [], threading.Semaphore(0)

    def __call__(self, group):
        self.sizes.append(len(group))
        self.at_gate.release()
        self.gate.wait()
        return [UploadReceipt(1, 0, []) for _ in group]


@pytest.fixture
def commits():
    return Commits()


@pytest.fixture
def intake(commits, monkeypatch):
    monkeypatch.setattr(group_commit, "PAUSE_SECONDS", LONG)
    made = GroupCommit("test", commits, 1000)
    made.start()
    yield made
    commits.gate.set()
    made.stop()


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
