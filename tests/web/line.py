"""A connection without a socket: the protocol of the server, and the other end of its wire."""

import asyncio
import time

import uvicorn
from uvicorn.server import ServerState

from sottovoce.web.connections import TimedProtocol, WaitingConnections


class Wire(asyncio.Transport):
    """The other end of a connection: it keeps what is written."""

    def __init__(self, peer="203.0.113.7"):
        super().__init__()
        self.peer, self.written, self.closed = peer, b"", False

    def get_extra_info(self, name, default=None):
        return {"peername": (self.peer, 5000), "sockname": ("127.0.0.1", 80)}.get(name, default)

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        """Nothing comes unless a test sends it."""

    resume_reading = pause_reading


class Line:
    """One connection to an application."""

    def __init__(self, app, route=None, **rest):
        config = uvicorn.Config(app, log_config=None, access_log=False)
        config.load()
        self.wire, self.state = Wire(**rest), ServerState()
        waiting = WaitingConnections(10.0, 100)
        route = app.door if route is None else route
        self.protocol = TimedProtocol(
            waiting, route, config=config, server_state=self.state, app_state={}
        )
        self.protocol.connection_made(self.wire)

    def send(self, data):
        """Send some bytes; returns whether a request among them goes through ASGI."""
        self.protocol.data_received(data)
        return bool(self.state.tasks)

    async def answers(self, count=1):
        """Wait for so many answers: their status, headers and content."""
        deadline = time.monotonic() + 20
        while len(found := split(self.wire.written)) < count:
            assert time.monotonic() < deadline, self.wire.written
            await asyncio.sleep(0.001)
        return found


def split(data):
    found = []
    while b"\r\n\r\n" in data:
        head, _, rest = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = int(headers["content-length"])
        if len(rest) < length:
            break
        found.append((int(first.split()[1]), headers, rest[:length]))
        data = rest[length:]
    return found
