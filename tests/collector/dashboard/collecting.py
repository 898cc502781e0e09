"""A collector with its dashboard: a real store, real devices, and a clock that is moved by hand."""

import base64
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from collector.dashboard.reading import Element, read
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.collector import access
from sottovoce.collector.app import create
from sottovoce.collector.dashboard.pages import routes
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.tasks.task import Task
from sottovoce.web.settings import Settings
from sottovoce.wire import codec

NOW = 1_790_000_000
ORIGIN = {"origin": "http://testserver"}


class Place:
    """The collector, and a browser in front of it."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.now = float(NOW)
        self.store = SqliteStore(folder / "collector.db")
        self.settings = Settings(folder, **{"rate": 0, "tick": 3600.0, **settings})
        self.app = create(self.store, self.settings, clock=lambda: self.now, pages=routes)
        self.api = self.app.state.api
        self.browser = TestClient(self.app, follow_redirects=False, headers={"accept": "text/html"})

    def publish(self, task: Task) -> Task:
        """Publish a task."""
        self.api.collector.create(codec.canonical(codec.document(task)), toml=False)
        return task

    def hear(self, task: Task, values: Iterable[Any], members: Iterable[int] = ()) -> None:
        """Let one device answer for every value; with ``members`` those whose coins picked them."""
        pairs = zip_longest(values, members)
        self.send(task.name, [message(task, value, member) for value, member in pairs])

    def send(self, name: str, messages: list[bytes]) -> None:
        """Send messages to a task."""
        reports = [base64.b64encode(message).decode() for message in messages]
        path = f"/v1/tasks/{quote(name, safe='')}/reports"
        assert self.browser.post(path, json={"reports": reports}).status_code == 200
        self.api.collector.refresh()

    def close(self, task: Task) -> None:
        """Close the open round and let the plan go on."""
        self.api.collector.close(task.name, at_once=True)
        self.api.collector.advance()

    def token(self, scope: str = access.ANALYST, **rest: Any) -> str:
        """Return a new token."""
        return access.issue(self.store, scope, int(self.now), **rest)[0]

    def enter(self, token: str | None = None, target: str = "/") -> Any:
        """Log in."""
        form = {"token": self.token() if token is None else token, "next": target}
        return self.browser.post("/login", data=form, headers=ORIGIN)

    def wear(self, session: str) -> None:
        """Put a session into the browser, instead of its own."""
        self.browser.cookies.clear()
        self.browser.cookies.set("session", session)

    def page(self, path: str, status: int = 200) -> Element:
        """Return a page as a tree."""
        response = self.browser.get(path)
        assert response.status_code == status, response.text
        return read(response.text)


def message(task: Task, value: Any, member: int | None = None) -> bytes:
    """Return what a device sends, if need be one whose coin picked this member."""
    while True:
        with closing(DiskLedger(":memory:")) as ledger:
            made = Client(task, ledger).answer(value)
        if member is None or int.from_bytes(made[8:12], "little") == member:
            return made


@contextmanager
def place(folder: Path, **settings: Any) -> Iterator[Place]:
    """Run a collector."""
    made = Place(folder, **settings)
    with made.browser:
        yield made
    made.store.close()
