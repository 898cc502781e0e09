"""A collector's folder for the commands: a task file, a task with reports, and its answer."""

import json

from collector.people import counting, numbered, text
from collector.sending import send
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.web.settings import clock

TOML = """
name = "browser"
epsilon = 2.0

[plan]
kind = "histogram"
domain = ["chrome", "firefox", "safari"]

[collection]
minimum = 20
grace = 0
"""


def collected(folder, name="count", values=range(8), **settings):
    """Publish a counting task in a folder and send it reports of these values."""
    folder.mkdir(parents=True, exist_ok=True)
    store = SqliteStore(folder / "collector.db")
    collector, task = Collector(store, folder, clock), counting(name, size=8, **settings)
    collector.create(text(task), toml=False)
    assert set(send(collector, name, numbered(task, *values))) == {"accepted"}
    store.close()
    return task


def said(result):
    """The one JSON document on the standard output."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
