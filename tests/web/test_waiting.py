"""Waiting at the start of a server for a database that does not answer yet."""

import pytest

from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.web.waiting import when_available


class Clock:
    """Time passes only by waiting."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


def failing(times, error):
    """Return an action that fails so many times before it succeeds."""
    attempts = []

    def action():
        attempts.append(None)
        if len(attempts) <= times:
            raise error
        return len(attempts)

    return action


def waited(action, seconds, warned=lambda concern: None):
    clock = Clock()
    return when_available(action, seconds, warned, clock, clock.sleep), clock.time


def test_a_database_that_does_not_answer_is_waited_for():
    said = []
    attempts, seconds = waited(failing(5, UnavailableError("not there")), 60, said.append)
    assert (attempts, seconds) == (6, 2.5)
    assert said == ["not there; trying again for 60 seconds"]


def test_patience_ends():
    with pytest.raises(UnavailableError, match="not there"):
        waited(failing(1000, UnavailableError("not there")), 60)


def test_without_patience_the_first_failure_counts():
    with pytest.raises(UnavailableError, match="not there"):
        waited(failing(1, UnavailableError("not there")), 0)


def test_a_wrong_setting_is_not_waited_for():
    action = failing(1, ParameterError("wrong"))
    with pytest.raises(ParameterError, match="wrong"):
        waited(action, 60)
    assert action() == 2
