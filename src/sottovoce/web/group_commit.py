"""Group commit: one thread stores the messages of many requests, and then answers them.

Requests wait in a queue.  While one transaction runs the next group forms by itself, so that a
quiet service answers at once and a busy one commits by the thousand.  A request is answered when
its messages are durable.  A full queue turns requests away before it grows without bound.

A transaction costs about as much as ten requests.  So where many requests wait already, a few
milliseconds are given to more of them.  Nobody waits for that on a service with few requests.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Generic, NamedTuple, TypeVar

from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.web.problems import RequestError
from sottovoce.web.uploads import UploadReceipt

MESSAGES_AT_ONCE = 16_000  # in one transaction
BUSY = 16  # requests that wait together: more of them are given some time
PAUSE_SECONDS = 0.008
_log = logging.getLogger(__name__)

Submission = TypeVar("Submission")
Result = UploadReceipt | SottovoceError
Done = Callable[[Result], None]  # called from the event loop


class _Waiting(NamedTuple, Generic[Submission]):
    """The submission of one request, its number of messages, and who waits for the receipt."""

    submission: Submission
    message_count: int
    done: Done
    loop: asyncio.AbstractEventLoop


class GroupCommit(Generic[Submission]):
    """The queue in front of a store, and the one thread that empties it.

    ``commit`` stores a group of submissions in one transaction and returns their receipts.
    ``max_waiting`` is how many messages may be in the queue.
    """

    def __init__(
        self,
        name: str,
        commit: Callable[[list[Submission]], list[UploadReceipt]],
        max_waiting: int,
    ) -> None:
        self._name = name
        self._commit = commit
        self._max_waiting = max_waiting
        self._queue: SimpleQueue[_Waiting[Submission] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.waiting = 0  # messages in the queue; touched by the event loop alone

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what is waiting, then stop."""
        self._queue.put(None)
        self._thread.join()

    async def enqueue(self, submission: Submission, message_count: int) -> UploadReceipt:
        """Return what became of the messages, once it is durable."""
        promise: asyncio.Future[UploadReceipt] = asyncio.get_running_loop().create_future()
        self.offer(submission, message_count, partial(_keep, promise))
        return await promise

    def offer(self, submission: Submission, message_count: int, done: Done) -> None:
        """Have ``done`` called with what became of the messages, once it is durable.

        Called from the event loop, as ``done`` is.
        """
        if self.waiting + message_count > self._max_waiting:
            raise RequestError("busy", retry_after=1.0)
        self.waiting += message_count
        loop = asyncio.get_running_loop()
        self._queue.put(_Waiting(submission, message_count, done, loop))

    def _run(self) -> None:
        while group := self._gather():
            try:
                results: Sequence[Result] = self._commit([waiting.submission for waiting in group])
            except SottovoceError as error:
                results = [error] * len(group)
            except Exception:  # the thread must live on, and every request must be answered
                _log.exception(self._name)
                results = [UnavailableError("the reports could not be stored")] * len(group)
            group[0].loop.call_soon_threadsafe(self._resolve, group, results)

    def _resolve(self, group: list[_Waiting[Submission]], results: Sequence[Result]) -> None:
        """Tell everybody in a group what became of their messages."""
        for waiting, result in zip(group, results, strict=True):
            self.waiting -= waiting.message_count
            try:
                waiting.done(result)
            except Exception:  # the others must be answered
                _log.exception(self._name)

    def _gather(self) -> list[_Waiting[Submission]]:
        """Return the submissions that are waiting, at least one; none means stop."""
        first = self._queue.get()
        if first is None:
            return []
        group = [first]
        self._drain(group)
        if len(group) >= BUSY:
            time.sleep(PAUSE_SECONDS)
            self._drain(group)
        return group

    def _drain(self, group: list[_Waiting[Submission]]) -> None:
        """Add to a group what is waiting, as far as it fits into one transaction."""
        count = sum(waiting.message_count for waiting in group)
        while count < MESSAGES_AT_ONCE:
            try:
                following = self._queue.get_nowait()
            except Empty:
                return
            if following is None:
                self._queue.put(None)  # stop, but after this group
                return
            group.append(following)
            count += following.message_count


def _keep(promise: "asyncio.Future[UploadReceipt]", result: Result) -> None:
    """Keep a promise; that of a request that was cancelled is kept already."""
    if promise.done():
        return
    if isinstance(result, SottovoceError):
        promise.set_exception(result)
    else:
        promise.set_result(result)
