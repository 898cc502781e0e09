"""The ledger on a device's disk: charges, messages, coins and permanent responses in one file.

One transaction writes the charge and the message; then the message may leave.  A crash before its
end leaves nothing, and a message once kept is the only one that its task, or round of a
longitudinal task, will ever send.  The bytes of a message are erased some time after the collector
has acknowledged it; that it was answered stays known.
"""

import hmac
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sottovoce.client.ledger_file import LedgerFile
from sottovoce.client.outbox import Outbox, Posting, Report
from sottovoce.core import settings
from sottovoce.core.coin import COIN_BYTES
from sottovoce.errors import BudgetError, MismatchError, ParameterError
from sottovoce.tasks.budget import (
    ConditionalSpend,
    Ledger,
    Spend,
    SpendingWindow,
    refuse_beyond,
    refuse_within,
    total,
)

DEFAULT_CAP = (
    10.0  # what one device reveals in its life at the most, unless its owner says otherwise
)
SECRET_BYTES = 32
MESSAGE_DAYS = 30  # after which the bytes of a message that arrived are erased

_DAY = 86_400  # seconds


@dataclass(frozen=True)
class KeptToken:
    """What a ledger has of the blind token of a task: nothing, the unfinished one, or the token."""

    pending: bytes | None = None
    token: bytes | None = None


