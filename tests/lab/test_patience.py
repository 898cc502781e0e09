"""Patience: it looks until it finds something, and no longer than it was told."""

from itertools import count

import pytest

from sottovoce.errors import UnavailableError
from sottovoce.lab.patience import Patience


class Hours:
    """A clock that goes on when somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def hours():
    return Hours()


@pytest.fixture
def patience(hours):
    return Patience(clock=lambda: hours.now, sleep=hours.sleep)


def test_it_returns_what_it_finds_at_once(patience, hours):
    assert patience.until(lambda: 0, "nothing came") == 0
    assert hours.now == 0


def test_a_busy_machine_has_ten_minutes(patience, hours):
    """One minute was not enough where kernels had to be compiled first."""
    found = patience.until(lambda: "late" if hours.now > 599 else None, "nothing came")
    assert found == "late"
    with pytest.raises(UnavailableError, match="nothing came"):
        patience.until(lambda: None, "nothing came")
    assert hours.now == pytest.approx(599 + 600, abs=1)


def test_an_error_ends_it(patience):
    looks = count()

    def look():
        if next(looks) == 2:
            raise UnavailableError("the collector ended")

    with pytest.raises(UnavailableError, match="the collector ended"):
        patience.until(look, "nothing came")
    assert next(looks) == 3
