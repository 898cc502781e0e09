"""The load generator sends again what a busy server turns away, and nothing else."""

import socketserver
import threading

import pytest

from sottovoce.errors import UnavailableError
from sottovoce.lab.bench.load import load, post

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
BUSY = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 4\r\n\r\nbusy"
DOWN = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
NEVER = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"
BROKEN = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"


class Server(socketserver.ThreadingTCPServer):
    """A server that gives every request the next of some answers, and the last one for ever."""

    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.received = list(answers), []
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(socketserver.StreamRequestHandler):
    """One connection: requests with bodies of four bytes."""

    def handle(self):
        while head := self.rfile.readline():
            while not head.endswith(b"\r\n\r\n"):
                head += self.rfile.readline()
            self.server.received.append(head + self.rfile.read(4))
            answers = self.server.answers
            self.wfile.write(answers.pop(0) if len(answers) > 1 else answers[0])


@pytest.fixture
def serving():
    servers = []

    def serve(*answers):
        servers.append(Server(answers))
        return servers[-1]

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_request_is_sent_again_where_the_server_is_busy(serving):
    server = serving(OK, BUSY, DOWN, OK)
    sent = [post("/reports", b"%04d" % index) for index in range(3)]
    taken = load(server.port, sent, 1)
    assert server.received == [sent[0], sent[1], sent[1], sent[1], sent[2]]
    assert len(taken.latencies) == 3
    assert (taken.latencies > 0).all()


@pytest.mark.parametrize("answer", [NEVER, BROKEN])
def test_what_is_refused_for_good_ends_the_load(serving, answer):
    with pytest.raises(UnavailableError, match="refused"):
        load(serving(OK, answer).port, [post("/reports", b"0000")] * 3, 2)
