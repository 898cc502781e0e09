"""Turns for queries: one of a token at a time, and round robin between tokens."""

import asyncio

import pytest

from sottovoce.collector.query_queue import QueryQueue
from sottovoce.web.problems import RequestError


class Hall:
    """People who wait for turns; a turn lasts until the test ends it."""

    def __init__(self, **limits):
        self.queue = QueryQueue(**{"max_running": 2, "max_waiting": 8, "max_tokens": 4} | limits)
        self.running = []
        self.tasks = {}
        self.ends = {}

    async def ask(self, token, name):
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._query(token, name))
        await settle()

    async def _query(self, token, name):
        async with self.queue.turn(token):
            self.running.append(name)
            try:
                await self.ends[name].wait()
            finally:
                self.running.remove(name)

    async def end(self, name):
        self.ends[name].set()
        await self.tasks[name]
        await settle()

    async def give_up(self, name):
        self.tasks[name].cancel()
        await asyncio.gather(self.tasks[name], return_exceptions=True)
        await settle()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


def play(scene, **limits):
    async def run():
        hall = Hall(**limits)
        try:
            await scene(hall)
        finally:
            for task in hall.tasks.values():
                task.cancel()
            await asyncio.gather(*hall.tasks.values(), return_exceptions=True)

    asyncio.run(run())


def test_a_token_runs_one_query_at_a_time():
    async def scene(hall):
        for name in ("a1", "a2", "a3"):
            await hall.ask("a", name)
        assert hall.running == ["a1"], "a turn is free, but not for the same token"
        await hall.end("a1")
        assert hall.running == ["a2"]

    play(scene)


def test_turns_go_round_between_tokens_whatever_one_has_in_the_queue():
    async def scene(hall):
        for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1"):
            await hall.ask(name[0], name)
        order = []
        while hall.running:
            order.append(hall.running[0])
            await hall.end(hall.running[0])
        assert order == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]

    play(scene, max_running=1)


def test_no_more_than_allowed_run_at_once():
    async def scene(hall):
        for name in ("a1", "b1", "c1"):
            await hall.ask(name[0], name)
        assert hall.running == ["a1", "b1"]
        await hall.end("b1")
        assert hall.running == ["a1", "c1"]

    play(scene)


def test_who_gives_up_makes_room_whether_waiting_or_running():
    async def scene(hall):
        for name in ("a1", "b1", "c1", "d1"):
            await hall.ask(name[0], name)
        await hall.give_up("c1")
        await hall.give_up("a1")
        assert hall.running == ["b1", "d1"]
        await hall.end("b1")
        await hall.end("d1")
        await hall.ask("c", "c2")
        assert hall.running == ["c2"]

    play(scene)


def test_a_turn_that_is_given_to_somebody_who_leaves_goes_on():
    async def scene(hall):
        for name in ("a1", "b1", "c1"):
            await hall.ask(name[0], name)
        hall.ends["a1"].set()
        hall.tasks["b1"].cancel()  # both before the loop runs again
        await asyncio.gather(hall.tasks["a1"], hall.tasks["b1"], return_exceptions=True)
        await settle()
        assert hall.running == ["c1"]

    play(scene, max_running=1)


def refused(coroutine):
    """Return how a request is refused; one that waits for ever instead fails after a while."""
    with pytest.raises(RequestError) as error:
        asyncio.run(asyncio.wait_for(coroutine, timeout=10))
    return error.value


def test_the_queries_of_a_token_that_wait_are_bounded():
    async def flood():
        queue = QueryQueue(1, 2, 4)
        async with queue.turn("a"):
            waiting = [asyncio.create_task(queue.turn("a").__aenter__()) for _ in range(2)]
            await settle()
            try:
                async with queue.turn("a"):
                    pass
            finally:
                for task in waiting:
                    task.cancel()

    error = refused(flood())
    assert (error.code, error.retry_after) == ("too-many-queries", 1.0)


def test_the_tokens_that_wait_are_bounded():
    async def flood():
        queue = QueryQueue(1, 2, 1)
        async with queue.turn("a"):
            waiting = asyncio.create_task(queue.turn("b").__aenter__())
            await settle()
            try:
                async with queue.turn("c"):
                    pass
            finally:
                waiting.cancel()

    assert refused(flood()).code == "unavailable"
