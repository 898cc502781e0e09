"""Everything that a collector loads sooner or later, for the process that collectors are forked
from.

A collector asks that process for workers, and may be killed while it asks.  Python's fork server
ends itself then, with every collector that it watches; here it goes on.
"""

import errno
import socket
from importlib import import_module
from multiprocessing import reduction

_recvfds = reduction.recvfds


def recvfds(sock: socket.socket, size: int) -> list[int]:
    """Receive descriptors; who is gone before they came counts as a connection that was aborted.

    The fork server passes over such connections.
    """
    try:
        return _recvfds(sock, size)
    except EOFError as error:
        raise ConnectionAbortedError(errno.ECONNABORTED, "nobody asks any more") from error


reduction.recvfds = recvfds

for name in (
    "duckdb",
    "numba",
    "psycopg",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.httptools_impl",
    "sottovoce.cli.serve",
    "sottovoce.collector.dashboard.pages",
    "sottovoce.collector.run",
    "system.hop_serving",
    "system.serving",
):
    import_module(name)
