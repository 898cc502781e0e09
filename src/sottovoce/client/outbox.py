"""Reports on their way: what waits for the network, what arrived, what was refused; bounded, and open to the owner.

A message waits until it is due; one whose clock was set back since does not wait for the lost time.
"""

from dataclasses import dataclass
from typing import Literal

from sottovoce.client.ledger_file import Book
from sottovoce.errors import BudgetError

MOST_WAITING = 100

State = Literal["waiting", "sent", "refused"]

_FIELDS = "task, round, name, url, token, due, attempts, state, code, message"
_JOINED = f"select {_FIELDS} from queue left join message using (task, round)"


@dataclass(frozen=True)
class Posting:
    """Where a message shall go, with which enrolment token if any, and how many seconds later."""

    name: str
    url: str
    token: str | None = None
    delay: float = 0.0


@dataclass(frozen=True)
class Report:
    """One message and what became of it; ``code`` says why a collector refused it."""

    task: str
    round: int
    name: str
    url: str
    token: str | None
    due: float
    attempts: int
    state: State
    code: str
    message: bytes | None  # erased by an opt-out unless it was sent


class Outbox:
    """The queue in a ledger's book."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def reports(self) -> list[Report]:
        """Return everything that was ever queued, in that order."""
        return [Report(*row) for row in self._book.rows(f"{_JOINED} order by queue.rowid")]

    def due(self, url: str, now: float | None) -> list[Report]:
        """Return what waits for a collector and is due; all that waits if no time is given."""
        waiting = f"{_JOINED} where state = 'waiting' and url = ?"
        if now is None:
            return [Report(*row) for row in self._book.rows(f"{waiting} order by due", url)]
        early = "posted <= ? and ? < due"
        rows = self._book.rows(f"{waiting} and not ({early}) order by due", url, now, now)
        return [Report(*row) for row in rows]

    def refuse_full(self) -> None:
        """Raise if no more may wait."""
        if self._book.rows("select count(*) from queue where state = 'waiting'")[0][0] >= MOST_WAITING:
            raise BudgetError(f"{MOST_WAITING} reports wait for the network already: nothing was charged")

    def post(self, task: str, number: int, posting: Posting, now: float) -> None:
        """Queue a message that is kept."""
        fields = (task, number, posting.name, posting.url, posting.token, now, now + posting.delay)
        columns = "task, round, name, url, token, posted, due"
        self._book.write(f"insert into queue ({columns}) values (?, ?, ?, ?, ?, ?, ?)", *fields)

    def settle(self, report: Report, state: State, code: str = "") -> None:
        """Enter that a report arrived or was refused; an attempt more."""
        self._change(report, "state = ?, code = ?", state, code)

    def postpone(self, report: Report, now: float, wait: float) -> None:
        """Enter that a report did not get through and when to try again; an attempt more."""
        self._change(report, "posted = ?, due = ?", now, now + wait)

    def _change(self, report: Report, what: str, *arguments: object) -> None:
        # Another process may have settled it in the meantime: what has arrived has arrived.
        where = "where task = ? and round = ? and state = 'waiting'"
        change = f"update queue set attempts = attempts + 1, {what} {where}"
        self._book.write(change, *arguments, report.task, report.round)
