"""The work of a task in a process of its own, so that its death is an error and not the end.

Sealing a round, asking a plan and erasing reports use as much memory as an operator has set.  If
there is less, the libraries below do not always raise an error: an allocator may end the process
with signal 11 or 6, and the kernel with signal 9.  A server must survive that, go on taking
reports, and say what is wrong.

``Workers`` starts a new interpreter for each piece of work and waits for it.  The process opens the
store by itself and holds the lease of its task, so that a process whose server was killed and one
of the next server never write at the same time.  It ends soon after its server.  After a failure
the next attempt waits twice as long as the one before, up to half a minute.
"""

import errno
import logging
import multiprocessing
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from sottovoce.collector.collector import Collector
from sottovoce.collector.resources import LOCAL, Resources
from sottovoce.collector.store.base import open_store, store_url
from sottovoce.engine.parquet import NOT_ENOUGH_MEMORY
from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.web import logs
from sottovoce.web.supervisor import end_with_parent

_LONGEST_WAIT = 30.0  # seconds between two attempts
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Order:
    """The work of one task, at a time in whole seconds, over a folder and a store."""

    folder: Path
    database: str
    digest: str
    now: int
    resources: Resources = LOCAL


@dataclass(frozen=True)
class _Failed:
    """How often the work of a task has failed in a row, and when it may be tried again."""

    times: int
    next_attempt: float


class Workers:
    """Do the work of tasks, one process after another; ``resources`` are those of each."""

    def __init__(
        self,
        folder: Path,
        database: str,
        tick: float,
        monotonic: Callable[[], float] = time.monotonic,
        resources: Resources = LOCAL,
    ) -> None:
        self._folder, self._database = folder, database
        self._tick, self._monotonic = tick, monotonic
        self._resources = resources
        self._failed: dict[str, _Failed] = {}

    def __call__(self, digest: str, now: int, meanwhile: Callable[[], None]) -> bool:
        """Do the work of a task; return whether anything moved.

        ``meanwhile`` is called at every tick while the process works.  An error of the work is
        raised here.  A process that died is an ``UnavailableError``.
        """
        failed = self._failed.get(digest, _Failed(0, 0.0))
        if failed.times and self._monotonic() < failed.next_attempt:
            return False
        order = Order(self._folder, self._database, digest, now, self._resources)
        try:
            moved = self._moved(order, meanwhile)
        except Exception:
            wait = min(self._tick * 2**failed.times, _LONGEST_WAIT)
            self._failed[digest] = _Failed(min(failed.times + 1, 20), self._monotonic() + wait)
            raise
        self._failed.pop(digest, None)
        return moved

    def _moved(self, order: Order, meanwhile: Callable[[], None]) -> bool:
        """Run an order in a process of its own."""
        # Not a fork: this process has threads, and locks that a copy of it would never get.
        context = multiprocessing.get_context("spawn")
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=run, args=(order, sending), name="worker")
        try:
            process.start()
        except OSError as error:
            raise UnavailableError(
                "a process for the work of a task cannot be started now"
            ) from error
        finally:
            sending.close()
        try:
            while not receiving.poll(self._tick):
                meanwhile()
            result = receiving.recv()
        except EOFError:
            result = None
        finally:
            receiving.close()
            process.join()
        if isinstance(result, SottovoceError):
            raise result
        if result is None:
            raise _death(process.exitcode or 0)
        return bool(result)


def run(order: Order, answer: Connection) -> None:
    """Do the work of an order in this process, and send what became of it."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the server decides when to stop
        signal.signal(number, signal.SIG_IGN)
    end_with_parent()
    with suppress(OSError):  # the kernel should end this process first, not the server
        Path("/proc/self/oom_score_adj").write_text("1000")
    logs.configure()
    result = _result(order)
    with suppress(BrokenPipeError):  # the server has died meanwhile
        answer.send(result)


def _result(order: Order) -> bool | SottovoceError:
    """Return whether the work of an order moved anything, or what is wrong."""
    try:
        return _work(order)
    except MemoryError:
        return _no_memory()
    except SottovoceError as error:
        _log.warning("worker", exc_info=True)
        return error
    except (ImportError, SystemError):  # of a compiled library that does not fit into memory
        _log.exception("worker")
        return UnavailableError("a library of the collector is missing or does not fit in memory")
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return _no_memory()
        _log.exception("worker")
        # Its own words may quote anything, and it may not survive the way to the server.
        name = type(error).__name__
        return UnavailableError(
            f"an unexpected error ({name}); the log of the collector shows where"
        )


def _no_memory() -> UnavailableError:
    """Return the error of work that needs more memory, and log where that was."""
    _log.error("worker: %s", NOT_ENOUGH_MEMORY, exc_info=True)
    return UnavailableError(NOT_ENOUGH_MEMORY)


def _work(order: Order) -> bool:
    store = open_store(store_url(order.folder, order.database))
    try:
        collector = Collector(store, order.folder, lambda: order.now, order.resources)
        return collector.work(order.digest)
    finally:
        store.close()


def _death(code: int) -> UnavailableError:
    """Return the error of a process that ended without an answer."""
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    _log.warning("a worker %s", how)
    # Python itself ends with 1 after an error; anything else came from a library or the kernel.
    reason = ": the log of the collector shows why"
    if code != 1:
        reason = f", probably because {NOT_ENOUGH_MEMORY}"
    return UnavailableError(f"the process for the work of this task {how}{reason}")
