"""A device with a network: it fetches a task, asks its owner, answers, and sends later.

Every message waits for a random time, leaves alone, and is sent again unchanged until the collector
has it or has refused it.  So no request tells which messages have a sender in common, and no loss
or repetition counts twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

from sottovoce.client.client import Client, notice_of
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Posting, Report
from sottovoce.client.route import DirectRoute, Route
from sottovoce.client.transport import CollectorApi, Receipt
from sottovoce.core.rng import SystemRng
from sottovoce.errors import (
    AccessError,
    BudgetError,
    MismatchError,
    ParameterError,
    SottovoceError,
    StateError,
    UnavailableError,
)
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

DEFAULT_DELAY = 60.0  # seconds
MAX_ATTEMPTS = 8
GAVE_UP = "gave-up"  # the code of a report that never got through

_FIRST_WAIT = 60.0  # seconds; doubled with every attempt
_MAX_WAIT = 86_400.0  # seconds

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

    ``token`` is the enrolment token that the collector gave this device (default: none).
    ``consent`` gets the notice of a task and its statement in words, and returns whether the owner
    agrees (default: nobody is asked).  ``delay`` is the longest random wait before a message
    leaves, in seconds.  ``digests`` are those that the application expects, by task name; other
    documents are refused.  ``route`` says how messages travel (default: directly to the collector).
    """

    url: str
    ledger: DiskLedger
    token: str | None = None
    consent: Consent | None = None
    delay: float = DEFAULT_DELAY
    digests: Mapping[str, str] = field(default_factory=dict)
    route: Route | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.delay < inf:
            raise ParameterError("`delay` must be a number of seconds from 0 up")

    def answer(self, task: str | codec.Document | Notice, value: Any) -> bytes:
        """Answer a task and put the message into the outbox, from which ``flush`` sends it.

        ``task`` is the name under which the collector offers it, or a document that the application
        has.  The latter needs no network and answers the opening round.
        """
        notice, asked = self._asked(task)
        token = self._token(notice)
        client = Client(notice, self.ledger, token)
        self.ledger.refuse_if_opted_out(notice.digest)
        if self.consent is not None and not self.consent(notice, client.explain(asked)):
            raise BudgetError("the owner of this device has not agreed")
        posting = Posting(notice.name, self._route.url, token, _uniform(self.delay))
        return client.answer(value, asked=asked, posting=posting)

    def flush(self, *, force: bool = False) -> Flushed:
        """Send the messages that are due, or with ``force`` all that wait.

        Stops at the first sign that the collector is out of reach.
        """
        outbox = self.ledger.outbox
        url = self._route.url
        states = []
        for report in outbox.waiting(url) if force else outbox.due(url, self.ledger.clock()):
            try:
                states.append(self._settle(report, self._send(report)))
            except UnavailableError as error:
                states.append(self._postpone(report, error.retry_after))
                break
            except SottovoceError:
                # The answer of a stranger, such as a hotel's page: the collector may still want it.
                states.append(self._postpone(report))
        return Flushed(states.count("sent"), states.count("refused"), len(outbox.waiting(url)))

    def opt_out(self) -> None:
        """Erase what any task may still send or build on and never answer again; charges stay."""
        self.ledger.opt_out()

    @cached_property
    def _api(self) -> CollectorApi:
        return CollectorApi(self.url)

    @cached_property
    def _route(self) -> Route:
        return DirectRoute(self._api) if self.route is None else self.route

    def _token(self, notice: Notice) -> str | None:
        """Return the token if the task needs one; for other tasks it is not shown to anybody."""
        if notice.collection is None or not notice.collection.enrolment:
            return None
        if self.token is None:
            raise AccessError("this task asks enrolled devices only, and this device has no token")
        return self.token

    def _asked(self, task: str | codec.Document | Notice) -> tuple[Notice, Round]:
        """Return a task and the round to answer.

        The collector says which round that is; a given document is answered in its opening round.
        """
        if not isinstance(task, str):
            notice = notice_of(task)
            if self.digests.get(notice.name, notice.digest) != notice.digest:
                raise MismatchError("this is another task than the one expected under its name")
            return notice, notice.opening
        notice = self._api.task(task, self.digests.get(task))
        state, asked = self._api.round(task, notice.digest)
        if state != "open" or asked is None:
            raise StateError("this task does not ask for answers now")
        return notice, asked

    def _send(self, report: Report) -> Receipt:
        assert report.message is not None
        return self._route.send(report.name, report.message, report.token)

    def _settle(self, report: Report, receipt: Receipt) -> str:
        """Note what a receipt says about a report, and return the report's state."""
        if not receipt.refused:
            self.ledger.outbox.settle(report, "sent")
            return "sent"
        (refusal,) = receipt.refused
        if refusal.retry:
            return self._postpone(report)
        self.ledger.outbox.settle(report, "refused", refusal.code)
        return "refused"

    def _postpone(self, report: Report, retry_after: float | None = None) -> str:
        """Let a report wait longer with every attempt, or give it up; return the report's state."""
        if report.attempts + 1 >= MAX_ATTEMPTS:
            self.ledger.outbox.settle(report, "refused", GAVE_UP)
            return "refused"
        half = _FIRST_WAIT * 2**report.attempts / 2
        wait = min(max(retry_after or 0.0, half), _MAX_WAIT) + _uniform(half)
        self.ledger.outbox.postpone(report, self.ledger.clock(), wait)
        return "waiting"


def _uniform(limit: float) -> float:
    """Return a random number in [0, limit)."""
    return limit * int(SystemRng().longs(1)[0]) / 2**64
