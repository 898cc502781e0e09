"""Group commit: many requests are stored in one transaction, and then answered.

Requests wait in a queue.  While one transaction runs the next group forms by itself, so that a
quiet service answers at once and a busy one commits by the thousand.  A request is answered when
its messages are durable.  A full queue turns requests away before it grows without bound.

One thread gathers and checks groups, the other stores them.  A group grows until the transaction
before it has ended, because a transaction costs about as much as ten requests.  A group that is
full has nothing to wait for: it is checked while the disk syncs the one before.

Where many requests wait already, a few milliseconds are given to more of them, unless the group is
full.  Nobody waits for that on a service with few requests.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Generic, NamedTuple, TypeVar

from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.web.problems import RequestError
from sottovoce.web.uploads import UploadReceipt

MESSAGES_AT_ONCE = 8_000  # in one transaction: a group with so many is full
GROUPS_AT_ONCE = 2  # one that is being stored, and a full one that is checked meanwhile
BUSY = 16  # requests that wait together: more of them are given some time
PAUSE_SECONDS = 0.008
_log = logging.getLogger(__name__)

Submission = TypeVar("Submission")
Checked = TypeVar("Checked")
Result = UploadReceipt | SottovoceError
Done = Callable[[Result], None]  # called from the event loop


class _Waiting(NamedTuple, Generic[Submission]):
    """The submission of one request, its number of messages, and who waits for the receipt."""

    submission: Submission
    message_count: int
    done: Done
    loop: asyncio.AbstractEventLoop


class _CheckedGroup(NamedTuple, Generic[Submission, Checked]):
    """A group, and what its check has made of its submissions."""

    group: list[_Waiting[Submission]]
    checked: Checked


class GroupCommit(Generic[Submission, Checked]):
    """The queue in front of a store, and the two threads that empty it.

    ``check`` prepares a group of submissions, and must not depend on the groups before it.
    ``commit`` stores what ``check`` returned in one transaction, and returns the receipts in the
    order of the submissions.  ``max_waiting`` is how many messages may be in the queue.
    """

    def __init__(
        self,
        name: str,
        check: Callable[[list[Submission]], Checked],
        commit: Callable[[Checked], list[UploadReceipt]],
        max_waiting: int,
    ) -> None:
        self._name = name
        self._check = check
        self._commit = commit
        self._max_waiting = max_waiting
        self._lock = threading.Lock()  # of the next five
        self._changed = threading.Condition(self._lock)
        self._queue: deque[_Waiting[Submission]] = deque()
        self._queued = 0  # messages in it
        self._group_count = 0  # groups that were taken from it and are not stored
        self._is_stopping = False
        self._checked: SimpleQueue[_CheckedGroup[Submission, Checked] | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._check_groups, name=f"{name} check", daemon=True),
            threading.Thread(target=self._store_groups, name=name, daemon=True),
        ]
        self.waiting = 0  # messages without an answer; touched by the event loop alone

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish what is waiting, then stop."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        for thread in self._threads:
            thread.join()

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
        with self._lock:  # the condition itself is slower to enter, and every request does
            self._queue.append(_Waiting(submission, message_count, done, loop))
            self._queued += message_count
            # Most requests join a group that waits anyway: they wake nobody.
            if self._is_full() or (len(self._queue) == 1 and not self._group_count):
                self._changed.notify()

    def _check_groups(self) -> None:
        while group := self._gather():
            try:
                checked = self._check([waiting.submission for waiting in group])
            except Exception as error:  # the thread must live on, and every request be answered
                self._answer(group, self._failures(group, error))
                self._finish_group()
            else:
                self._checked.put(_CheckedGroup(group, checked))
        self._checked.put(None)

    def _store_groups(self) -> None:
        while (waiting := self._checked.get()) is not None:
            group, checked = waiting
            try:
                results: Sequence[Result] = self._commit(checked)
            except Exception as error:  # the thread must live on, and every request be answered
                results = self._failures(group, error)
            self._finish_group()
            self._answer(group, results)

    def _failures(self, group: list[_Waiting[Submission]], error: Exception) -> Sequence[Result]:
        """Return what everybody in a group is told about an error."""
        if isinstance(error, SottovoceError):
            return [error] * len(group)
        _log.error(self._name, exc_info=error)
        return [UnavailableError("the reports could not be stored")] * len(group)

    def _answer(self, group: list[_Waiting[Submission]], results: Sequence[Result]) -> None:
        """Have the event loop tell everybody in a group what became of their messages."""
        group[0].loop.call_soon_threadsafe(self._resolve, group, results)

    def _resolve(self, group: list[_Waiting[Submission]], results: Sequence[Result]) -> None:
        """Tell everybody in a group what became of their messages."""
        for waiting, result in zip(group, results, strict=True):
            self.waiting -= waiting.message_count
            try:
                waiting.done(result)
            except Exception:  # the others must be answered
                _log.exception(self._name)

    def _finish_group(self) -> None:
        with self._changed:
            self._group_count -= 1
            self._changed.notify()

    def _gather(self) -> list[_Waiting[Submission]]:
        """Return the submissions that are waiting, at least one; none means stop."""
        with self._changed:
            self._changed.wait_for(self._is_due)
            if len(self._queue) >= BUSY:
                self._changed.wait_for(self._is_full, PAUSE_SECONDS)
            group = []
            count = 0
            while self._queue and count < MESSAGES_AT_ONCE:
                following = self._queue.popleft()
                group.append(following)
                count += following.message_count
            self._queued -= count
            if group:
                self._group_count += 1
            return group

    def _is_due(self) -> bool:
        """Return whether the submissions that wait should be gathered now."""
        if not self._group_count:
            return bool(self._queue) or self._is_stopping
        return self._is_full() and self._group_count < GROUPS_AT_ONCE

    def _is_full(self) -> bool:
        return self._queued >= MESSAGES_AT_ONCE


def _keep(promise: "asyncio.Future[UploadReceipt]", result: Result) -> None:
    """Keep a promise; that of a request that was cancelled is kept already."""
    if promise.done():
        return
    if isinstance(result, SottovoceError):
        promise.set_exception(result)
    else:
        promise.set_result(result)
