"""A small collector over real sockets: it keeps what it gets, and answers what a test tells it
to.
"""

import json
import socket
from base64 import b64decode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote

from sottovoce.wire import codec

PROBLEM = {"Content-Type": "application/problem+json"}


class Collecting:
    """Tasks, the round that is asked, and every request; ``scripted`` answers come before the
    proper ones.
    """

    def __init__(self, *tasks):
        self.documents = {task.name: codec.document(task) for task in tasks}
        self.rounds = {task.name: codec.document(task.opening) for task in tasks}
        self.state = "open"
        self.scripted = []
        self.requests = []
        self.bodies = []
        self.messages = []
        self.refusal = None

    def ask(self, name, asked):
        self.rounds[name] = codec.document(asked)

    def get(self, path, headers):
        _, _, _, name, *rest = path.split("/")
        document = self.documents[unquote(name)]
        digest = codec.digest(document)
        if not rest:
            return self._unless_known(headers, digest, codec.canonical(document).encode())
        asked = {"digest": digest, "state": self.state, "round": self.rounds[unquote(name)]}
        body = codec.canonical(asked).encode()
        return self._unless_known(headers, codec.digest(asked), body)

    def post(self, body):
        content = json.loads(body)
        self.bodies.append(content)
        if self.refusal:
            return (
                200,
                {},
                json.dumps({"accepted": 0, "duplicates": 0, "refused": [self.refusal]}).encode(),
            )
        sent = [b64decode(report, validate=True) for report in content["reports"]]
        new = [message for message in sent if message not in self.messages]
        self.messages += new
        said = {"accepted": len(new), "duplicates": len(sent) - len(new), "refused": []}
        return 200, {}, json.dumps(said).encode()

    def _unless_known(self, headers, tag, body):
        if headers.get("If-None-Match") == f'"{tag}"':
            return 304, {}, b""
        return 200, {"ETag": f'"{tag}"'}, body


@contextmanager
def serving(collecting, port=0):
    """Serve on this machine while the block lasts; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._reply(lambda: collecting.get(self.path, self.headers))

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(lambda: collecting.post(body))

        def _reply(self, proper):
            collecting.requests.append((self.command, self.path, dict(self.headers)))
            status, headers, body = collecting.scripted.pop(0) if collecting.scripted else proper()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def free_port():
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
