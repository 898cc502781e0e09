"""Sending to the first hop: the request that devices make, and only a receipt counts."""

import json
import threading
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from collector.people import published
from collector.shuffled import base64url, fingerprint_of, shuffled
from sottovoce.collector.first_hop import FirstHop
from sottovoce.errors import CodecError, MismatchError, StateError, UnavailableError
from sottovoce.tasks.shuffle import Hop

KEPT = {"accepted": 1, "duplicates": 0, "refused": []}


@pytest.fixture
def hop():
    """A server that answers what a test says, and remembers what it got."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            self.server.got.append((self.path, json.loads(body)))
            content = self.server.says
            self.send_response(self.server.status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.got, server.status, server.says = [], 200, json.dumps(KEPT).encode()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def task_at(url):
    return shuffled(hops=(Hop(url, "C" * 42 + "A"),))


def test_a_message_goes_to_the_round_of_the_fingerprint(hop):
    task = task_at(f"http://127.0.0.1:{hop.server_port}/mix")
    FirstHop(published(task), 3).send(b"sealed")
    ((path, body),) = hop.got
    name = base64url(fingerprint_of(task))
    assert path == f"/mix/v1/tasks/{name}/rounds/3/messages"
    assert [b64decode(message) for message in body["reports"]] == [b"sealed"]


def test_a_relay_takes_the_place_of_the_hop(hop):
    task = task_at("http://127.0.0.1:9")
    FirstHop(published(task), 0, f"http://127.0.0.1:{hop.server_port}").send(b"sealed")
    assert len(hop.got) == 1
    with pytest.raises(UnavailableError, match="cannot be reached"):
        FirstHop(published(task), 0).send(b"sealed")


def refusing(code):
    return {**KEPT, "accepted": 0, "refused": [{"index": 0, "code": code, "retry": False}]}


@pytest.mark.parametrize(
    ("status", "says", "error"),
    [
        (200, {**KEPT, "accepted": 0, "duplicates": 1}, None),
        (429, {}, UnavailableError),
        (200, {}, CodecError),
        (200, [], CodecError),
        (200, refusing("too-early"), StateError),
        (200, refusing("too-late"), MismatchError),
        (200, {**KEPT, "accepted": 0}, CodecError),
    ],
)
def test_only_a_receipt_says_that_the_message_is_kept(hop, status, says, error):
    hop.status, hop.says = status, json.dumps(says).encode()
    door = FirstHop(published(task_at(f"http://127.0.0.1:{hop.server_port}")), 0)
    if error is None:
        door.send(b"sealed")
        return
    with pytest.raises(error):
        door.send(b"sealed")
