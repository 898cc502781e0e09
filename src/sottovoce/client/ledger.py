"""The ledger on a device's disk: charges, messages, coins and the memory of permanent responses in one file.

One transaction writes the charge and the message; then the message may leave.  A crash before its end leaves
nothing, and a message once kept is the only one that its task, or round of a longitudinal task, will ever send.
"""

import hmac
import os
import time
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path

from sottovoce.client.ledger_file import Book
from sottovoce.client.outbox import Outbox, Posting, Report
from sottovoce.core.coin import COIN_BYTES
from sottovoce.errors import BudgetError, MismatchError, ParameterError
from sottovoce.tasks.budget import Ledger, Spend, Window, refuse_beyond, refuse_within, total

DEFAULT_CAP = 10.0  # the most that one device reveals in its life unless its owner says otherwise
SECRET_BYTES = 32


class DiskLedger(Ledger):
    """The book of one device; ``:memory:`` keeps it only while it lives.

    A cap is settled when the file is made.  Windows may be added later and are never taken away.  A clock that was
    set back stands still until it has caught up with the last charge, so it refills nothing.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        cap: float | None = None,
        windows: Iterable[Window] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.clock = clock
        self._book = Book(path, clock())
        self.outbox = Outbox(self._book)
        self.cap = self._settle_cap(cap)
        for window in windows:
            self._book.write("insert or ignore into span values (?, ?, ?)", *_written(window))

    def answer(self, spend: Spend, make: Callable[[], bytes], posting: Posting | None = None) -> bytes:
        with self._book.writing():
            self._refuse_again(spend)
            if posting:
                self.outbox.refuse_full()
            self._charge(spend)
            message = make()
            self._book.write("insert into message values (?, ?, ?)", spend.task, spend.round, message)
            if posting:
                self.outbox.post(spend.task, spend.round, posting, self.clock())
        return message

    def message(self, task: str, number: int | None = None) -> bytes | None:
        chosen = "select message from message where task = ? and coalesce(?, round) = round order by round desc"
        row = self._book.row(chosen, task, number)
        return None if row is None else bytes(row[0])

    def coin(self, task: str, enrolled: bytes | None = None) -> bytes:
        with self._book.writing():
            self.refuse_left(task)
            self._book.write("insert or ignore into coin values (?, ?)", task, enrolled or os.urandom(COIN_BYTES))
            kept = bytes(self._book.rows("select coin from coin where task = ?", task)[0][0])
        if enrolled not in (None, kept):
            raise MismatchError("this device had its coin for the task before it got this enrolment token")
        return kept

    def secret(self, task: str) -> bytes:
        """Return the secret behind this device's permanent responses to a task: drawn once and kept."""
        with self._book.writing():
            self._book.write("insert or ignore into secret values (?, ?)", task, os.urandom(SECRET_BYTES))
            return bytes(self._book.rows("select secret from secret where task = ?", task)[0][0])

    def remember(self, task: str, index: tuple[int, int], response: bytes, most: int) -> bytes:
        """Return the response to an encoded index (slot, index), new or remembered.

        Beyond ``most`` different ones it is the last that was used: a refusal would tell of the change.
        """
        with self._book.writing():
            mine, slot = "from memo where task = ? and slot = ?", index[0]
            kept = dict(self._book.rows(f"select tag, response {mine} order by used desc", task, slot))
            tag = tag_of(self.secret(task), *index)
            if tag not in kept and len(kept) >= most:
                tag = next(iter(kept))
            response = kept.get(tag, response)
            used = f"(select coalesce(max(used), 0) + 1 {mine})"
            enter = f"insert or replace into memo values (?, ?, ?, ?, {used})"
            self._book.write(enter, task, slot, tag, response, task, slot)
        return response

    def opt_out(self, task: str | None = None) -> None:
        """Erase what a task, or every task, may still send or build on, for good; what was charged stays charged."""
        with self._book.writing():
            self._book.write("insert or ignore into leaving values (?)", task or "")
            for table in ("coin", "secret", "memo"):
                self._book.write(f"delete from {table} where ? in ('', task)", task or "")
            self._book.write("delete from queue where state = 'waiting' and ? in ('', task)", task or "")
            sent = (
                "select 1 from queue where state = 'sent' and (queue.task, queue.round) = (message.task, message.round)"
            )
            self._book.write(f"delete from message where ? in ('', task) and not exists ({sent})", task or "")

    def refuse_left(self, task: str) -> None:
        """Raise if the owner has opted out of the task."""
        if self._book.row("select 1 from leaving where task in ('', ?)", task):
            raise BudgetError("the owner of this device has opted out of this task")

    def charged(self, task: str) -> bool:
        """Return whether a task has been paid for."""
        return self._book.row("select 1 from charge where task = ?", task) is not None

    @property
    def spent(self) -> float:
        return float(total(spend.epsilon for spend in self.entries()))

    @property
    def windows(self) -> tuple[Window, ...]:
        """Return the windows that are enforced, shortest first."""
        rows = self._book.rows("select seconds, epsilon, reports from span order by seconds, epsilon, reports")
        return tuple(Window(seconds, float(epsilon), reports) for seconds, epsilon, reports in rows)

    def recent(self, window: Window) -> list[float]:
        """Return the epsilons charged within a window that ends now."""
        since = self.now() - window.seconds
        return [float(epsilon) for (epsilon,) in self._book.rows("select epsilon from charge where time > ?", since)]

    def now(self) -> float:
        """Return the time, or that of the last charge if the clock was set back."""
        latest = self._book.rows("select max(time) from charge")[0][0]
        return self.clock() if latest is None else max(self.clock(), float(latest))

    def entries(self) -> list[Spend]:
        """Return what was charged, for showing to the device's owner."""
        rows = self._book.rows("select task, epsilon from charge order by time, task")
        return [Spend(task, float(epsilon)) for task, epsilon in rows]

    def queue(self) -> list[Report]:
        """Return the reports that were handed over for sending, for showing to the device's owner."""
        return self.outbox.reports()

    def close(self) -> None:
        """Let go of the file."""
        self._book.close()

    def _refuse_again(self, spend: Spend) -> None:
        self.refuse_left(spend.task)
        if self.message(spend.task, spend.round if spend.lasting else None) is not None:
            what = "this round" if spend.lasting else "this task"
            raise BudgetError(f"this device has already answered {what}; resend() repeats the same bytes")

    def _charge(self, spend: Spend) -> None:
        if not spend.epsilon or self.charged(spend.task):
            return  # a rehearsal, or paid for before
        refuse_beyond(self.cap, total(entry.epsilon for entry in self.entries()), spend.epsilon)
        for window in self.windows:
            refuse_within(window, self.recent(window), spend.epsilon)
        self._book.write("insert into charge values (?, ?, ?)", spend.task, repr(float(spend.epsilon)), self.now())

    def _settle_cap(self, cap: float | None) -> float:
        if cap is not None and not 0 <= cap < inf:
            raise ParameterError("a cap is a number from 0 up")
        with self._book.writing():
            row = self._book.row("select epsilon from cap")
            if row is None:
                self._book.write("insert into cap values (?)", repr(float(DEFAULT_CAP if cap is None else cap)))
            elif cap is not None and float(row[0]) != cap:
                raise ParameterError("this ledger was opened with another cap; a cap is never raised afterwards")
            return float(self._book.rows("select epsilon from cap")[0][0])


def tag_of(secret: bytes, slot: int, index: int) -> bytes:
    """Return the name under which a response to an encoded index is remembered."""
    place = slot.to_bytes(2, "little") + index.to_bytes(4, "little")
    return hmac.digest(secret, b"sottovoce/memo/v1" + place, "sha256")


def _written(window: Window) -> tuple[float, str, int]:
    return float(window.seconds), repr(float(window.epsilon)), window.reports
