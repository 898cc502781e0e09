"""``sottovoce serve`` of a shuffled task, which can die at a named point while it takes and opens a
batch, or have one mistake that the checks must find.

The orders are those of ``orders.py``, with other points and twins; workers get them too.
"""

import json
import os
import sys
from dataclasses import replace

import numpy as np

from sottovoce.cli.main import main
from sottovoce.collector import batches, issuing, key_exchange, worker
from sottovoce.collector.store import postgres, shuffle_sql, sql, sqlite
from sottovoce.engine import files, parquet
from system import orders as orders_module
from system.forking import fork_workers
from system.orders import ORDERS, arm

_STORES = (sqlite.SqliteStore, postgres.PostgresStore)
_MODULES = (sqlite, postgres)

# Where a process can die: in what, at which of its functions, before or after the call.
POINTS = {
    "key: not stored": ((key_exchange,), "add_hop_key", "before"),
    "key: stored": ((key_exchange,), "add_hop_key", "after"),
    "take: part not stored": ((batches,), "receive", "before"),
    "take: part stored, not acknowledged": ((batches,), "receive", "after"),
    "take: batch complete": ((shuffle_sql.ShuffleSqlStore,), "complete_batch", "after"),
    "open: nothing stored": (_STORES, "accept", "before"),
    "open: before it commits": (_MODULES, "note_part", "after"),
    "open: part stored and erased": (_STORES, "accept", "after"),
    "close: all parts opened": ((shuffle_sql.ShuffleSqlStore,), "close_batch", "before"),
    "close: key erased": ((shuffle_sql.ShuffleSqlStore,), "close_batch", "after"),
    "seal: nothing written": ((parquet,), "write", "before"),
    "seal: log has no name yet": ((files,), "sync", "before"),
    "seal: before it commits": ((sql,), "forget_batch", "after"),
    "seal: committed": (_STORES, "seal", "after"),
    "finish: nothing stored": ((sql.SqlStore,), "finish", "before"),
    "finish: stored": ((sql.SqlStore,), "finish", "after"),
}
TOKEN_POINTS = {
    "token: not signed": ((issuing,), "sign_for_hop", "before"),
    "token: signed, not answered": ((issuing,), "sign_for_hop", "after"),
}
ALL_POINTS = POINTS | TOKEN_POINTS


def erase_parts_first() -> None:
    """Erase the bytes of a part, and store its reports in another transaction afterwards."""
    plain = {store: store.accept for store in _STORES}

    def accept(self, offers, refused, now, opened=None):
        proper = plain[type(self)]
        proper(self, [], {}, now, opened)
        return proper(self, offers, refused, now)

    for store in _STORES:
        store.accept = accept


def open_twice() -> None:
    """Count every part of a batch twice, under other report ids and without its tokens."""
    plain = {store: store.accept for store in _STORES}

    def accept(self, offers, refused, now, opened=None):
        again = [replace(offer, ids=_random_rows(offer.ids), claims=None) for offer in offers]
        plain[type(self)](self, again, {}, now)
        return plain[type(self)](self, offers, refused, now, opened)

    for store in _STORES:
        store.accept = accept


def _random_rows(rows):
    return np.frombuffer(os.urandom(rows.size), np.uint8).reshape(rows.shape)


TWINS = {
    "erases parts first": erase_parts_first,
    "opens twice": open_twice,
}


def obey(orders) -> None:
    """Make the collector in this process what the orders say."""
    TWINS.get(orders.get("twin", ""), lambda: None)()
    if orders.get("point"):
        arm(*orders["point"], ALL_POINTS)


def run(orders, arguments) -> None:
    """Serve as the orders say; ``arguments`` are those of the command line."""
    os.environ[ORDERS] = json.dumps(orders)
    # Workers load the main module of their server: not this one, of which they need nothing.
    sys.modules["__main__"] = orders_module
    worker.run = work_as_ordered
    obey(orders)
    sys.argv = ["sottovoce", *arguments]
    main()


def run_forked(orders, arguments, environment, log, said) -> None:
    """Do the same in a process that was forked: with an environment, a log and an output."""
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    os.dup2(said.fileno(), 1)
    said.close()
    fork_workers()
    run(orders, arguments)


def work_as_ordered(order, answer) -> None:
    """Do the work of an order in a worker of a server with orders."""
    obey(json.loads(os.environ[ORDERS]))
    _run(order, answer)


_run = worker.run
