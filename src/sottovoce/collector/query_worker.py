"""A process that answers queries in SQL, and computes answers, for a server.

Started by ``query_workers``, with ``START``.

A query computes for as long as it takes, holds the reports of a round in memory, and cannot be
interrupted from within.  In a process of its own it takes no time from uploads (the process is
nice and leaves one core alone, before it loads anything), can be ended at any moment, and ends by
itself when its server is gone.

Server and process talk over one socket, whose number is the only argument.  Messages are pickled
and preceded by their length: first a ``Place``, then a ``ProcessOrder`` for every query and every
answer, which is answered by a result or an error.  Both ends are this package, started by the
same server.
"""

import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sottovoce.collector.queries import QueryRequest

if TYPE_CHECKING:
    from sottovoce.collector.collector import Collector
    from sottovoce.collector.resources import Resources
    from sottovoce.sql.query import Query

LENGTH = struct.Struct(">Q")
# Loading the package takes a second of the processor, so the process gives way before that: it
# becomes nice, and keeps off the first core where the system can do that and there are others.  A
# low priority alone is not enough: a server that is woken waits for milliseconds until the kernel
# takes a core away from a process that computes.
START = """
import os
os.nice(10)
others = sorted(os.sched_getaffinity(0))[1:] if hasattr(os, "sched_setaffinity") else []
if others:
    os.sched_setaffinity(0, others)
from sottovoce.collector.query_worker import main
main()
"""


@dataclass(frozen=True)
class Place:
    """Where the data of a collector are, and what a process may use for them."""

    folder: Path
    database: str
    resources: "Resources"


@dataclass(frozen=True)
class QueryOrder:
    """A query to a task; its answer comes as an object, or written as JSON.

    ``query`` is what the server has read the request as, so that it is not read again.
    """

    task: str
    request: QueryRequest
    query: "Query | None" = None
    as_json: bool = False

    def carried_out(self, collector: "Collector") -> Any:
        from sottovoce.collector.queries import answered
        from sottovoce.web.uploads import as_json

        answer = answered(collector, collector.find(self.task), self.request, self.query)
        # Writing a large answer would hold up the server for milliseconds.
        return as_json(answer.to_dict()) if self.as_json else answer


@dataclass(frozen=True)
class AnswerOrder:
    """The answer of a task, after the corrections that its alarms call for if it is defended.

    It comes as it is kept once reports are erased: the reports themselves stay in this process.
    """

    task: str
    defence: str = "none"

    def carried_out(self, collector: "Collector") -> Any:
        outcome = collector.answer(self.task, defence=self.defence)
        kept = outcome.kept()
        return outcome if kept is None else kept


class ProcessOrder(Protocol):
    """What a process can be asked to do."""

    def carried_out(self, collector: "Collector") -> Any:
        """Return the result."""


def packed(message: Any) -> bytes:
    """Return a message as it goes over the socket."""
    content = pickle.dumps(message)
    return LENGTH.pack(len(content)) + content


def serve(connection: socket.socket) -> None:
    """Answer queries until the server is gone."""
    from sottovoce.collector.collector import Collector
    from sottovoce.collector.store.base import open_store, store_url
    from sottovoce.web.settings import clock

    with connection.makefile("rwb") as stream:
        place: Place = _received(stream)
        store = open_store(store_url(place.folder, place.database))
        collector = Collector(store, place.folder, clock, place.resources)
        while (order := _received(stream)) is not None:
            stream.write(packed(_answered(collector, order)))
            stream.flush()


def _answered(collector: "Collector", order: ProcessOrder) -> Any:
    """Return the result of an order, or the error that it ends with."""
    import logging

    from sottovoce.errors import SottovoceError, UnavailableError

    try:
        collector.refresh()
        return order.carried_out(collector)
    except SottovoceError as error:
        return error
    except MemoryError:
        return UnavailableError("there is not enough memory for this query or answer")
    except Exception:
        logging.getLogger(__name__).exception("query")
        return SottovoceError("an error inside the collector")


def _received(stream: Any) -> Any:
    """Return the next message, or None when there will be no more."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return pickle.loads(stream.read(*LENGTH.unpack(head)))


def _end_with_server(connection: socket.socket) -> None:
    """End this process when the other end of the socket is closed, whatever it is doing."""
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    poll.poll()
    os._exit(0)


def main() -> None:
    """Serve the socket that the command line names."""
    from sottovoce.web import logs

    for number in (signal.SIGINT, signal.SIGTERM):  # the server decides when to stop
        signal.signal(number, signal.SIG_IGN)
    logs.configure()
    connection = socket.socket(fileno=int(sys.argv[1]))
    threading.Thread(target=_end_with_server, args=(connection,), daemon=True).start()
    serve(connection)
