"""Answers that read many reports are computed in a process of their own, once for all who ask.

An answer to 10^8 reports takes minutes.  In the server it would take the processor from uploads,
and the death of a library for want of memory would be the death of the door.

Such an answer is computed once, whoever asks for it and whoever leaves meanwhile, and kept.  One is
computed after another: a process may use as much memory as the server.  A request waits for as long
as a query may take, and is then told to come back; the computation goes on.
"""

import asyncio
import logging

from starlette.concurrency import run_in_threadpool

from sottovoce.answers.outcome import Outcome
from sottovoce.collector.collector import Collector
from sottovoce.collector.published import Published
from sottovoce.collector.query_workers import QueryWorkers
from sottovoce.errors import UnavailableError
from sottovoce.web.problems import RequestError

RETRY_SECONDS = 10.0
_log = logging.getLogger(__name__)
_Wanted = tuple[str, str]  # the digest of a task, and a defence


class Answering:
    """The answers of one server; a request waits ``seconds`` for one that is being computed."""

    def __init__(self, collector: Collector, workers: QueryWorkers, seconds: float) -> None:
        self._collector = collector
        self._workers = workers
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._computing: dict[_Wanted, asyncio.Task[Outcome]] = {}

    async def outcome(self, published: Published, defence: str) -> Outcome:
        """Return the answer of a task, or refuse it."""
        apart = await run_in_threadpool(self._collector.needs_process, published, defence)
        if not apart:
            return await run_in_threadpool(self._collector.answer_of, published, defence=defence)
        try:
            async with asyncio.timeout(self._seconds):
                # Shielded: others may wait for the same answer, and it is kept for the next one.
                return await asyncio.shield(self._shared(published, defence))
        except TimeoutError:
            raise RequestError(
                "query-timeout",
                "the answer reads many reports and is still being computed: ask again in a moment",
                retry_after=RETRY_SECONDS,
            ) from None

    def stop(self) -> None:
        """Give up everything that is being computed; the processes are ended by their owner."""
        for computing in list(self._computing.values()):
            computing.cancel()

    def _shared(self, published: Published, defence: str) -> "asyncio.Task[Outcome]":
        """Return the computation of an answer, which is begun if nobody has asked before."""
        wanted = (published.digest, defence)
        computing = self._computing.get(wanted)
        if computing is None:
            computing = asyncio.create_task(self._computed(published, defence))
            self._computing[wanted] = computing
            computing.add_done_callback(lambda done: self._end(wanted, done))
        return computing

    async def _computed(self, published: Published, defence: str) -> Outcome:
        async with self._turn:
            outcome = await self._workers.outcome(published.record.name, defence)
        self._collector.keep_answer(published, outcome, defence=defence)
        return outcome

    def _end(self, wanted: _Wanted, done: "asyncio.Task[Outcome]") -> None:
        """Forget a computation; a want of memory is noted, because nobody may wait any more."""
        del self._computing[wanted]
        error = None if done.cancelled() else done.exception()
        if isinstance(error, UnavailableError):
            _log.warning("no answer", extra={"task": wanted[0], "reason": str(error)})
