"""Devices in a browser: a page in headless Chromium that answers with the JavaScript client."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from sottovoce.errors import MissingExtraError, UnavailableError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PAGE = Path(__file__).with_suffix(".html")
_QUIET = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
_PATIENCE = 60  # seconds


def find() -> str | None:
    """Return the browser of this machine, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def flags(profile: str) -> list[str]:
    """Return the flags of a quiet browser without a window, which keeps its files in a folder."""
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()  # it does not work for root
    return [*_QUIET, *sandbox, f"--user-data-dir={profile}"]


def answer(collector: str, task: str, people: Sequence[Mapping[str, Any]]) -> int:
    """Let people answer a task in a web page; return how many messages the collector accepted."""
    browser = find()
    if browser is None:
        raise MissingExtraError("Chromium is not installed")
    with _Host(people) as host, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        query = urlencode({"collector": collector, "task": task})
        address = f"http://127.0.0.1:{host.server_port}/?{query}"
        command = [browser, *flags(profile), address]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                if not host.finished.wait(_PATIENCE):
                    raise UnavailableError("the page in the browser did not finish in time")
            finally:
                process.kill()
    return int(host.result.get("accepted", 0))


class _Host(ThreadingHTTPServer):
    """A server for the page and its people, to which the page reports its result."""

    def __init__(self, people: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.people = json.dumps(list(people)).encode()
        self.finished = threading.Event()
        self.result: dict[str, Any] = {}

    def __enter__(self) -> "_Host":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Host

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        body, kind = (
            (_PAGE.read_bytes(), "text/html")
            if path == "/"
            else (self.server.people, "application/json")
        )
        self._reply(200 if path in ("/", "/people.json") else 404, body, kind)

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        self.server.result |= json.loads(self.rfile.read(length))
        self._reply(200, b"{}", "application/json")
        self.server.finished.set()

    def _reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
