"""A collector of its own for every test, and one real browser for all of them."""

import json
import os
import shutil
from collections.abc import Iterator

import pytest

from js.collector import ROOT, Collector
from js.node_worker import NodeWorker
from sottovoce.lab.browser import find

CHROMIUM = find() or ""
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture
def collector() -> Iterator[Collector]:
    task = json.loads((ROOT / "tests" / "golden" / "task_id.json").read_text("ascii"))["tasks"][0]
    made = Collector(task["content"], task["digest"])
    yield made
    made.stop()


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if not found:
        pytest.skip("node is not installed")
    return found


@pytest.fixture(scope="module")
def worker(node: str) -> Iterator[NodeWorker]:
    """One Node process for all tests of a module."""
    started = NodeWorker(node)
    yield started
    started.close()


@pytest.fixture(
    scope="module"
)  # no longer: while it lives, no other event loop can run in this thread
def browser():
    if not os.access(CHROMIUM, os.X_OK):
        pytest.skip("chromium is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def tabs(browser, collector):
    """Opens pages of one origin that share one storage, as the tabs of one person do."""
    context = browser.new_context()

    def tab():
        page = context.new_page()
        page.goto(f"{collector.url}/page")
        return page

    yield tab
    context.close()
