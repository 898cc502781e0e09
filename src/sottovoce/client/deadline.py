"""Sockets with one deadline for everything: finding the address, connecting, the handshake, sending
and receiving.

The time limit of an ordinary socket begins anew with every byte that arrives, so that a server
which sends one byte a second holds a device for ever.  Here every operation gets what is left until
the deadline.  The system's resolver takes no time limit: it is asked in a thread, which is left
behind if it is late.
"""

import socket
import ssl
import time
from concurrent.futures import Future
from http.client import HTTPConnection
from threading import Thread
from typing import Any


class Deadline:
    """A moment, so many seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left; raises ``TimeoutError`` if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


class DeadlineConnection(HTTPConnection):
    """An HTTP connection that is over at its deadline, with TLS if there is a ``context``."""

    def __init__(
        self, host: str, port: int | None, deadline: Deadline, context: ssl.SSLContext | None
    ) -> None:
        super().__init__(host, port or (80 if context is None else 443))
        self._deadline = deadline
        self._context = context

    def connect(self) -> None:
        plain = _connected(self.host, self.port, self._deadline)
        if self._context is None:
            self.sock = plain
            return
        plain.settimeout(self._deadline.left())  # the handshake as a whole keeps to it
        self._context.sslsocket_class = _TlsSocket
        secured = self._context.wrap_socket(plain, server_hostname=self.host)
        assert isinstance(secured, _TlsSocket)
        secured.deadline = self._deadline
        self.sock = secured


class _PlainSocket(socket.socket):
    deadline: Deadline

    def recv_into(self, *arguments: Any) -> int:
        self.settimeout(self.deadline.left())
        return super().recv_into(*arguments)

    def sendall(self, *arguments: Any) -> None:
        self.settimeout(self.deadline.left())  # for all of it together
        super().sendall(*arguments)


class _TlsSocket(ssl.SSLSocket):
    deadline: Deadline

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        self.settimeout(self.deadline.left())
        return super().recv_into(*arguments, **options)

    def send(self, *arguments: Any) -> int:  # what ``sendall`` is made of
        self.settimeout(self.deadline.left())
        return super().send(*arguments)


def _connected(host: str, port: int, deadline: Deadline) -> _PlainSocket:
    """Return a socket that is connected to the first address of a host that answers."""
    failure: OSError = OSError("the host has no address")
    for family, kind, protocol, _, address in _addresses(host, port, deadline):
        opened = _PlainSocket(family, kind, protocol)
        opened.deadline = deadline
        try:
            opened.settimeout(deadline.left())
            opened.connect(address)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return opened
        except OSError as error:
            failure = error
            opened.close()
    raise failure


def _addresses(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Return what ``socket.getaddrinfo`` says of a host, if it does so before the deadline."""
    found: Future[list[Any]] = Future()

    def resolve() -> None:
        try:
            found.set_result(socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM))
        except Exception as error:
            found.set_exception(error)

    Thread(target=resolve, name="resolver", daemon=True).start()
    return found.result(deadline.left())  # raises ``TimeoutError`` at the deadline
