"""``sottovoce serve`` with the plan of the tests, that can die at a named point of its own code.

Started as ``python -m system.serving '{"point": [name, n, counter], "twin": name}' serve ...``, or
forked from a process that has loaded everything already.  At a point the server and its worker get
SIGKILL, when they get there for the n-th time; the file ``counter`` counts for both.  A twin is a
collector with one mistake that the checks must find.  ``clock`` is a file with the seconds by which
the collector's clock is wrong.  ``memory`` is the most address space, in MiB, of the server and of
each worker; it can be raised later.
"""

import json
import os
import queue
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.cli.main import main
from sottovoce.collector import app, worker
from sottovoce.collector import run as run_module
from sottovoce.collector.run import serve_worker as plain_serve_worker
from sottovoce.collector.store import sqlite
from sottovoce.collector.store.base import Verdict
from system import orders as orders_module
from system.forking import ADDRESS, fork_workers
from system.orders import ORDERS, obey, work_as_ordered


def acknowledge_first() -> None:
    """Say that reports are durable, and store them half a second later."""
    waiting: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    plain = sqlite.SqliteStore.accept

    def accept_later(self: Any, offers: Any, refused: Any, now: int) -> list[list[Verdict]]:
        waiting.put((self, offers, refused, now))
        return [[Verdict.ACCEPTED] * len(offer) for offer in offers]

    def run() -> None:
        while True:
            arguments = waiting.get()
            time.sleep(0.5)
            plain(*arguments)

    sqlite.SqliteStore.accept = accept_later  # type: ignore[method-assign]
    threading.Thread(target=run, daemon=True).start()


def forget_ids() -> None:
    """Give every report a new id where the store looks for ids that it has seen."""
    plain = sqlite.SqliteStore.accept

    def accept(self: Any, offers: Any, refused: Any, now: int) -> Any:
        for offer in offers:
            fresh = np.frombuffer(os.urandom(offer.ids.size), np.uint8).reshape(offer.ids.shape)
            object.__setattr__(offer, "ids", fresh)
        return plain(self, offers, refused, now)

    sqlite.SqliteStore.accept = accept  # type: ignore[method-assign]


TWINS = {
    "acknowledges first": acknowledge_first,
    "forgets ids": forget_ids,
}


def run(orders: dict[str, Any], arguments: list[str]) -> None:
    """Serve as the orders say; ``arguments`` are those of the command line."""
    if orders.get("memory"):
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (orders["memory"] << 20, most))
    os.environ[ORDERS] = json.dumps(orders)
    # Workers load the main module of their server: not this one, of which they need nothing.
    sys.modules["__main__"] = orders_module
    worker.run = work_as_ordered
    run_module.serve_worker = serve_as_ordered
    order(orders)
    sys.argv = ["sottovoce", *arguments]
    main()


def order(orders: dict[str, Any]) -> None:
    """Let this process do what the orders say."""
    obey(orders)
    TWINS.get(orders.get("twin", ""), lambda: None)()
    if orders.get("clock"):
        set_clock(Path(orders["clock"]))


def serve_as_ordered(settings: Any, pages: Any, door: Any, number: int) -> None:
    """Serve as one of several workers at a door, which is forked or a new interpreter.

    The file that the orders name as ``doors`` gets the id of the process.
    """
    orders = json.loads(os.environ[ORDERS])
    worker.run = work_as_ordered
    order(orders)
    if ADDRESS in os.environ:
        fork_workers()
    with Path(orders["doors"]).open("a") as file:
        file.write(f"{os.getpid()}\n")
    plain_serve_worker(settings, pages, door, number)


def set_clock(error: Path) -> None:
    """Let the collector's clock be wrong by the seconds in a file."""
    app.create.__kwdefaults__["clock"] = lambda: time.time() + float(error.read_text())


def run_forked(
    orders: dict[str, Any], arguments: list[str], environment: dict[str, str], log: str, said: Any
) -> None:
    """Do the same in a process that was forked: with an environment, a log and a standard output of
    its own.
    """
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    os.dup2(said.fileno(), 1)
    said.close()
    if not orders.get("memory"):
        fork_workers()
    run(orders, arguments)


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), sys.argv[2:])
