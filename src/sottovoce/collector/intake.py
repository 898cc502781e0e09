"""Group commit: one thread checks and stores the messages of many requests, and then answers them.

Requests wait in a queue.  While one transaction runs the next group forms by itself, so that a
quiet collector answers at once and a busy one commits by the thousand.  A request is answered when
its messages are durable.  A full queue turns requests away before it grows without bound.
"""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import numpy as np

from sottovoce.collector.admission import Admitted, admit
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Store, Verdict
from sottovoce.collector.wire import RefusedMessage, UploadReceipt
from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.web.problems import CATALOGUE, RequestError

MESSAGES_AT_ONCE = 4_000  # in one transaction
_log = logging.getLogger(__name__)

CountMessages = Callable[[str, Mapping[str, int]], None]  # by the name of a task, and by code


@dataclass(frozen=True, eq=False)
class Submission:
    """The messages of one request, and the promise of a receipt."""

    published: Published
    messages: Sequence[bytes]
    tokens: Sequence[str]
    promise: "asyncio.Future[UploadReceipt]"


class Intake:
    """The queue in front of the store, and the one thread that empties it.

    ``count`` is told how many messages of a task had which verdict.  ``most_waiting`` is how many
    messages may be in the queue.
    """

    def __init__(
        self, store: Store, clock: Callable[[], float], count: CountMessages, *, most_waiting: int
    ) -> None:
        self._store = store
        self._clock = clock
        self._count = count
        self._max_waiting = most_waiting
        self._queue: SimpleQueue[Submission | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
        self.waiting = 0  # messages in the queue; touched by the event loop alone

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what is waiting, then stop."""
        self._queue.put(None)
        self._thread.join()

    async def submit(
        self, published: Published, messages: Sequence[bytes], tokens: Sequence[str]
    ) -> UploadReceipt:
        """Return what became of the messages, once it is durable."""
        if self.waiting + len(messages) > self._max_waiting:
            raise RequestError("busy", retry_after=1.0)
        promise: asyncio.Future[UploadReceipt] = asyncio.get_running_loop().create_future()
        self.waiting += len(messages)
        self._queue.put(Submission(published, messages, tokens, promise))
        try:
            return await promise
        finally:
            self.waiting -= len(messages)

    def _run(self) -> None:
        while group := self._gather():
            try:
                results: Sequence[UploadReceipt | SottovoceError] = self._commit(group)
            except SottovoceError as error:
                results = [error] * len(group)
            except Exception:  # the thread must live on, and every request must be answered
                _log.exception("intake")
                results = [UnavailableError("the reports could not be stored")] * len(group)
            loop = group[0].promise.get_loop()
            loop.call_soon_threadsafe(_resolve, group, results)

    def _gather(self) -> list[Submission]:
        """Return the submissions that are waiting, at least one; none means stop."""
        first = self._queue.get()
        if first is None:
            return []
        group = [first]
        count = len(first.messages)
        while count < MESSAGES_AT_ONCE:
            try:
                following = self._queue.get_nowait()
            except Empty:
                break
            if following is None:
                self._queue.put(None)  # stop, but after this group
                break
            group.append(following)
            count += len(following.messages)
        return group

    def _commit(self, group: list[Submission]) -> list[UploadReceipt]:
        """Store the messages of a group in one transaction, and return the receipts."""
        batches = [_Batch(submissions) for submissions in _by_task(group)]
        offers = [offer for batch in batches for offer in batch.admitted.offers]
        refused: dict[tuple[str, str], int] = {}
        for batch in batches:
            refused |= batch.refused()
        verdicts = iter(self._store.accept(offers, refused, int(self._clock())))
        receipts: dict[int, UploadReceipt] = {}
        for batch in batches:
            codes = batch.codes([next(verdicts) for _ in batch.admitted.offers])
            receipts |= batch.receipts(codes)
            self._count(batch.published.record.name, batch.counts(codes))
        return [receipts[id(submission)] for submission in group]


class _Batch:
    """The submissions of one task, with their messages one after another."""

    def __init__(self, submissions: list[Submission]) -> None:
        self.submissions = submissions
        # The latest state of the task: a round may have opened while submissions waited.
        self.published = submissions[-1].published
        messages = [message for submission in submissions for message in submission.messages]
        tokens: list[str] = []
        if self.published.collection.enrolment:
            for submission in submissions:
                tokens += submission.tokens or [""] * len(submission.messages)
        self.message_count = len(messages)
        self.admitted = self._admitted(messages, tokens)

    def _admitted(self, messages: list[bytes], tokens: list[str]) -> Admitted:
        if self.published.task.shuffle is None:
            return admit(self.published, messages, tokens)
        refused = Admitted()
        refused.refuse(np.arange(len(messages)), "not-shuffled")
        return refused

    def refused(self) -> dict[tuple[str, str], int]:
        """Return how many messages were refused before the store, by task and code."""
        counts = Counter(self.admitted.codes.values())
        return {(self.published.digest, code): count for code, count in counts.items()}

    def codes(self, verdicts: list[list[Verdict]]) -> dict[int, str]:
        """Return the code of every message that was not simply accepted, by its index."""
        codes: dict[int, str] = dict(self.admitted.codes)
        for indices, given in zip(self.admitted.indices, verdicts, strict=True):
            if given.count(Verdict.ACCEPTED) == len(given):
                continue
            for index, verdict in zip(indices.tolist(), given, strict=True):
                if verdict is not Verdict.ACCEPTED:
                    codes[index] = verdict.value
        return codes

    def counts(self, codes: Mapping[int, str]) -> dict[str, int]:
        """Return how many messages had which code."""
        return {**Counter(codes.values()), Verdict.ACCEPTED.value: self.message_count - len(codes)}

    def receipts(self, codes: Mapping[int, str]) -> dict[int, UploadReceipt]:
        """Return the receipt of every submission, by its identity."""
        receipts = {}
        start = 0
        for submission in self.submissions:
            end = start + len(submission.messages)
            receipts[id(submission)] = _receipt(codes, start, end)
            start = end
        return receipts


def _receipt(codes: Mapping[int, str], start: int, end: int) -> UploadReceipt:
    """Return the receipt of the messages from ``start`` to ``end``."""
    if not codes:
        return UploadReceipt(accepted=end - start, duplicates=0, refused=[])
    duplicates = 0
    refused = []
    for index in range(start, end):
        code = codes.get(index)
        if code == Verdict.DUPLICATE:
            duplicates += 1
        elif code is not None:
            refused.append(RefusedMessage(index - start, code, CATALOGUE[code].retry))
    return UploadReceipt(end - start - duplicates - len(refused), duplicates, refused)


def _by_task(group: list[Submission]) -> list[list[Submission]]:
    tasks: dict[str, list[Submission]] = {}
    for submission in group:
        tasks.setdefault(submission.published.digest, []).append(submission)
    return list(tasks.values())


def _resolve(group: list[Submission], results: Sequence[UploadReceipt | SottovoceError]) -> None:
    """Keep the promises of a group; those of requests that were cancelled are kept already."""
    for submission, result in zip(group, results, strict=True):
        if submission.promise.done():
            continue
        if isinstance(result, SottovoceError):
            submission.promise.set_exception(result)
        else:
            submission.promise.set_result(result)
