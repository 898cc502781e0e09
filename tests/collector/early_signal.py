"""``python -m collector.early_signal FOLDER``: a collector that is told to stop while its event
loop starts.
"""

import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from starlette.routing import BaseRoute

from sottovoce.collector import run
from sottovoce.collector.api import Api
from sottovoce.web.settings import Settings

_socketpair = socket.socketpair


def stop_first(*arguments: int) -> tuple[socket.socket, socket.socket]:
    """Stand in for ``socket.socketpair``, with which the event loop prepares for signals."""
    os.kill(os.getpid(), signal.SIGTERM)
    return _socketpair(*arguments)


def pages(api: Api) -> Sequence[BaseRoute]:
    """Return no pages; this is called last before the event loop starts."""
    socket.socketpair = stop_first
    return ()


if __name__ == "__main__":
    run.serve(Settings(data=Path(sys.argv[1]), port=0), pages)
