"""A background thread repeats its action, and tells of what failed."""

import threading

from sottovoce.errors import UnavailableError
from sottovoce.web.background import Background


def test_what_fails_is_told_and_tried_again():
    done, failures, errors = threading.Event(), [], [UnavailableError("full"), KeyError("x")]

    def act():
        if errors:
            raise errors.pop(0)
        done.set()

    background = Background("test", act, 0.001, failures.append)
    background.start()
    done.wait()
    background.stop()
    assert failures == ["UnavailableError", "KeyError"]


def test_a_thread_that_is_stopped_does_nothing_more():
    calls = []
    background = Background("test", lambda: calls.append(1), 3600.0, lambda name: None)
    background.start()
    background.stop()
    count = len(calls)
    assert count <= 1
