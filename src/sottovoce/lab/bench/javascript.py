"""One answer on a device that runs JavaScript: the same mechanisms in Node and in Chromium.

``clients/js/support/speed.js`` measures in both.  It is part of a checkout, not of the installed
package; where it, Node or the browser is missing, there are no rows.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

from sottovoce.lab import browser
from sottovoce.mechanisms.base import Mechanism
from sottovoce.wire import codec

_PACKAGE = Path(__file__).parents[4] / "clients" / "js"
_WORKER = Path("support") / "worker.js"
_PATIENCE = 120  # seconds


@dataclass(frozen=True)
class SpeedCase:
    """A mechanism, and how many answers are measured at a time."""

    mechanism: Mechanism
    answers: int

    @property
    def given(self) -> dict[str, str | int]:
        """Return the case as JavaScript takes it."""
        document = codec.canonical(codec.document(self.mechanism))
        return {"document": document, "answers": self.answers}


def microseconds(cases: Sequence[SpeedCase]) -> dict[str, list[float]]:
    """Return the microseconds of one answer, case by case, for every platform that is here."""
    if not (_PACKAGE / _WORKER).exists():
        return {}
    given = [case.given for case in cases]
    node = shutil.which("node")
    chromium = browser.find()
    platforms = {}
    if node:
        platforms["Node"] = _in_node(node, given)
    if chromium:
        platforms["Chromium"] = _in_chromium(chromium, given)
    return platforms


def _in_node(node: str, given: list[dict[str, str | int]]) -> list[float]:
    job = json.dumps({"job": "microseconds", "given": given})
    done = subprocess.run(
        [node, str(_WORKER)], cwd=_PACKAGE, input=job, capture_output=True, text=True, check=True
    )
    times: list[float] = json.loads(done.stdout)["result"]
    return times


def _in_chromium(chromium: str, given: list[dict[str, str | int]]) -> list[float]:
    """Open the page, whose body is the answer once it has loaded."""
    query = urlencode({"cases": json.dumps(given)})
    with _serving() as port, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        address = f"http://127.0.0.1:{port}/support/speed.html?{query}"
        command = [chromium, *browser.flags(profile), "--dump-dom", address]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=True
        )
    body = re.search(r"<body>(.*?)</body>", done.stdout, re.DOTALL)
    times: list[float] = json.loads(unescape(body[1]) if body else "")
    return times


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def _serving() -> Iterator[int]:
    """Serve the package to pages of this machine; yield the port."""
    handler = partial(_Quiet, directory=os.fspath(_PACKAGE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
