"""Several processes behind one port: they are started, restarted if they die, and stopped together.

All of them accept connections of one listening socket.  The unanswered requests of a process that
dies are lost, and clients send them again.
"""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

_log = logging.getLogger(__name__)
_SHORT_LIFE = 10.0  # seconds: a process that dies earlier is started again after a pause
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0

ServeDoor = Callable[[socket.socket, int], None]


def supervise(
    serve_door: ServeDoor, door: socket.socket, worker_count: int, grace_seconds: float
) -> None:
    """Keep so many processes running until a signal ends this one, and then end them.

    ``serve_door`` gets the listening socket and the number of the process, counted from 0.  It must
    be importable by a new interpreter.
    """
    workers = [_Worker(serve_door, door, number) for number in range(worker_count)]
    try:
        while True:
            wait([worker.process.sentinel for worker in workers], timeout=_FIRST_PAUSE)
            for worker in workers:
                worker.revive()
    finally:
        for worker in workers:
            worker.stop()
        deadline = time.monotonic() + grace_seconds
        for worker in workers:
            worker.end(deadline)


class _Worker:
    """One process, and when it may be started again."""

    def __init__(self, serve_door: ServeDoor, door: socket.socket, number: int) -> None:
        self._given = (serve_door, door, number)
        self._pause = _FIRST_PAUSE
        self._next_start = 0.0
        self._start()

    def _start(self) -> None:
        # Not a fork: this process may have threads, and locks that a copy of it would never get.
        context = multiprocessing.get_context("spawn")
        number = self._given[-1]
        self._started = time.monotonic()
        self.process: BaseProcess = context.Process(
            target=_run, args=self._given, name=f"door {number}"
        )
        self.process.start()
        self._noticed = False

    def revive(self) -> None:
        """Start the process again if it has died, after a pause if it did not live long."""
        if self.process.exitcode is None:
            return
        now = time.monotonic()
        if not self._noticed:
            self._noticed = True
            _log.warning("a worker at the door ended with code %s", self.process.exitcode)
            lived_long = now - self._started >= _SHORT_LIFE
            self._pause = _FIRST_PAUSE if lived_long else min(2 * self._pause, _LONGEST_PAUSE)
            self._next_start = now if lived_long else now + self._pause
        if now >= self._next_start:
            self._start()

    def stop(self) -> None:
        """Ask the process to finish what is under way."""
        if self.process.exitcode is None:
            self.process.terminate()

    def end(self, deadline: float) -> None:
        """Wait for the process, and end it at the deadline."""
        self.process.join(max(0.0, deadline - time.monotonic()))
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


def _run(serve_door: ServeDoor, door: socket.socket, number: int) -> None:
    end_with_parent()
    serve_door(door, number)


def end_with_parent() -> None:
    """End this process at once when its parent process is gone.

    Nothing is lost, because acknowledged messages are durable.
    """
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)
