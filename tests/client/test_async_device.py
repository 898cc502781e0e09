"""The asynchronous device: the same answers, ledger and refusals, without blocking the loop."""

import asyncio

import pytest

import sottovoce as sv
from sottovoce.errors import BudgetError
from sottovoce.wire import codec

TASK = sv.Task("pets", sv.Histogram(["cat", "dog"]), 1.0)


def test_it_answers_once_and_keeps_the_message(tmp_path):
    async def use():
        async with sv.AsyncDevice("http://127.0.0.1:9", tmp_path / "ledger.db") as device:
            notice = await device.notice(codec.document(TASK))
            assert "pets" in await device.explain(notice)
            await device.agree(notice)
            message = await device.answer(notice, "cat")
            with pytest.raises(BudgetError):
                await device.answer(notice, "dog")
            flushed = await device.flush(force=True)  # nobody is there: the message waits
            return message, flushed

    message, flushed = asyncio.run(use())
    assert isinstance(message, bytes)
    assert (flushed.sent, flushed.waiting) == (0, 1)
    with sv.Ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.spent == pytest.approx(1.0)


def test_the_loop_goes_on_while_a_device_works(tmp_path):
    async def use():
        steps = []

        async def tick():
            for step in range(3):
                steps.append(step)
                await asyncio.sleep(0)

        async with sv.AsyncDevice("http://127.0.0.1:9", tmp_path / "ledger.db") as device:
            await asyncio.gather(device.answer(codec.document(TASK), "cat"), tick())
            await device.opt_out()
        return steps

    assert asyncio.run(use()) == [0, 1, 2]
