"""A device with a network: it fetches a task, asks its owner, answers, and sends later.

Every message waits for a random time, leaves alone, and is sent again unchanged until the server
has it or has refused it for good.  So no request tells which messages have a sender in common, and
no loss or repetition counts twice.

Of a shuffled task the device fetches document, round, keys and blind token from the collector, and
sends the sealed message to the first shuffler.  What it fetches does not depend on its coin: keys
and token come before the device finds out whether the round asks it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sottovoce.client.accepts import Accepts
from sottovoce.client.client import Client, Notify, notice_of
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Posting, Report
from sottovoce.client.route import DirectRoute, Route, ShuffledRoute
from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import (
    DEFAULT_TIMEOUT,
    BusyError,
    CollectorApi,
    Receipt,
    RoundKeys,
    ShufflerApi,
)
from sottovoce.core import settings
from sottovoce.core.addresses import protected_url
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
from sottovoce.wire import codec, statement

DEFAULT_DELAY = 60.0  # seconds, where no shuffled round says how long it stays open
FIRST_WAIT = 60.0  # seconds after an attempt that failed; doubled with every further one
MAX_WAIT = 3600.0  # seconds
MAX_RETRY_AFTER = 86_400.0  # seconds for which a collector may ask to be left alone

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
    leaves, in seconds (default: 60, or for a shuffled task as long as its round stays open, if that
    is known).  ``accepts`` says what the application agrees that tasks ask, by task name;
    what it leaves open is remembered from the first answer.  ``notify`` is told if a value was
    outside of the domain, without the value.  ``witnesses`` are further addresses of the
    collector's public documents: a round that one of them does not show is not answered.
    ``route`` says how messages travel (default: directly to the collector, and if the task is
    shuffled, to its first shuffler).  ``relay`` is an address that forwards to the first shuffler,
    which then does not see where this device is.  ``language`` is that of the statement, such as
    ``"de"`` (default: English).  ``timeout`` is for a whole exchange with a server, from connecting
    to the last byte of the answer, in seconds.
    """

    url: str
    ledger: DiskLedger
    token: str | None = None
    consent: Consent | None = None
    delay: float | None = None
    accepts: Mapping[str, Accepts] = field(default_factory=dict)
    notify: Notify | None = None
    witnesses: Sequence[str] = ()
    route: Route | None = None
    relay: str | None = None
    language: str = statement.ENGLISH
    timeout: float = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        settings.choice("language", self.language, statement.LANGUAGES)
        if self.delay is not None:
            settings.real("delay", self.delay, 0)
        if self.relay is not None:
            protected_url("relay", self.relay)
        if isinstance(self.witnesses, str):
            raise ParameterError("`witnesses` must be a list of addresses, not one address")
        for address in (self.url, *self.witnesses):
            self._collector_at(address)  # refuses one that is not protected on its way

    def answer(self, task: str | codec.Document | Notice, value: Any) -> bytes:
        """Answer a task and put the message into the outbox, from which ``flush`` sends it.

        ``task`` is the name under which the collector offers it, or a document that the application
        has.  The latter needs no network, unless the task is shuffled, and answers the opening
        round.
        """
        notice, asked = self._asked(task)
        token = self._token(notice)
        client = self._client(notice, token)
        self.ledger.refuse_if_opted_out(notice.digest)
        client.check_task(asked)
        keys = self._keys(notice, asked)
        sealing = None if keys is None else Sealing(notice, asked, keys)
        if client.blind_token.is_missing:
            self._ask_owner(client, asked)  # before the issuer hears of this device
            self._obtain_token(client)
            client.check(asked)
        else:
            client.check(asked)
            self._ask_owner(client, asked)
        posting = Posting(
            name=notice.name,
            url=self._route_of(notice).url,
            token=token,
            delay=_uniform(self._longest_wait(notice, keys)),
            origin=self._api.url if self.route is None else self.route.url,
            fingerprint=b"" if notice.shuffle is None else notice.fingerprint,
        )
        return client.answer(value, asked=asked, posting=posting, sealing=sealing)

    def notice(self, task: str | codec.Document | Notice) -> Notice:
        """Return the notice of a task, for ``explain`` and ``agree``; nothing is remembered."""
        return self._api.task(task) if isinstance(task, str) else notice_of(task)

    def explain(self, notice: Notice) -> str:
        """Return in words what a task asks, what an answer reveals and what is promised."""
        return self._client(notice).explain(language=self.language)

    def agree(self, notice: Notice) -> None:
        """Remember what a task asks, in place of what one of its name asked before.

        It takes the notice that was shown: what the collector offers now may be another one.
        """
        self._client(notice).agree()

    def waiting(self) -> list[Report]:
        """Return the reports that wait for the network, with ``due``, attempts and reasons."""
        outbox = self.ledger.outbox
        return [report for url in self._addresses() for report in outbox.waiting(url)]

    def flush(self, *, force: bool = False) -> Flushed:
        """Send the messages that are due, or with ``force`` all that wait.

        An address is left alone at the first sign that it is out of reach.
        """
        self.ledger.erase_old_messages()
        outbox = self.ledger.outbox
        states = []
        for url in self._addresses():
            reports = outbox.waiting(url) if force else outbox.due(url, self.ledger.clock())
            states.extend(self._send_all(reports))
        return Flushed(states.count("sent"), states.count("refused"), len(self.waiting()))

    def opt_out(self) -> None:
        """Erase what any task may still send or build on and never answer again; charges stay."""
        self.ledger.opt_out()

    def _client(self, notice: Notice, token: str | None = None) -> Client:
        accepts = self.accepts.get(notice.name)
        client = Client(notice, self.ledger, token, accepts, self.notify)
        client.origin = self._api.url
        return client

    @cached_property
    def _api(self) -> CollectorApi:
        return self._collector_at(self.url)

    @cached_property
    def _witnesses(self) -> list[CollectorApi]:
        return [self._collector_at(address) for address in self.witnesses]

    def _collector_at(self, url: str) -> CollectorApi:
        return CollectorApi(url, self.timeout)

    def _route_of(self, notice: Notice) -> Route:
        """Return how the message of a task travels."""
        if self.route is not None:
            return self.route
        if notice.shuffle is None:
            return DirectRoute(self._api)
        url = self.relay or notice.shuffle.hops[0].url
        return ShuffledRoute(ShufflerApi(url, self.timeout))

    def _route_back(self, report: Report) -> Route:
        """Return the route under whose address a report was filed."""
        if self.route is not None:
            return self.route
        if report.fingerprint:
            return ShuffledRoute(ShufflerApi(report.url, self.timeout))
        return DirectRoute(self._collector_at(report.url))

    def _addresses(self) -> list[str]:
        """Return the addresses for which messages of this device may wait."""
        if self.route is not None:
            return [self.route.url]
        sealed = self.ledger.outbox.sealed(self._api.url)
        return [self._api.url, *(url for url in sealed if url != self._api.url)]

    def _ask_owner(self, client: Client, asked: Round) -> None:
        if self.consent is None:
            return
        text = client.explain(asked, self.language)
        if not self.consent(client.notice, text):
            raise BudgetError("the owner of this device has not agreed")

    def _keys(self, notice: Notice, asked: Round) -> RoundKeys | None:
        """Return the keys of a shuffled round; every witness must show the same ones.

        One honest hop sees to that already; witnesses notice a collector that all hops work for.
        """
        if notice.shuffle is None:
            return None
        keys = self._api.keys(notice.name, asked.number, notice.digest)
        for witness in self._witnesses:
            if witness.keys(notice.name, asked.number, notice.digest) != keys:
                raise MismatchError("a witness shows other keys than the collector")
        return keys

    def _obtain_token(self, client: Client) -> None:
        """Let the issuer sign this device's number; the ledger has it before it leaves."""
        if self.token is None:
            raise AccessError("this task asks enrolled devices only, and this device has no token")
        blinded = client.blind_token.blinded()
        name = client.notice.name
        client.blind_token.finish(self._api.blind_signature(name, self.token, blinded))

    def _longest_wait(self, notice: Notice, keys: RoundKeys | None) -> float:
        """Return the longest wait of a message, in seconds.

        Messages of a shuffled round may arrive at any time until it closes, and the more evenly
        they do, the less a shuffler learns from the times.
        """
        if self.delay is not None:
            return self.delay
        seconds = 0 if notice.collection is None else notice.collection.seconds
        if keys is None or keys.opened is None or not seconds:
            return DEFAULT_DELAY
        left = keys.opened + seconds - self.ledger.clock()
        return min(max(left, 0.0), float(seconds))

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
            return notice, notice.opening
        notice = self._api.task(task)
        state, asked = self._api.round(task, notice.digest)
        if state != "open" or asked is None:
            raise StateError("this task does not ask for answers now")
        for witness in self._witnesses:
            if witness.round(task, notice.digest) != (state, asked):
                raise MismatchError("a witness shows another round than the collector")
        return notice, asked

    def _send_all(self, reports: Sequence[Report]) -> list[str]:
        """Send reports of one address, and return the states of those that were tried."""
        states = []
        for report in reports:
            try:
                states.append(self._settle(report, self._route_back(report).send(report)))
            except UnavailableError as error:
                reason = "busy" if isinstance(error, BusyError) else "unreachable"
                states.append(self._postpone(report, reason, error.retry_after))
                break
            except SottovoceError:
                # The answer of a stranger, such as a hotel's page: the server may still want it.
                states.append(self._postpone(report, "unexpected"))
        return states

    def _settle(self, report: Report, receipt: Receipt) -> str:
        """Note what a receipt says about a report, and return the report's state."""
        if not receipt.refused:
            self.ledger.outbox.settle(report, "sent", self.ledger.clock())
            return "sent"
        (refusal,) = receipt.refused
        if refusal.retry:
            return self._postpone(report, refusal.code)
        self.ledger.outbox.settle(report, "refused", self.ledger.clock(), refusal.code)
        return "refused"

    def _postpone(self, report: Report, reason: str, retry_after: float | None = None) -> str:
        """Let a report wait longer with every attempt; return the report's state."""
        doublings = min(report.attempts, 16)  # far beyond the longest wait
        half = min(FIRST_WAIT * 2**doublings, MAX_WAIT) / 2
        asked_for = min(retry_after or 0.0, MAX_RETRY_AFTER)
        wait = max(asked_for, half) + _uniform(half)
        self.ledger.outbox.postpone(report, self.ledger.clock(), wait, reason)
        return "waiting"


def _uniform(limit: float) -> float:
    """Return a random number in [0, limit)."""
    return limit * int(SystemRng().longs(1)[0]) / 2**64
