"""Group commit: one thread checks and stores what many requests brought, and answers when it is durable.

Requests wait in a queue.  While one transaction runs the next group forms by itself, so a quiet collector answers
at once and a busy one commits by the thousand.  A full queue turns requests away before it grows without bound.
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
from sottovoce.collector.wire import Outcome, Refused
from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.web.problems import CATALOGUE, RequestError

MESSAGES_AT_ONCE = 4_000  # in one transaction
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Submission:
    """The messages of one request, and the promise of an outcome."""

    published: Published
    messages: Sequence[bytes]
    tokens: Sequence[str]
    promise: "asyncio.Future[Outcome]"


class Intake:
    """The queue in front of the store and the one thread that empties it."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        told: Callable[[str, Mapping[str, int]], None],
        *,
        most_waiting: int,
    ) -> None:
        self._store, self._clock, self._told, self._most = store, clock, told, most_waiting
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

    async def submit(self, published: Published, messages: Sequence[bytes], tokens: Sequence[str]) -> Outcome:
        """Return what became of the messages, once it is durable."""
        if self.waiting + len(messages) > self._most:
            raise RequestError("busy", retry_after=1.0)
        promise: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.waiting += len(messages)
        self._queue.put(Submission(published, messages, tokens, promise))
        try:
            return await promise
        finally:
            self.waiting -= len(messages)

    def _run(self) -> None:
        while group := self._gather():
            try:
                outcomes: Sequence[Outcome | SottovoceError] = self._commit(group)
            except SottovoceError as error:
                outcomes = [error] * len(group)
            except Exception:  # the thread must live on: every request in the group is told
                _log.exception("intake")
                outcomes = [UnavailableError("the reports could not be stored")] * len(group)
            loop = group[0].promise.get_loop()
            loop.call_soon_threadsafe(_resolve, group, outcomes)

    def _gather(self) -> list[Submission]:
        """Return the submissions that are waiting, at least one; none means stop."""
        first = self._queue.get()
        if first is None:
            return []
        group, count = [first], len(first.messages)
        while count < MESSAGES_AT_ONCE:
            try:
                after = self._queue.get_nowait()
            except Empty:
                break
            if after is None:
                self._queue.put(None)  # stop, but after this group
                break
            group.append(after)
            count += len(after.messages)
        return group

    def _commit(self, group: list[Submission]) -> list[Outcome]:
        batches = [_Batch(part) for part in _by_task(group)]
        offers = [offer for batch in batches for offer in batch.admitted.offers]
        refused = Counter({key: count for batch in batches for key, count in batch.refused().items()})
        verdicts = iter(self._store.accept(offers, refused, int(self._clock())))
        outcomes: dict[int, Outcome] = {}
        for batch in batches:
            codes = batch.codes([next(verdicts) for _ in batch.admitted.offers])
            outcomes |= batch.outcomes(codes)
            self._told(batch.published.record.name, batch.counts(codes))
        return [outcomes[id(one)] for one in group]


class _Batch:
    """The submissions of one task as one run of messages."""

    def __init__(self, submissions: list[Submission]) -> None:
        self.submissions = submissions
        self.published = submissions[-1].published  # the latest: a round may have opened while others waited
        messages = [message for one in submissions for message in one.messages]
        tokens: list[str] = []
        if self.published.collection.enrolment:
            tokens = [token for one in submissions for token in one.tokens or [""] * len(one.messages)]
        self.admitted: Admitted = admit(self.published, messages, tokens)

    def refused(self) -> dict[tuple[str, str], int]:
        counts = Counter(self.admitted.codes.values())
        return {(self.published.digest, code): count for code, count in counts.items()}

    def codes(self, verdicts: list[list[Verdict]]) -> dict[int, str]:
        """Return what became of every message that was not simply accepted, by its place."""
        codes: dict[int, str] = dict(self.admitted.codes)
        for places, given in zip(self.admitted.indices, verdicts, strict=True):
            if given.count(Verdict.ACCEPTED) < len(given):
                pairs = zip(places.tolist(), given, strict=True)
                codes |= {place: verdict.value for place, verdict in pairs if verdict is not Verdict.ACCEPTED}
        return codes

    def counts(self, codes: Mapping[int, str]) -> dict[str, int]:
        """Return how many messages had which outcome."""
        messages = sum(len(one.messages) for one in self.submissions)
        return {**Counter(codes.values()), Verdict.ACCEPTED.value: messages - len(codes)}

    def outcomes(self, codes: Mapping[int, str]) -> dict[int, Outcome]:
        """Return the outcome of every submission, by its identity."""
        ends = np.cumsum([len(one.messages) for one in self.submissions]).tolist()
        return {
            id(one): _outcome(codes, end - len(one.messages), end)
            for one, end in zip(self.submissions, ends, strict=True)
        }


def _outcome(codes: Mapping[int, str], start: int, end: int) -> Outcome:
    mine = [(place - start, codes[place]) for place in range(start, end) if place in codes] if codes else []
    refused = [(place, code) for place, code in mine if code != Verdict.DUPLICATE]
    return Outcome(
        accepted=end - start - len(mine),
        duplicates=len(mine) - len(refused),
        refused=[Refused(place, code, CATALOGUE[code].retry) for place, code in refused],
    )


def _by_task(group: list[Submission]) -> list[list[Submission]]:
    found: dict[str, list[Submission]] = {}
    for one in group:
        found.setdefault(one.published.digest, []).append(one)
    return list(found.values())


def _resolve(group: list[Submission], outcomes: Sequence[Outcome | SottovoceError]) -> None:
    for one, outcome in zip(group, outcomes, strict=True):
        if one.promise.done():
            continue
        if isinstance(outcome, SottovoceError):
            one.promise.set_exception(outcome)
        else:
            one.promise.set_result(outcome)
