"""``python -m web.supervise PORT``: two processes of ``web/doors.py`` behind one port."""

import signal
import socket
import sys

from sottovoce.web import logs
from sottovoce.web.supervisor import supervise
from web.doors import tell_process


def leave(*_: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    logs.configure()
    signal.signal(signal.SIGTERM, leave)
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listening:
        print(listening.getsockname()[1], flush=True)
        supervise(tell_process, listening, worker_count=2, grace_seconds=10.0)
