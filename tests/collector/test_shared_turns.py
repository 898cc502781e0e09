"""Turns for queries of several workers: one of a token at a time, whoever asks which worker."""

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collector.test_query_queue import Hall
from sottovoce.collector.query_queue import QueryQueue
from sottovoce.collector.shared_turns import SharedTurns

POLL = 0.08  # a little longer than a worker waits until it looks again
HOLD = """
import asyncio, sys
from pathlib import Path
from sottovoce.collector.query_queue import QueryQueue
from sottovoce.collector.shared_turns import SharedTurns

async def hold():
    async with SharedTurns(Path(sys.argv[1]), 2, QueryQueue(100, 8, 100)).turn("anna"):
        print("runs", flush=True)
        await asyncio.sleep(60)

asyncio.run(hold())
"""


class Clock:
    """A clock that moves whenever somebody looks."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return self.now


class Workers:
    """Several workers at one door, in one process: their locks do not know that."""

    def __init__(self, folder, count, shared=True):
        clock = Clock()
        self.halls = []
        for _ in range(count):
            hall = Hall(max_running=100 if shared else 2)
            if shared:
                hall.queue = SharedTurns(folder / "turns", 2, hall.queue, clock)
            self.halls.append(hall)

    @property
    def running(self):
        return sorted(name for hall in self.halls for name in hall.running)

    async def ask(self, worker, token, name):
        await self.halls[worker].ask(token, name)

    async def end(self, name):
        (hall,) = (hall for hall in self.halls if name in hall.running)
        await hall.end(name)
        await asyncio.sleep(POLL)


def play(scene, *given, **named):
    async def run():
        workers = Workers(*given, **named)
        try:
            await scene(workers)
        finally:
            tasks = [task for hall in workers.halls for task in hall.tasks.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("shared", "together"), [(True, ["anna 0"]), (False, ["anna 0", "anna 1"])]
)
def test_a_token_runs_one_query_at_a_time_whichever_worker_it_asks(tmp_path, shared, together):
    """The twin: queues that do not know each other run a query of the token each."""

    async def scene(workers):
        await workers.ask(0, "anna", "anna 0")
        await workers.ask(1, "anna", "anna 1")
        await asyncio.sleep(POLL)
        assert workers.running == together
        if shared:
            await workers.end("anna 0")
            assert workers.running == ["anna 1"]

    play(scene, tmp_path, 2, shared=shared)


def test_no_more_run_at_once_than_with_one_worker(tmp_path):
    async def scene(workers):
        for worker, token in enumerate(("anna", "bob", "carla")):
            await workers.ask(worker, token, token)
        await asyncio.sleep(POLL)
        assert workers.running == ["anna", "bob"]
        await workers.end("bob")
        assert workers.running == ["anna", "carla"]

    play(scene, tmp_path, 3)


def test_whoever_asks_all_workers_waits_behind_those_who_ask_one(tmp_path):
    async def scene(workers):
        for worker in range(3):
            for token in ("anna", "bob"):
                await workers.ask(worker, token, f"{token} {worker}")
        await workers.ask(0, "carla", "carla")
        assert workers.running == ["anna 0", "bob 0"]
        await workers.end("bob 0")
        assert workers.running == ["anna 0", "carla"]
        await workers.end("anna 0")
        assert workers.running == ["bob 1", "carla"]
        await workers.end("carla")
        assert workers.running == ["anna 1", "bob 1"]

    play(scene, tmp_path, 3)


def test_a_query_that_is_given_up_leaves_no_ticket(tmp_path):
    async def scene(workers):
        for worker in range(2):
            await workers.ask(worker, "anna", f"anna {worker}")
        await workers.halls[1].give_up("anna 1")
        await workers.halls[0].give_up("anna 0")
        assert [path.name for path in (tmp_path / "turns").iterdir()] == ["lock"]

    play(scene, tmp_path, 2)


def test_the_turn_of_a_ticket_that_cannot_be_removed_is_free(tmp_path, monkeypatch):
    """As when a process has no file descriptor left at the end of a query."""

    def refuse(*given):
        raise OSError(errno.EMFILE, "too many open files")

    async def scene():
        turns = SharedTurns(tmp_path / "turns", 1, QueryQueue(100, 8, 100))
        async with turns.turn("anna"):
            monkeypatch.setattr(os, "open", refuse)
        monkeypatch.undo()
        async with asyncio.timeout(20 * POLL), turns.turn("anna"):
            names = [path.name for path in (tmp_path / "turns").iterdir()]
            return sorted(name.partition("-")[0] for name in names)

    assert asyncio.run(scene()) == ["lock", "runs"]


def test_a_query_ends_in_order_if_its_ticket_has_gone(tmp_path):
    async def scene():
        turns = SharedTurns(tmp_path / "turns", 1, QueryQueue(100, 8, 100))
        async with turns.turn("anna"):
            opened = len(list(Path("/proc/self/fd").iterdir()))
            for path in (tmp_path / "turns").glob("runs-*"):
                path.unlink()
        return opened - len(list(Path("/proc/self/fd").iterdir()))

    assert asyncio.run(scene()) == 1


def test_the_turn_of_a_process_that_is_killed_is_free(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "turns")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "runs\n"

    async def scene(workers):
        await workers.ask(0, "anna", "anna")
        assert workers.running == []
        process.kill()
        process.communicate()
        await asyncio.sleep(POLL)
        assert workers.running == ["anna"]

    play(scene, tmp_path, 1)
