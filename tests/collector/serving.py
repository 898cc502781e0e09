"""The whole application in this process: a client for it, a clock, and a token of every scope."""

import asyncio
import base64
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.testclient import TestClient

from collector.people import Clock, text
from sottovoce.collector import access
from sottovoce.collector.app import create
from sottovoce.collector.store.base import Store
from sottovoce.web.settings import Settings

SCOPES = ("operator", "analyst", "enrolment", "session")


@dataclass
class Served:
    """A running application."""

    app: Any
    client: TestClient
    store: Store
    clock: Clock
    tokens: dict[str, str]

    @property
    def collector(self):
        return self.app.state.api.collector

    def bearing(self, scope):
        """The header of a token."""
        return {"authorization": f"Bearer {self.tokens[scope]}"}

    def publish(self, task):
        answer = self.client.post("/v1/tasks", content=text(task), headers=self.bearing("operator"))
        assert answer.status_code in (200, 201), answer.text
        return task

    def upload(self, name, messages, **rest):
        return self.client.post(f"/v1/tasks/{name}/reports", json=body(messages), **rest)

    def seal(self, name):
        """Close the open round and take the task as far as it goes."""
        self.collector.close(name, at_once=True)
        self.collector.advance()


def body(messages, **rest):
    return {"reports": [base64.b64encode(one).decode() for one in messages], **rest}


@contextmanager
def served(store, folder, clock, **options):
    """Serve a store; nothing happens by itself, a test says when to advance."""
    given = {"rate": 0, "tick": 3600.0} | options
    app = create(store, Settings(data=folder, **given), clock=clock)
    tokens = {scope: access.issue(store, scope, clock.now)[0] for scope in SCOPES}
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Served(app, client, store, clock, tokens)


def plain_call(app, method, path, headers, pieces):
    """Call the application as a server would, with headers that no honest client sends; returns
    status and body.
    """
    sent = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    sent += [{"type": "http.request", "body": b"", "more_body": False}]
    got = []

    async def receive():
        return sent.pop(0)

    async def send(message):
        got.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 5000),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(app(scope, receive, send))
    return got[0]["status"], b"".join(one.get("body", b"") for one in got[1:]), len(sent)
