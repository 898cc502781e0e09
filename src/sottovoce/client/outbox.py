"""The outbox of a device: which messages wait for the network, arrived, or were refused.

A message waits until it is due.  If the clock was set back since it was posted, it does not wait
for the lost time.  It stays until the collector has it or has refused it for good, however long
that takes.  The outbox is bounded, and the device's owner may look into it.
"""

from dataclasses import dataclass
from typing import Literal

from sottovoce.client.ledger_file import LedgerFile
from sottovoce.errors import BudgetError

MAX_WAITING = 100  # reports for one address

State = Literal["waiting", "sent", "refused"]

_FIELDS = "task, round, name, url, token, due, attempts, state, reason, message, fingerprint"
_JOINED = f"select {_FIELDS} from queue left join message using (task, round)"


@dataclass(frozen=True)
class Posting:
    """Where a message goes, with which enrolment token if any, and after how many seconds.

    ``url`` is the address of its route.  A sealed message is posted with the ``fingerprint`` of its
    task, by which shufflers know it, and with the ``origin`` under which its device finds it again:
    the collector's address, or that of a route of the application.
    """

    name: str
    url: str
    token: str | None = None
    delay: float = 0.0
    origin: str = ""
    fingerprint: bytes = b""


@dataclass(frozen=True)
class Report:
    """A message in the outbox and its state.

    ``reason`` says why the last attempt failed: ``unreachable``, ``busy``, ``unexpected`` (an
    answer that no collector gives), or the code with which the collector refused it.
    """

    task: str
    round: int
    name: str
    url: str
    token: str | None
    due: float
    attempts: int
    state: State
    reason: str
    message: bytes | None  # erased by an opt-out, and some time after it was sent
    fingerprint: bytes = b""  # of the task, if the message is sealed


class Outbox:
    """The messages in a ledger's file that were handed over for sending."""

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    def reports(self) -> list[Report]:
        """Return everything that was ever posted, in that order."""
        return [Report(*row) for row in self._file.rows(f"{_JOINED} order by queue.rowid")]

    def waiting(self, url: str) -> list[Report]:
        """Return all messages that wait for an address, due or not."""
        query = f"{_JOINED} where state = 'waiting' and url = ? order by due"
        return [Report(*row) for row in self._file.rows(query, url)]

    def due(self, url: str, now: float) -> list[Report]:
        """Return the messages that wait for an address and are due."""
        early = "posted <= ? and ? < due"
        query = f"{_JOINED} where state = 'waiting' and url = ? and not ({early}) order by due"
        return [Report(*row) for row in self._file.rows(query, url, now, now)]

    def sealed(self, origin: str) -> list[str]:
        """Return the addresses for which sealed messages wait whose tasks a collector offers."""
        condition = "state = 'waiting' and origin = ? and fingerprint != x''"
        query = f"select distinct url from queue where {condition} order by url"
        return [str(url) for (url,) in self._file.rows(query, origin)]

    def refuse_full(self, url: str) -> None:
        """Raise if no more messages may wait for an address."""
        query = "select count(*) from queue where state = 'waiting' and url = ?"
        (waiting,) = self._file.rows(query, url)[0]
        if waiting >= MAX_WAITING:
            raise BudgetError(
                f"{MAX_WAITING} reports wait for the network already, so nothing was charged"
            )

    def post(self, task: str, number: int, posting: Posting, now: float) -> None:
        """Queue a message that the ledger keeps."""
        columns = "task, round, name, url, token, origin, fingerprint, posted, due"
        addressed = (posting.name, posting.url, posting.token, posting.origin, posting.fingerprint)
        statement = f"insert into queue ({columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self._file.write(statement, task, number, *addressed, now, now + posting.delay)

    def settle(self, report: Report, state: State, now: float, reason: str = "") -> None:
        """Note that a report arrived or was refused, and count the attempt."""
        self._change(report, "state = ?, settled = ?, reason = ?", state, now, reason)

    def postpone(self, report: Report, now: float, wait: float, reason: str) -> None:
        """Note why a report did not get through and when to try again, and count the attempt."""
        self._change(report, "posted = ?, due = ?, reason = ?", now, now + wait, reason)

    def erase_sent(self, before: float) -> None:
        """Erase the bytes of messages that arrived before a time.

        Their rows stay, so that nothing is answered twice.
        """
        same = "(queue.task, queue.round) = (message.task, message.round)"
        sent = f"select 1 from queue where state = 'sent' and settled <= ? and {same}"
        statement = "update message set message = null where message is not null"
        self._file.write(f"{statement} and exists ({sent})", before)

    def _change(self, report: Report, assignments: str, *arguments: object) -> None:
        # Another process may have settled the report meanwhile: what has arrived has arrived.
        condition = "task = ? and round = ? and state = 'waiting'"
        statement = f"update queue set attempts = attempts + 1, {assignments} where {condition}"
        self._file.write(statement, *arguments, report.task, report.round)
