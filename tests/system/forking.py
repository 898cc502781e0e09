"""Workers of a forked server, forked from the process that the server itself was forked from.

A collector starts a new interpreter for every piece of work, which loads what the process behind
the forked servers of these tests has loaded already.  Here that process forks a worker too.  The
worker gets the environment, the standard output and the log of its server, as a new interpreter
would.  Servers that are ``fresh``, those under a limit of memory, and the tests of
``collector/worker.py`` start workers as the product does.
"""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

from sottovoce.collector import worker
from sottovoce.web import supervisor

ADDRESS = "SYSTEM_TEST_FORKS"  # the variable that names the socket of the process that forks

_OUTPUTS = (1, 2)


def address() -> dict[str, str]:
    """Return the variable for a server that is forked from here."""
    return {ADDRESS: str(vars(forkserver._forkserver)["_forkserver_address"])}


def fork_workers() -> None:
    """Let the collector in this process fork its workers.

    A child of a fork server can use it as well; Python hands on everything but its address.
    """
    vars(forkserver._forkserver).update(
        _forkserver_address=os.environ[ADDRESS], ensure_running=lambda: None
    )
    worker.multiprocessing = _Forking()  # type: ignore[assignment]
    supervisor.multiprocessing = _Forking()  # type: ignore[assignment]


class _Forking:
    """Stands for the module ``multiprocessing`` in a collector, and for one of its contexts."""

    parent_process = staticmethod(multiprocessing.parent_process)

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self.Pipe = self._context.Pipe

    def get_context(self, method: str) -> "_Forking":
        assert method == "spawn", method
        return self

    def Process(self, target: Callable[..., None], args: tuple[Any, ...], name: str) -> Any:
        outputs = [Connection(os.dup(number), readable=False) for number in _OUTPUTS]
        given = (dict(os.environ), outputs, target, args)
        return self._context.Process(target=_run, args=given, name=name)


def _run(
    environment: dict[str, str],
    outputs: list[Connection],
    target: Callable[..., None],
    args: tuple[Any, ...],
) -> None:
    """Do the work in the surroundings of the server."""
    os.environ.clear()
    os.environ.update(environment)
    for number, output in zip(_OUTPUTS, outputs, strict=True):
        os.dup2(output.fileno(), number)
        output.close()
    target(*args)
