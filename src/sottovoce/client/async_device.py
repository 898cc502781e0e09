"""A device for asynchronous programs.

It is the same device: tasks are checked, charged and answered by the same code.  Everything runs in
one thread that belongs to it, in the order of the calls, because a ledger is one file.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sottovoce.client.device import Device, Flushed
from sottovoce.client.ledger import DiskLedger
from sottovoce.tasks.notice import Notice
from sottovoce.wire import codec

Result = TypeVar("Result")


class AsyncDevice:
    """One person's device and one collector.

    ``ledger`` is the path of the ledger's file, which this device opens.  Further options are those
    of ``Device``.
    """

    def __init__(self, url: str, ledger: str | Path, **options: Any) -> None:
        self._thread = ThreadPoolExecutor(1, "sottovoce-device")
        self._device = self._thread.submit(
            lambda: Device(url, DiskLedger(ledger), **options)
        ).result()

    async def __aenter__(self) -> "AsyncDevice":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def answer(self, task: str | codec.Document | Notice, value: Any) -> bytes:
        """Answer a task and put the message into the outbox, from which ``flush`` sends it."""
        return await self._run(partial(self._device.answer, task, value))

    async def notice(self, task: str | codec.Document | Notice) -> Notice:
        """Return the notice of a task, for ``explain`` and ``agree``; nothing is remembered."""
        return await self._run(partial(self._device.notice, task))

    async def explain(self, notice: Notice) -> str:
        """Return in words what a task asks, what an answer reveals and what is promised."""
        return await self._run(partial(self._device.explain, notice))

    async def agree(self, notice: Notice) -> None:
        """Remember what a task asks, in place of what one of its name asked before."""
        await self._run(partial(self._device.agree, notice))

    async def flush(self, *, force: bool = False) -> Flushed:
        """Send the messages that are due, or with ``force`` all that wait."""
        return await self._run(partial(self._device.flush, force=force))

    async def opt_out(self) -> None:
        """Erase what any task may still send or build on and never answer again."""
        await self._run(self._device.opt_out)

    async def close(self) -> None:
        """Close the ledger; the device cannot be used any more."""
        await self._run(self._device.ledger.close)
        self._thread.shutdown()

    async def _run(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)
