"""A load generator: many connections, each sending its next request after an answer.

As a device does, it waits and sends the same bytes again where a server is busy and says when.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import UnavailableError

_BREAK = b"\r\n\r\n"
_LENGTH = b"content-length: "
_WAIT = b"retry-after: "
_BUSY = (b"429", b"503")


@dataclass(frozen=True, eq=False)
class Load:
    """How long the requests took, all together and each."""

    seconds: float
    latencies: Floats

    def percentile(self, share: float) -> float:
        """Return the latency in seconds that this percentage of requests stays below."""
        return float(np.percentile(self.latencies, share))


def load(port: int, requests: Sequence[bytes], connections: int) -> Load:
    """Send requests to this machine and return how it went; in the end every one must succeed."""
    import uvloop

    return uvloop.run(_run(port, requests, connections))


def post(path: str, body: bytes, kind: str = "application/json") -> bytes:
    """Return a request as it goes over the wire."""
    fields = f"Host: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
    head = f"POST {path} HTTP/1.1\r\n{fields}\r\n\r\n"
    return head.encode() + body


async def _run(port: int, requests: Sequence[bytes], connections: int) -> Load:
    loop = asyncio.get_running_loop()
    waiting = iter(requests)
    latencies = np.zeros(len(requests))
    count = iter(range(len(requests)))
    started = time.perf_counter()
    lines = []
    try:
        for _ in range(min(connections, len(requests))):
            _, line = await loop.create_connection(
                lambda: _Line(waiting, count, latencies), "127.0.0.1", port
            )
            lines.append(line)
        await asyncio.gather(*(line.done for line in lines))
    finally:
        for line in lines:
            line.close()
        await asyncio.sleep(0)  # until they are closed: a loop with open connections does not end
    return Load(time.perf_counter() - started, latencies)


class _Line(asyncio.Protocol):
    """One connection."""

    def __init__(self, waiting: Iterator[bytes], count: Iterator[int], latencies: Floats) -> None:
        self._waiting, self._count, self._latencies = waiting, count, latencies
        self._got, self._sent, self._request = b"", 0.0, b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport  # uvloop's own class
        self._next()

    def _next(self) -> None:
        request = next(self._waiting, None)
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._request = request
        self._sent = time.perf_counter()
        self._send()

    def _send(self) -> None:
        self._got = b""
        if not self.done.done():
            self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, found, body = self._got.partition(_BREAK)
        if not found:
            return
        head = head.lower()
        if len(body) < _number(head, _LENGTH):
            return
        status = head.split(b" ", 2)[1]
        if status in _BUSY and _WAIT in head:
            asyncio.get_running_loop().call_later(_number(head, _WAIT), self._send)
            return
        if status != b"200":
            self._fail("a request under load was refused")
            return
        self._latencies[next(self._count)] = time.perf_counter() - self._sent
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("a connection under load was closed")

    def close(self) -> None:
        """Close the connection, whatever is under way."""
        if not self.done.done():
            self.done.cancel()
        self._transport.abort()

    def _fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(UnavailableError(reason))


def _number(head: bytes, name: bytes) -> int:
    """Return the number that a header has."""
    start = head.index(name) + len(name)
    return int(head[start:].split(b"\r")[0])
