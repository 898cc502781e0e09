"""A small collector over real HTTP, which also serves the built files and the golden ones to
pages.
"""

import base64
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients" / "js"
SERVED = {"clients/js/dist", "clients/js/support", "tests/golden"}
TYPES = {".js": "text/javascript", ".json": "application/json"}


@dataclass(frozen=True)
class Request:
    """What a server sees of a request."""

    method: str
    path: str
    headers: dict[str, str]
    length: int


@dataclass(frozen=True)
class Answer:
    """What a server answers: a status, a body and further headers."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, content: object) -> "Answer":
        return cls(200, json.dumps(content).encode())


class Case:
    """A document that a folder of the server publishes, and how it answers those who ask.

    ``reply`` says what becomes of a message: it is accepted or refused, the server is busy, or it
    sends the device elsewhere.
    """

    def __init__(self, text: str, digest: str, asked: object, reply: str = "accepts") -> None:
        self.text, self.digest, self.asked, self.reply = text, digest, asked, reply

    def get(self, path: str) -> Answer:
        if not path.endswith("/round"):
            return Answer(200, self.text.encode())
        return Answer.of({"digest": self.digest, "state": "open", "round": self.asked})

    def post(self, path: str, content: bytes) -> Answer:
        if self.reply == "busy":
            return Answer(503, headers={"Retry-After": "7"})
        if self.reply == "elsewhere":
            return Answer(302, headers={"Location": "http://elsewhere.example/"})
        if self.reply == "refuses":
            refused = [{"index": 0, "code": "too-late", "retry": False}]
            return Answer.of({"accepted": 0, "duplicates": 0, "refused": refused})
        return Answer.of({"accepted": 1, "duplicates": 0, "refused": []})


class Collector:
    """Publishes one task and records the messages that are posted; can be stopped and started on
    its port.
    """

    def __init__(self, document: dict, digest: str) -> None:
        self.document, self.digest = document, digest
        self.posts: list[bytes] = []
        self.asked: list[dict[str, str]] = []
        self.requests: list[Request] = []
        self.cases: dict[str, Case] = {}  # by folder
        self.last_case: Case | None = None  # also that of sealed messages, which name no folder
        self.port = 0
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        handler = type("Handler", (_Handler,), {"collector": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    collector: Collector

    def _note(self, length: int) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.collector.requests.append(Request(self.command, self.path, headers, length))

    def do_GET(self) -> None:
        self._note(0)
        path = unquote(self.path).lstrip("/")
        if path.startswith("cases/"):
            return self._answer(self._case(path).get(path))
        if path.startswith("time/"):  # of the clock of a page, before each of its requests
            return self._say(b"", "text/plain")
        if path == "page":
            return self._say(b"<!doctype html><title>test</title>", "text/html")
        if any(path.startswith(f"{folder}/") for folder in SERVED) and ".." not in path:
            return self._say((ROOT / path).read_bytes(), TYPES[Path(path).suffix])
        if path == "v1/tasks/browser":
            return self._say(
                json.dumps(self.collector.document).encode(),
                "application/json",
                self.collector.digest,
            )
        if path == "v1/tasks/browser/round":
            now = {
                "digest": self.collector.digest,
                "state": "open",
                "round": self.collector.document["opening"],
            }
            return self._say(json.dumps(now).encode(), "application/json")
        return self.send_error(404)

    def _case(self, path: str) -> Case:
        """Return the case of a folder: cases/<folder>/v1/tasks/<name>."""
        if path.startswith("cases/"):
            self.collector.last_case = self.collector.cases[path.split("/", 2)[1]]
        assert self.collector.last_case is not None
        return self.collector.last_case

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self._note(len(content))
        path = unquote(self.path).lstrip("/")
        if path.startswith(("cases/", "hop/")):
            self._answer(self._case(path).post(path, content))
            return
        body = json.loads(content)
        self.collector.asked.append({name.lower(): value for name, value in self.headers.items()})
        (message,) = (base64.b64decode(report, validate=True) for report in body["reports"])
        again = message in self.collector.posts
        self.collector.posts.append(message)
        self._say(
            json.dumps(
                {"accepted": int(not again), "duplicates": int(again), "refused": []}
            ).encode(),
            "application/json",
        )

    def _answer(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def _say(self, body: bytes, kind: str, tag: str | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if tag:
            self.send_header("ETag", f'"{tag}"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
