"""Group commit: one thread stores the messages of many requests, and then answers them.

Requests wait in a queue.  While one transaction runs the next group forms by itself, so that a
quiet service answers at once and a busy one commits by the thousand.  A request is answered when
its messages are durable.  A full queue turns requests away before it grows without bound.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.web.problems import RequestError
from sottovoce.web.uploads import UploadReceipt

MESSAGES_AT_ONCE = 4_000  # in one transaction
_log = logging.getLogger(__name__)

Submission = TypeVar("Submission")


@dataclass(frozen=True, eq=False)
class _Waiting(Generic[Submission]):
    """The submission of one request, its number of messages, and the promise of a receipt."""

    submission: Submission
    message_count: int
    promise: "asyncio.Future[UploadReceipt]"


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

    async def submit(self, submission: Submission, message_count: int) -> UploadReceipt:
        """Return what became of the messages, once it is durable."""
        if self.waiting + message_count > self._max_waiting:
            raise RequestError("busy", retry_after=1.0)
        promise: asyncio.Future[UploadReceipt] = asyncio.get_running_loop().create_future()
        self.waiting += message_count
        self._queue.put(_Waiting(submission, message_count, promise))
        try:
            return await promise
        finally:
            self.waiting -= message_count

    def _run(self) -> None:
        while group := self._gather():
            try:
                results: Sequence[UploadReceipt | SottovoceError] = self._commit(
                    [waiting.submission for waiting in group]
                )
            except SottovoceError as error:
                results = [error] * len(group)
            except Exception:  # the thread must live on, and every request must be answered
                _log.exception(self._name)
                results = [UnavailableError("the reports could not be stored")] * len(group)
            promises = [waiting.promise for waiting in group]
            promises[0].get_loop().call_soon_threadsafe(_resolve, promises, results)

    def _gather(self) -> list[_Waiting[Submission]]:
        """Return the submissions that are waiting, at least one; none means stop."""
        first = self._queue.get()
        if first is None:
            return []
        group = [first]
        count = first.message_count
        while count < MESSAGES_AT_ONCE:
            try:
                following = self._queue.get_nowait()
            except Empty:
                break
            if following is None:
                self._queue.put(None)  # stop, but after this group
                break
            group.append(following)
            count += following.message_count
        return group


def _resolve(
    promises: "list[asyncio.Future[UploadReceipt]]",
    results: Sequence[UploadReceipt | SottovoceError],
) -> None:
    """Keep the promises of a group; those of requests that were cancelled are kept already."""
    for promise, result in zip(promises, results, strict=True):
        if promise.done():
            continue
        if isinstance(result, SottovoceError):
            promise.set_exception(result)
        else:
            promise.set_result(result)
