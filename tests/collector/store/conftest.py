"""Every store of the suite, one after another, each empty and of its own."""

import pytest

from collector.store.offers import task
from collector.store.places import PLACES
from postgres_server import running
from sottovoce.collector.store import id_runs


@pytest.fixture(autouse=True)
def _few_ids_in_memory(monkeypatch):
    """Merge after every few ids what else is merged after many."""
    monkeypatch.setattr(id_runs, "RECENT_IDS", 8)


@pytest.fixture(scope="session")
def postgres_server():
    with running() as server:
        yield server


@pytest.fixture(params=sorted(PLACES))
def place(request, tmp_path):
    """Where a store is, as text that another process can open it by."""
    return PLACES[request.param](request, tmp_path)


@pytest.fixture
def open_store(place):
    """Open the same store again and again, and close what is left open."""
    opened = []

    def opening():
        opened.append(place.open())
        return opened[-1]

    yield opening
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store):
    return open_store()


@pytest.fixture
def round_open(store):
    """A store with one task and its first round."""
    store.publish(task(), "opening")
    return store
