"""A device with a network: fetches a task, asks its owner, answers, and sends when the time has come.

Every message waits a random while, leaves alone, and is sent again unchanged until the collector has it or has
refused it; so no request tells which messages have a sender in common, and no loss or repetition counts twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sottovoce.client.client import Client, notice_of
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Posting, Report
from sottovoce.client.transport import Collector, Receipt
from sottovoce.core.rng import SystemRng
from sottovoce.errors import AccessError, BudgetError, MismatchError, SottovoceError, StateError, UnavailableError
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

MOST_ATTEMPTS = 8
GAVE_UP = "gave-up"  # the code of a report that never got through

_FIRST_WAIT = 60.0  # seconds; doubled with every attempt
_LONGEST_WAIT = 86_400.0

Consent = Callable[[Notice, str], bool]


@dataclass(frozen=True)
class Flushed:
    """How many reports arrived, were refused for good, and still wait."""

    sent: int
    refused: int
    waiting: int


@dataclass(frozen=True)
class Device:
    """One person's device and one collector.

    ``consent`` gets the notice of a task and its explanation and says whether the owner agrees; ``delay`` is the
    longest random wait before a message leaves, in seconds; ``digests`` pins tasks by name.
    """

    url: str
    ledger: DiskLedger
    token: str | None = None
    consent: Consent | None = None
    delay: float = 0.0
    digests: Mapping[str, str] = field(default_factory=dict)

    def answer(self, task: str | codec.Document | Notice, value: Any) -> bytes:
        """Answer a task that the collector offers under a name, or one whose document the app has; queues the message.

        The latter needs no network and answers the opening round.
        """
        notice, asked = self._asked(task)
        client = Client(notice, self.ledger, self._token(notice))
        self.ledger.refuse_left(notice.digest)
        if self.consent is not None and not self.consent(notice, client.explain(asked)):
            raise BudgetError("the owner of this device has not agreed")
        posting = Posting(notice.name, self._collector.url, self._token(notice), _uniform(self.delay))
        return client.answer(value, asked=asked, posting=posting)

    def flush(self, *, force: bool = False) -> Flushed:
        """Send what is due, or all that waits; stops at the first sign that the collector is out of reach."""
        settled = []
        for report in self.ledger.outbox.due(self._collector.url, None if force else self.ledger.clock()):
            try:
                settled.append(self._settle(report, self._send(report)))
            except UnavailableError as error:
                settled.append(self._postpone(report, error.retry_after))
                break
            except SottovoceError:  # a stranger's answer, such as a hotel's page: the collector may still want it
                settled.append(self._postpone(report))
        waiting = len(self.ledger.outbox.due(self._collector.url, None))
        return Flushed(settled.count("sent"), settled.count("refused"), waiting)

    def opt_out(self) -> None:
        """Erase what any task may still send or build on and never answer again; charges stay."""
        self.ledger.opt_out()

    @cached_property
    def _collector(self) -> Collector:
        return Collector(self.url)

    def _token(self, notice: Notice) -> str | None:
        """Return the token if the task needs one; no other collector of reports gets to see it."""
        if notice.collection is None or not notice.collection.enrolment:
            return None
        if self.token is None:
            raise AccessError("this task asks enrolled devices only, and this device has no token")
        return self.token

    def _asked(self, task: str | codec.Document | Notice) -> tuple[Notice, Round]:
        """Return a task and the round to answer: the collector's word for it, or the opening of a given document."""
        if not isinstance(task, str):
            notice = notice_of(task)
            if self.digests.get(notice.name, notice.digest) != notice.digest:
                raise MismatchError("this is another task than the one expected under its name")
            return notice, notice.opening
        notice = self._collector.task(task, self.digests.get(task))
        state, asked = self._collector.round(task, notice.digest)
        if state != "open" or asked is None:
            raise StateError("this task does not ask for answers now")
        return notice, asked

    def _send(self, report: Report) -> Receipt:
        assert report.message is not None
        return self._collector.send(report.name, [report.message], [] if report.token is None else [report.token])

    def _settle(self, report: Report, receipt: Receipt) -> str:
        if not receipt.refused:
            self.ledger.outbox.settle(report, "sent")
            return "sent"
        (refusal,) = receipt.refused
        if refusal.retry:
            return self._postpone(report)
        self.ledger.outbox.settle(report, "refused", refusal.code)
        return "refused"

    def _postpone(self, report: Report, retry_after: float | None = None) -> str:
        if report.attempts + 1 >= MOST_ATTEMPTS:
            self.ledger.outbox.settle(report, "refused", GAVE_UP)
            return "refused"
        half = _FIRST_WAIT * 2**report.attempts / 2
        wait = min(max(retry_after or 0.0, half), _LONGEST_WAIT) + _uniform(half)
        self.ledger.outbox.postpone(report, self.ledger.clock(), wait)
        return "waiting"


def _uniform(limit: float) -> float:
    return limit * int(SystemRng().longs(1)[0]) / 2**64
