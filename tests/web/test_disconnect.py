"""Work is given up when nobody waits for it any more."""

import asyncio

import pytest

from sottovoce.web.disconnect import unless_gone
from sottovoce.web.problems import RequestError


class Work:
    """Work that takes a while, and knows whether it was given up."""

    def __init__(self, seconds):
        self.seconds, self.given_up = seconds, False

    async def run(self):
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.given_up = True
            raise
        return "done"


def leaving_after(seconds):
    async def receive():
        await asyncio.sleep(seconds)
        return {"type": "http.disconnect"}

    return receive


def test_who_stays_gets_the_result():
    assert asyncio.run(unless_gone(leaving_after(60), Work(0.01).run())) == "done"


def test_the_work_of_who_leaves_is_cancelled():
    work = Work(60)
    with pytest.raises(RequestError) as gone:
        asyncio.run(unless_gone(leaving_after(0.01), work.run()))
    assert gone.value.code == "disconnected"
    assert work.given_up


def test_an_error_of_the_work_is_the_error_of_the_request():
    async def fail():
        raise RequestError("no-data")

    with pytest.raises(RequestError) as failed:
        asyncio.run(unless_gone(leaving_after(60), fail()))
    assert failed.value.code == "no-data"
