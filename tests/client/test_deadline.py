"""One deadline for a whole exchange, whatever the server does with its time."""

import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from sottovoce.client.deadline import Deadline
from sottovoce.client.transport import CollectorApi, Receipt
from sottovoce.errors import SottovoceError, UnavailableError

TIMEOUT = 0.5  # seconds
TLS_TIMEOUT = 1.5  # time enough for a handshake on a busy machine
DRIP = 0.3  # seconds between bytes: a time limit for each of them would never be over
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"


@contextmanager
def dripping(beginning, drip):
    """Serve on a real socket: a beginning at once, then the same bytes every moment, for ever."""
    stopped = Event()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def serve():
            connection, _ = listening.accept()
            with connection:
                try:
                    connection.sendall(beginning)
                    while not stopped.wait(DRIP):
                        connection.sendall(drip)
                except OSError:  # the device has hung up
                    pass

        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        stopped.set()
        thread.join()


SLOW = {
    "no answer": (b"", b""),
    "a status line byte by byte": (b"", b"H"),
    "headers byte by byte": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "headers without end": (b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
    "interim answers without end": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a body byte by byte": (HEADERS, b" "),
    "chunks without end": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\n \r\n",
    ),
}


@pytest.mark.parametrize("kind", SLOW)
def test_an_exchange_is_over_at_its_deadline(kind):
    with dripping(*SLOW[kind]) as url:
        began = time.monotonic()
        with pytest.raises(UnavailableError, match="cannot be reached"):
            CollectorApi(url, timeout=TIMEOUT).round("pets")
        assert TIMEOUT - 0.1 <= time.monotonic() - began < TIMEOUT + 1.0


def test_a_server_that_does_not_read_holds_nobody():
    """The message does not fit into the buffers of the two machines."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(UnavailableError):
            CollectorApi(url, timeout=TIMEOUT).send("pets", [bytes(1 << 22)])
        assert time.monotonic() - began < TIMEOUT + 1.0


def test_a_tls_server_that_says_nothing_holds_nobody():
    with dripping(b"", b"") as url:
        began = time.monotonic()
        with pytest.raises(SottovoceError):
            CollectorApi(url.replace("http:", "https:"), timeout=TIMEOUT).round("pets")
        assert time.monotonic() - began < TIMEOUT + 1.0


def test_a_resolver_that_says_nothing_holds_nobody(monkeypatch):
    """The system's resolver may wait for minutes for a name server that does not answer."""
    plain, answered = socket.getaddrinfo, Event()

    def slow(*given):
        answered.wait(20 * TIMEOUT)
        return plain(*given)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    with pytest.raises(UnavailableError, match="cannot be reached"):
        CollectorApi("https://localhost", timeout=TIMEOUT).round("pets")
    assert TIMEOUT - 0.1 <= time.monotonic() - began < TIMEOUT + 1.0
    answered.set()


def test_a_name_without_an_address_is_out_of_reach():
    with pytest.raises(UnavailableError, match="cannot be reached"):
        CollectorApi("https://nobody.invalid", timeout=TLS_TIMEOUT).round("pets")


def test_nothing_is_left_after_the_deadline():
    assert 0 < Deadline(60.0).left() <= 60.0
    with pytest.raises(TimeoutError):
        Deadline(0.0).left()


@pytest.fixture
def secured(tmp_path, monkeypatch):
    """Serve HTTPS with a certificate that this process trusts: small answers, or slow ones."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    stopped = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = b'{"digest":"x","round":null,"state":"open"}'
            slow = "slow" in self.path
            self.send_response(200)
            self.send_header("Content-Length", "1000000" if slow else str(len(body)))
            self.end_headers()
            try:
                while slow and not stopped.wait(0.3):
                    self.wfile.write(b" ")
                self.wfile.write(body)
            except OSError:  # the device has hung up
                pass

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b'{"accepted":1,"duplicates":0,"refused":[]}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"https://localhost:{server.server_port}"
    stopped.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate with openssl")
def test_the_deadline_holds_under_tls_and_certificates_are_checked(secured, monkeypatch):
    api = CollectorApi(secured, timeout=TLS_TIMEOUT)
    assert api.round("pets") == ("open", None)
    assert api.send("pets", [bytes(200_000)]) == Receipt(1, 0)
    began = time.monotonic()
    with pytest.raises(UnavailableError):
        api.round("slow")
    assert TLS_TIMEOUT - 0.1 <= time.monotonic() - began < TLS_TIMEOUT + 1.0
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(UnavailableError) as refused:
        CollectorApi(secured, timeout=TLS_TIMEOUT).round("pets")
    assert isinstance(refused.value.__cause__, ssl.SSLCertVerificationError)
