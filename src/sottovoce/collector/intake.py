"""The intake: messages are checked, stored by group commit, and then acknowledged."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sottovoce.collector.admission import Admitted, admit
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import Offer, Store, Verdict
from sottovoce.web.group_commit import Done, GroupCommit
from sottovoce.web.uploads import UploadReceipt, receipt

CountMessages = Callable[[str, Mapping[str, int]], None]  # by the name of a task, and by code


class Submission(NamedTuple):
    """The messages of one request."""

    published: Published
    messages: Sequence[bytes]
    tokens: Sequence[str]


class Checked(NamedTuple):
    """The messages of a group of requests, checked and ready for the store."""

    submissions: list[Submission]
    batches: list["_Batch"]
    offers: list[Offer]


class Intake(GroupCommit[Submission, Checked]):
    """Checks and stores messages.

    ``count`` is told how many messages of a task had which verdict.  ``most_waiting`` is how many
    messages may be in the queue.
    """

    def __init__(
        self, store: Store, clock: Callable[[], float], count: CountMessages, *, most_waiting: int
    ) -> None:
        super().__init__("intake", self._check_group, self._store_group, most_waiting)
        self._store = store
        self._clock = clock
        self._count = count

    async def submit(
        self, published: Published, messages: Sequence[bytes], tokens: Sequence[str]
    ) -> UploadReceipt:
        """Return what became of the messages, once it is durable."""
        submission = Submission(published, messages, tokens)
        return await self.enqueue(submission, len(messages))

    def offer_messages(
        self, published: Published, messages: Sequence[bytes], tokens: Sequence[str], done: Done
    ) -> None:
        """Have ``done`` called with what became of the messages, once it is durable."""
        self.offer(Submission(published, messages, tokens), len(messages), done)

    def _check_group(self, group: list[Submission]) -> Checked:
        """Return what the messages of a group offer to the store."""
        batches = [_Batch(submissions) for submissions in _by_task(group)]
        offers = [offer for batch in batches for offer in batch.admitted.offers]
        return Checked(group, batches, offers)

    def _store_group(self, checked: Checked) -> list[UploadReceipt]:
        """Store the messages of a group in one transaction, and return the receipts."""
        refused: dict[tuple[str, str], int] = {}
        for batch in checked.batches:
            refused |= batch.refused()
        verdicts = iter(self._store.accept(checked.offers, refused, int(self._clock())))
        receipts: dict[int, UploadReceipt] = {}
        for batch in checked.batches:
            codes = batch.codes([next(verdicts) for _ in batch.admitted.offers])
            receipts |= batch.receipts(codes)
            self._count(batch.published.record.name, batch.counts(codes))
        return [receipts[id(submission)] for submission in checked.submissions]


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
            receipts[id(submission)] = receipt(codes, start, end)
            start = end
        return receipts


def _by_task(group: list[Submission]) -> list[list[Submission]]:
    tasks: dict[str, list[Submission]] = {}
    for submission in group:
        tasks.setdefault(submission.published.digest, []).append(submission)
    return list(tasks.values())
