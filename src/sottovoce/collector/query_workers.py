"""Queries in SQL and large answers in processes of their own: started when needed, ended in time.

A query that takes longer than allowed, whose client has gone or whose server stops is ended with
its process.  A process that was not needed for a while is ended too, because it holds reports.
An answer may take as long as it needs: it is computed once, and kept.
"""

import asyncio
import pickle
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.answers.outcome import Outcome
from sottovoce.collector.queries import QueryRequest, Released
from sottovoce.collector.query_worker import (
    LENGTH,
    START,
    AnswerOrder,
    Place,
    ProcessOrder,
    QueryOrder,
    packed,
)
from sottovoce.collector.resources import LOCAL, Resources
from sottovoce.errors import SottovoceError, UnavailableError
from sottovoce.plans.tables.result import Explanation
from sottovoce.sql.query import Query
from sottovoce.web.problems import RequestError

IDLE_SECONDS = 300.0


class QueryWorkers:
    """The processes of one server; ``seconds`` is how long a query may run.

    ``resources`` are those of each process.
    """

    def __init__(
        self, folder: Path, database: str, seconds: float, resources: Resources = LOCAL
    ) -> None:
        self._place = Place(folder, database, resources)
        self._seconds = seconds
        self._idle: dict[_Worker, asyncio.TimerHandle] = {}
        self._busy: set[_Worker] = set()

    async def answer(
        self, task: str, request: QueryRequest, query: Query | None = None
    ) -> Released | Explanation:
        """Return the answer to a query, or how it would be answered.

        ``query`` is what the request was read as, if it has been read.
        """
        order = QueryOrder(task, request, query)
        answer: Released | Explanation = await self._result(order, self._seconds)
        return answer

    async def answer_json(
        self, task: str, request: QueryRequest, query: Query | None = None
    ) -> bytes:
        """Return the same as JSON."""
        order = QueryOrder(task, request, query, as_json=True)
        text: bytes = await self._result(order, self._seconds)
        return text

    async def outcome(self, task: str, defence: str) -> Outcome:
        """Return the answer of a task as it can be kept, however long it takes."""
        outcome: Outcome = await self._result(AnswerOrder(task, defence), None)
        return outcome

    async def _result(self, order: ProcessOrder, seconds: float | None) -> Any:
        """Return what a process makes of an order, within so many seconds if they are given."""
        worker = await self._worker()
        self._busy.add(worker)
        try:
            async with asyncio.timeout(seconds):
                result = await worker.ask(order)
        except TimeoutError:
            worker.end()
            raise RequestError("query-timeout", f"a query may take {seconds:g} seconds") from None
        except (OSError, EOFError):
            worker.end()
            raise UnavailableError(
                "the process for queries and answers ended, probably for want of memory"
            ) from None
        except BaseException:  # nobody waits for the answer any more
            worker.end()
            raise
        finally:
            self._busy.discard(worker)
        self._rest(worker)
        if isinstance(result, SottovoceError):
            raise result
        return result

    def stop(self) -> None:
        """End all processes, whatever they are doing."""
        for timer in self._idle.values():
            timer.cancel()
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle.clear()

    async def _worker(self) -> "_Worker":
        while self._idle:
            worker, timer = self._idle.popitem()
            timer.cancel()
            if worker.alive:
                return worker
            worker.end()
        return await _Worker.start(self._place)

    def _rest(self, worker: "_Worker") -> None:
        loop = asyncio.get_running_loop()
        self._idle[worker] = loop.call_later(IDLE_SECONDS, self._forget, worker)

    def _forget(self, worker: "_Worker") -> None:
        if self._idle.pop(worker, None) is not None:
            worker.end()


@dataclass(frozen=True, eq=False)
class _Worker:
    """One process and the stream to it."""

    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def start(cls, place: Place) -> "_Worker":
        ours, theirs = socket.socketpair()
        starting = _Starting(theirs)
        try:
            # In a thread: on a busy machine it takes long until the new process runs, and the
            # event loop would wait for that with all uploads.
            process = await asyncio.to_thread(starting.start)
            reader, writer = await asyncio.open_connection(sock=ours)
        except OSError as error:
            ours.close()
            starting.give_up()
            raise UnavailableError("a process for queries cannot be started now") from error
        except BaseException:  # a process that is started all the same ends without this socket
            ours.close()
            starting.give_up()
            raise
        writer.write(packed(place))
        return cls(process, reader, writer)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    async def ask(self, order: ProcessOrder) -> Any:
        self.writer.write(packed(order))
        await self.writer.drain()
        (length,) = LENGTH.unpack(await self.reader.readexactly(LENGTH.size))
        return pickle.loads(await self.reader.readexactly(length))

    def end(self) -> None:
        """End the process at once; another thread waits until it is gone."""
        with suppress(OSError):
            self.process.kill()
        _reap(self.process)
        self.writer.close()


class _Starting:
    """A process that is being started, which nobody may wait for any more."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._started: list[subprocess.Popen[bytes]] = []
        self._is_given_up = False

    def start(self) -> "subprocess.Popen[bytes]":
        process = _start_process(self._connection)
        self._started.append(process)
        if self._is_given_up:
            _reap(process)
        return process

    def give_up(self) -> None:
        """Wait in another thread for the end of the process, whenever it starts."""
        self._is_given_up = True
        for process in self._started:
            _reap(process)


def _reap(process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process is gone, in another thread."""
    threading.Thread(target=process.wait, daemon=True).start()


def _start_process(connection: socket.socket) -> "subprocess.Popen[bytes]":
    """Start a process that serves one end of a socket, which this process then closes."""
    handle = connection.fileno()
    with connection:
        return subprocess.Popen(
            [sys.executable, "-c", START, str(handle)],
            pass_fds=[handle],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
