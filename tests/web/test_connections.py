"""Connections that send no request: closed at a deadline, while others are served."""

import socket
import time
from contextlib import contextmanager

import pytest

from collector.people import counting, text
from collector.running import client, running
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.web.connections import MAX_HEADER_BYTES

SECONDS = 0.5
START = b"GET /healthz HTTP/1.1\r\nhost: a\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connections")
    store = SqliteStore(folder / "collector.db")
    Collector(store, folder, time.time).create(text(counting()), toml=False)
    store.close()
    with running(
        folder,
        SOTTOVOCE_HEADER_SECONDS=str(SECONDS),
        SOTTOVOCE_BODY_SECONDS=str(SECONDS),
        SOTTOVOCE_HEALTH_RATE="0",
    ) as made:
        yield made


@contextmanager
def connected(server):
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        yield connection


def answer(connection):
    """What the server says to a probe."""
    said = b""
    while not said.endswith(b"alive\n"):
        said += connection.recv(65536)
    return said


def said_until_closed(connection):
    """What the server says, and after how many seconds it closes the connection."""
    started, said = time.monotonic(), b""
    try:
        while piece := connection.recv(65536):
            said += piece
    except ConnectionResetError:
        pass
    return said, time.monotonic() - started


@pytest.mark.parametrize("sent", [b"", b"G", START, b"\r\n"])
def test_headers_that_do_not_come_close_the_connection(server, sent):
    with connected(server) as connection:
        connection.sendall(sent)
        said, seconds = said_until_closed(connection)
    assert said == b""
    assert SECONDS / 2 < seconds < 10 * SECONDS


def sends_until_closed(connection, piece, pause=SECONDS / 20, most=20 * SECONDS):
    """How many seconds the server lets somebody send the same piece again and again."""
    started = time.monotonic()
    while time.monotonic() - started < most:
        try:
            connection.sendall(piece)
        except OSError:
            break
        time.sleep(pause)
    return time.monotonic() - started


def test_headers_that_trickle_do_not_prolong_the_deadline(server):
    with connected(server) as connection:
        assert sends_until_closed(connection, b"x") < 10 * SECONDS


def test_a_second_request_on_a_connection_has_a_deadline_too(server):
    with connected(server) as connection:
        connection.sendall(START + b"\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 200 ")
        connection.sendall(START)
        said, seconds = said_until_closed(connection)
    assert said == b""
    assert seconds < 8 * SECONDS, "sooner than an idle connection is closed"


def test_empty_lines_do_not_keep_a_connection_open(server):
    with connected(server) as connection:
        connection.sendall(START + b"\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 200 ")
        assert sends_until_closed(connection, b"\r\n") < 10 * SECONDS


def test_headers_without_an_end_are_cut_before_their_deadline(server):
    with connected(server) as connection:
        connection.sendall(START)
        line = b"x-long: %s\r\n" % (b"a" * MAX_HEADER_BYTES)
        assert sends_until_closed(connection, line, pause=0.01) < SECONDS / 2


def test_a_body_that_does_not_come_is_refused_and_the_connection_closed(server):
    with connected(server) as connection:
        head = b"POST /v1/tasks/count/reports HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{"
        connection.sendall(head)
        said, seconds = said_until_closed(connection)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in said
    assert b'"code":"too-slow"' in said
    assert SECONDS / 2 < seconds < 10 * SECONDS


def test_a_long_body_that_nobody_wants_ends_the_connection(server):
    with connected(server) as connection:
        connection.sendall(b"POST /nowhere HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n{")
        said, _ = said_until_closed(connection)
    assert said.startswith(b"HTTP/1.1 404 ")
    assert b"connection: close" in said


def test_others_are_served_meanwhile(server):
    with connected(server) as first, connected(server) as second, client(server) as people:
        first.sendall(START)
        second.sendall(b"POST /v1/tasks/count/reports HTTP/1.1\r\ncontent-length: 9\r\n\r\n")
        assert people.get("/healthz").status_code == 200
        assert people.get("/v1/tasks").status_code == 200
