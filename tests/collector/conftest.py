"""A collector over a folder of its own, under a clock that the test moves."""

import pytest

from collector.people import Clock
from collector.serving import served
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_store(tmp_path):
    """Open the store of the test's folder, as often as wanted, and close what is left open."""
    opened = []

    def opening(path=tmp_path, kind=SqliteStore, **options):
        opened.append(kind(path / "collector.db", **options))
        return opened[-1]

    yield opening
    for one in opened:
        one.close()


@pytest.fixture
def store(open_store):
    return open_store()


@pytest.fixture
def collector(store, tmp_path, clock):
    return Collector(store, tmp_path, clock)


@pytest.fixture
def site(store, tmp_path, clock):
    with served(store, tmp_path, clock) as site:
        yield site
