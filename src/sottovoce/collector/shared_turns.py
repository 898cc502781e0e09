"""Turns for queries that several workers at one door share, in files of the data folder.

Each worker has a queue of its own (``query_queue.py``), which lets one query of each token through.
Such a query takes a ticket: a file whose name has the time from which it waits and its token.  The
oldest ticket whose token does not run gets the next free turn, whichever worker it belongs to.
When a turn ends the other tickets of its token go behind all others.

A process holds a lock on each of its tickets, which the kernel lets go if the process dies: a
ticket that anybody can lock is removed.
"""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

from sottovoce.collector.query_queue import QueryQueue

_POLL_SECONDS = 0.05
_WAITS, _RUNS = "waits", "runs"
_LOCK = "lock"


class _Name(NamedTuple):
    """What the name of a ticket says; names sort by state, and then by time."""

    state: str
    since: str
    number: str
    token: str

    @classmethod
    def of(cls, file_name: str) -> "_Name":
        return cls(*file_name.split("-"))

    @property
    def file_name(self) -> str:
        return "-".join(self)


@dataclass(frozen=True)
class SharedTurns:
    """The turns of all workers: at most ``max_running`` queries at once, one of each token.

    ``own`` is the queue of this worker.
    """

    folder: Path
    max_running: int
    own: QueryQueue
    clock: Callable[[], int] = time.monotonic_ns  # the same for all processes of a machine
    _counter: Iterator[int] = field(default_factory=count)

    @asynccontextmanager
    async def turn(self, token: str) -> AsyncIterator[None]:
        """Wait for the turn of a token, and hold it."""
        async with self.own.turn(token):
            with self._ticket(token) as number:
                while not self._may_run(number):
                    await asyncio.sleep(_POLL_SECONDS)
                yield

    @contextmanager
    def _ticket(self, token: str) -> Iterator[str]:
        """Hold a ticket, and return its number."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        since = self._now()
        number = (
            f"{os.getpid()}.{next(self._counter)}.{since}"  # processes may get the id of old ones
        )
        name = _Name(_WAITS, since, number, token)
        with self._alone():
            descriptor = os.open(self.folder / name.file_name, os.O_CREAT | os.O_WRONLY, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield number
        finally:
            with suppress(OSError), self._alone():
                self._remove(number)
            # Now nobody holds a ticket that could not be removed: whoever looks next removes it.
            os.close(descriptor)

    def _may_run(self, number: str) -> bool:
        """Return whether it is the turn of a ticket, and note that it runs."""
        with self._alone():
            names = self._names()
            running = [name for name in names if name.state == _RUNS and self._is_alive(name)]
            if len(running) >= self.max_running:
                return False
            busy = {name.token for name in running}
            for name in names:
                if name.state == _RUNS or name.token in busy:
                    continue
                if name.number == number:
                    self._rename(name, name._replace(state=_RUNS))
                    return True
                if self._is_alive(name):
                    return False  # it is the turn of another one
        return False

    def _remove(self, number: str) -> None:
        """Remove a ticket; if it ran, the others of its token go behind all others."""
        names = self._names()
        mine = next((name for name in names if name.number == number), None)
        if mine is None:
            return  # somebody has cleared the folder
        (self.folder / mine.file_name).unlink()
        for name in names:
            if mine.state == _RUNS and name.state == _WAITS and name.token == mine.token:
                self._rename(name, name._replace(since=self._now()))

    def _names(self) -> list[_Name]:
        return sorted(_Name.of(path.name) for path in self.folder.iterdir() if path.name != _LOCK)

    def _is_alive(self, name: _Name) -> bool:
        """Return whether a process holds a ticket; one that nobody holds is removed."""
        path = self.folder / name.file_name
        descriptor = os.open(path, os.O_WRONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        with suppress(FileNotFoundError):
            path.unlink()
        return False

    def _rename(self, name: _Name, new: _Name) -> None:
        (self.folder / name.file_name).rename(self.folder / new.file_name)

    def _now(self) -> str:
        return f"{self.clock():020d}"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Look at the tickets while no other process does."""
        descriptor = os.open(self.folder / _LOCK, os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