class DiskLedger(Ledger):
    """The ledger of one device; the path ``:memory:`` keeps it only as long as the object lives.

    ``cap`` bounds the sum of all charges and is fixed when the file is made (default: 10); with a
    cap of 0 nothing leaves, not even a rehearsal.  ``windows`` may be added later and are never
    removed.  A clock that was set back stands still until it has caught up with the last charge, so
    that it refills nothing.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        cap: float | None = None,
        windows: Iterable[SpendingWindow] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        if cap is not None:
            settings.real("cap", cap, 0)
        self.clock = clock
        self._file = LedgerFile(path)
        self.outbox = Outbox(self._file)
        self.cap = self._stored_cap(cap)
        for window in windows:
            limits = (float(window.seconds), repr(float(window.epsilon)), window.reports)
            self._file.write("insert or ignore into span values (?, ?, ?)", *limits)
        self.erase_old_messages()

    def __enter__(self) -> "DiskLedger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer(
        self, spend: Spend, make: Callable[[], bytes], posting: Posting | None = None
    ) -> bytes:
        with self._file.writing():
            self._refuse_again(spend)
            if posting:
                self.outbox.refuse_full(posting.url)
            self._charge(spend)
            message = make()
            entry = (spend.task, spend.round, message)
            self._file.write("insert into message values (?, ?, ?)", *entry)
            if posting:
                self.outbox.post(spend.task, spend.round, posting, self.clock())
        return message

    def message(self, task: str, number: int | None = None) -> bytes | None:
        row = self._message_row(task, number)
        return None if row is None or row[0] is None else bytes(row[0])

    def erase_old_messages(self) -> None:
        """Erase the bytes of messages that arrived long ago; that they were sent stays known."""
        self.outbox.erase_sent(self.clock() - MESSAGE_DAYS * _DAY)

    def answered(self, task: str, number: int | None = None) -> bool:
        """Return whether a task, or one round of it, has been answered."""
        return self._message_row(task, number) is not None

    def meaning(self, origin: str, name: str) -> str | None:
        """Return what a task of this name meant when it was last answered or agreed to, if ever.

        ``origin`` is the address of the collector that offers the task.
        """
        query = "select meaning from meaning where origin = ? and name = ?"
        row = self._file.row(query, origin, name)
        return None if row is None else str(row[0])

    def agree(self, origin: str, name: str, meaning: str) -> None:
        """Remember what a task of this name means, in place of what it meant before."""
        entry = (origin, name, meaning)
        self._file.write("insert or replace into meaning values (?, ?, ?)", *entry)

    def coin(self, task: str, enrolled: bytes | None = None) -> bytes:
        with self._file.writing():
            self.refuse_if_opted_out(task)
            device_bytes = enrolled or os.urandom(COIN_BYTES)
            self._file.write("insert or ignore into coin values (?, ?)", task, device_bytes)
            kept = bytes(self._file.rows("select coin from coin where task = ?", task)[0][0])
        if enrolled not in (None, kept):
            raise MismatchError(
                "this device had its coin for the task before it got this enrolment token"
            )
        return kept

    def blind_token(self, task: str) -> KeptToken:
        """Return what there is of the blind token of a task."""
        row = self._file.row("select pending, token from blind_token where task = ?", task)
        return KeptToken() if row is None else KeptToken(*row)

    def pending_token(self, task: str, make: Callable[[], bytes]) -> bytes:
        """Return the unfinished blind token of a task; it is made once and kept."""
        with self._file.writing():
            self.refuse_if_opted_out(task)
            kept = self.blind_token(task)
            if kept.token is not None:
                raise BudgetError("this device has its blind token for this task already")
            if kept.pending is not None:
                return kept.pending
            pending = make()
            self._file.write("insert into blind_token values (?, ?, null)", task, pending)
        return pending

    def keep_blind_token(self, task: str, token: bytes) -> None:
        """Keep the finished blind token of a task and erase the unfinished one."""
        with self._file.writing():
            self.refuse_if_opted_out(task)
            condition = "task = ? and token is null"
            statement = f"update blind_token set pending = null, token = ? where {condition}"
            self._file.write(statement, token, task)

    def secret(self, task: str) -> bytes:
        """Return the secret behind the permanent responses to a task: drawn once and kept."""
        with self._file.writing():
            secret = os.urandom(SECRET_BYTES)
            self._file.write("insert or ignore into secret values (?, ?)", task, secret)
            return bytes(self._file.rows("select secret from secret where task = ?", task)[0][0])

    def remember(
        self, task: str, index: tuple[int, int], response: bytes, max_responses: int
    ) -> bytes:
        """Return the response to an encoded index (slot, index): the remembered one, or this one.

        When ``max_responses`` are remembered, another index gets the response that was used last: a
        refusal would tell that the value has changed.
        """
        slot, _ = index
        mine = "from memo where task = ? and slot = ?"
        with self._file.writing():
            rows = self._file.rows(f"select tag, response {mine} order by used desc", task, slot)
            remembered = dict(rows)
            tag = tag_of(self.secret(task), *index)
            if tag not in remembered and len(remembered) >= max_responses:
                tag = next(iter(remembered))
            response = remembered.get(tag, response)
            used = f"(select coalesce(max(used), 0) + 1 {mine})"
            statement = f"insert or replace into memo values (?, ?, ?, ?, {used})"
            self._file.write(statement, task, slot, tag, response, task, slot)
        return response

    def opt_out(self, task: str | None = None) -> None:
        """Erase for good what a task, or every task, may still send or build on; charges stay."""
        chosen = task or ""
        mine = "? in ('', task)"
        with self._file.writing():
            self._file.write("insert or ignore into leaving values (?)", chosen)
            for table in ("coin", "secret", "memo", "blind_token"):
                self._file.write(f"delete from {table} where {mine}", chosen)
            self._file.write(f"delete from queue where state = 'waiting' and {mine}", chosen)
            same = "(queue.task, queue.round) = (message.task, message.round)"
            sent = f"select 1 from queue where state = 'sent' and {same}"
            self._file.write(f"delete from message where {mine} and not exists ({sent})", chosen)

    def refuse_if_opted_out(self, task: str) -> None:
        """Raise if the owner has opted out of the task."""
        if self._file.row("select 1 from leaving where task in ('', ?)", task):
            raise BudgetError("the owner of this device has opted out of this task")

    def charged(self, task: str) -> bool:
        """Return whether a task has been paid for."""
        return self._file.row("select 1 from charge where task = ?", task) is not None

    @property
    def spent(self) -> float:
        return float(self._total())

    @property
    def windows(self) -> tuple[SpendingWindow, ...]:
        """Return the windows that are enforced, shortest first."""
        columns = "seconds, epsilon, reports"
        rows = self._file.rows(f"select {columns} from span order by {columns}")
        return tuple(
            SpendingWindow(seconds, float(epsilon), reports) for seconds, epsilon, reports in rows
        )

    def recent(self, window: SpendingWindow) -> list[float]:
        """Return the epsilons charged within a window that ends now."""
        since = self.now() - window.seconds
        rows = self._file.rows("select epsilon from charge where time > ?", since)
        return [float(epsilon) for (epsilon,) in rows]

    def now(self) -> float:
        """Return the time, or that of the last charge if the clock was set back."""
        latest = self._file.rows("select max(time) from charge")[0][0]
        return self.clock() if latest is None else max(self.clock(), float(latest))

    def entries(self) -> list[Spend]:
        """Return all charges, for showing to the device's owner."""
        rows = self._file.rows(
            "select charge.task, charge.epsilon, conditional.epsilon, delta"
            " from charge left join conditional using (task) order by time, task"
        )
        return [
            Spend(task, float(epsilon), conditional=_conditional(central, delta))
            for task, epsilon, central, delta in rows
        ]

    def queue(self) -> list[Report]:
        """Return the messages that were posted, for showing to the device's owner."""
        return self.outbox.reports()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _refuse_again(self, spend: Spend) -> None:
        """Raise if the task, or this round of a longitudinal task, has been answered."""
        self.refuse_if_opted_out(spend.task)
        if self.answered(spend.task, spend.round if spend.longitudinal else None):
            answered = "this round" if spend.longitudinal else "this task"
            raise BudgetError(
                f"this device has already answered {answered}; resend() repeats the same bytes"
            )

    def _charge(self, spend: Spend) -> None:
        if not self.cap:
            raise BudgetError("the cap of this ledger is 0, so nothing leaves this device")
        if self.charged(spend.task):
            return
        # A rehearsal is charged 0, so that it counts among the reports of every window.
        refuse_beyond(self.cap, self._total(), spend.epsilon)
        for window in self.windows:
            refuse_within(window, self.recent(window), spend.epsilon)
        entry = (spend.task, repr(float(spend.epsilon)), self.now())
        self._file.write("insert into charge values (?, ?, ?)", *entry)
        if spend.conditional is not None:
            shown = (repr(spend.conditional.epsilon), repr(spend.conditional.delta))
            self._file.write("insert into conditional values (?, ?, ?)", spend.task, *shown)

    def _total(self) -> Fraction:
        """Return the sum of all charges; equal ones are multiplied, because there are many."""
        rows = self._file.rows("select epsilon, count(*) from charge group by epsilon")
        spends = [(count, Spend("", float(epsilon))) for epsilon, count in rows]
        return sum((count * total([spend.epsilon]) for count, spend in spends), Fraction())

    def _message_row(self, task: str, number: int | None) -> tuple[bytes | None] | None:
        condition = "task = ? and coalesce(?, round) = round"
        query = f"select message from message where {condition} order by round desc"
        return self._file.row(query, task, number)

    def _stored_cap(self, cap: float | None) -> float:
        """Return the cap of the file; a new file gets the one given here."""
        with self._file.writing():
            row = self._file.row("select epsilon from cap")
            if row is None:
                new_cap = float(DEFAULT_CAP if cap is None else cap)
                self._file.write("insert into cap values (?)", repr(new_cap))
                return new_cap
        stored = float(row[0])
        if cap is not None and stored != cap:
            raise ParameterError(
                f"`cap` must be {stored:g}, with which this ledger was made: a cap never changes"
            )
        return stored


def _conditional(epsilon: str | None, delta: str | None) -> ConditionalSpend | None:
    if epsilon is None or delta is None:
        return None
    return ConditionalSpend(float(epsilon), float(delta))


def tag_of(secret: bytes, slot: int, index: int) -> bytes:
    """Return the name under which the response to an encoded index is remembered."""
    content = slot.to_bytes(2, "little") + index.to_bytes(4, "little")
    return hmac.digest(secret, b"sottovoce/memo/v1" + content, "sha256")
