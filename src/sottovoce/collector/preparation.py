"""Rounds are prepared before reports are checked against them.

To check a report takes the question at its address.  A table may have a hundred thousand of them,
and each takes a fraction of a millisecond to make when it is seen for the first time.  A stranger
who sends one report for every layer would hold up the commits of all tasks, so the questions of a
round are made beforehand, once, by a thread that holds up nobody.
"""

import asyncio

from starlette.concurrency import run_in_threadpool

from sottovoce.collector.published import Published
from sottovoce.web.problems import RequestError

_PATIENCE = 1.0  # seconds that a request waits for a round to be prepared


class Preparation:
    """Prepares each round once; requests wait for a moment and are then told to come back."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._running: dict[str, asyncio.Future[None]] = {}

    async def wait(self, published: Published) -> None:
        """Return when the rounds of a task are prepared, or refuse the request for now."""
        if published.prepared:
            return
        running = self._running.get(published.digest)
        if running is None or running.done():
            running = asyncio.ensure_future(run_in_threadpool(published.prepare))
            self._running[published.digest] = running
        try:
            async with asyncio.timeout(self._patience):
                await asyncio.shield(running)
        except TimeoutError:
            raise RequestError(
                "busy", "the questions of this round are being prepared", retry_after=1.0
            ) from None
        self._running.pop(published.digest, None)
