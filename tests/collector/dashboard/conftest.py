"""One collector with a task of every kind for tests that only look, and a fresh one for those that
change things.
"""

import pytest

from collector.dashboard.collecting import place
from collector.dashboard.kinds import EMPTY, HOSTILE, MEMBERS, VALUES


@pytest.fixture(scope="session")
def seen(tmp_path_factory):
    """A collector in which every kind of task has been answered, with somebody logged in."""
    with place(tmp_path_factory.mktemp("seen")) as made:
        made.publish(EMPTY)
        for task, values in VALUES.items():
            made.publish(task)
            if task is not HOSTILE:
                made.hear(task, values, MEMBERS.get(task, ()))
                made.close(task)
        made.send("pets", [b"nothing", b"like a report"])
        made.enter()
        yield made


@pytest.fixture
def fresh(tmp_path):
    """A collector without tasks and without anybody."""
    with place(tmp_path) as made:
        yield made
