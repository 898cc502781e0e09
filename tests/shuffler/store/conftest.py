"""Every store of a shuffler, one after another, each empty and of its own."""

from itertools import count

import pytest

from postgres_server import running
from shuffler.store.rounds import KEY_SET, SET_SIGNATURE, TASK, new_round, task
from sottovoce.shuffler.store.base import open_hop_store

_numbers = count()


@pytest.fixture(scope="session")
def postgres_server():
    with running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite://{tmp_path}/shuffler.db"
    return request.getfixturevalue("postgres_server").create(f"hop{next(_numbers)}")


@pytest.fixture
def store(url):
    opened = open_hop_store(url)
    yield opened
    opened.close()


@pytest.fixture
def open_round(store):
    """A store with one task and its first round, whose keys this hop has signed."""
    store.add_task(task())
    store.open_round(new_round())
    store.keep_key_set(TASK, 0, KEY_SET, SET_SIGNATURE)
    return store
