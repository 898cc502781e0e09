"""The database server of these tests: one for every process that runs them, so that it may be
killed too.
"""

import pytest

from postgres_server import running


@pytest.fixture(scope="session")
def database_server():
    with running() as server:
        yield server
