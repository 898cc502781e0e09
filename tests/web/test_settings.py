"""Settings and rate limits: what an operator may choose, and what an address may ask."""

from pathlib import Path

import pytest

from collector.people import Clock
from sottovoce.errors import ParameterError
from sottovoce.web.limits import RateLimit
from sottovoce.web.settings import Settings, from_environment


def test_what_is_given_comes_before_the_environment_and_that_before_defaults():
    environment = {"SOTTOVOCE_DATA": "/there", "SOTTOVOCE_PORT": "81", "SOTTOVOCE_RATE": "7", "SOTTOVOCE_TICK": "0.25"}
    made = from_environment({"port": 80, "rate": None}, environment)
    assert made == Settings(Path("/there"), port=80, rate=7, tick=0.25)


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "many"), ("RATE", "1.5"), ("TICK", "soon"), ("PORT", "65536"), ("RATE", "-1"), ("TICK", "0")],
)
def test_an_environment_that_cannot_work_is_refused(name, value):
    with pytest.raises(ParameterError):
        from_environment({"data": Path()}, {f"SOTTOVOCE_{name}": value})


@pytest.mark.parametrize("wrong", [{"largest_body": 1023}, {"most_waiting": 0}, {"session": -1}, {"tick": -1.0}])
def test_a_setting_that_cannot_work_is_refused(wrong):
    with pytest.raises(ParameterError):
        Settings(Path(), **wrong)


def test_a_collector_needs_a_folder():
    with pytest.raises(ParameterError, match="folder"):
        from_environment({}, {})


def test_every_address_has_a_bucket_of_its_own_that_fills_with_time():
    clock = Clock()
    limit = RateLimit(2, clock)
    assert [limit.wait("a") for _ in range(4)] == [0.0] * 4
    assert limit.wait("a") == 0.5
    assert limit.wait("b") == 0.0
    clock.pass_(1)
    assert [limit.wait("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    clock.pass_(-100)
    assert limit.wait("a") == 0.5, "a clock that goes back fills nothing"


def test_no_rate_is_no_limit():
    limit = RateLimit(0, Clock())
    assert {limit.wait("a") for _ in range(1000)} == {0.0}


def test_addresses_are_kept_only_as_hashes_of_this_process():
    """Whatever a limit keeps, the address is not in it, and another process would keep something else."""
    clock, address = Clock(), "203.0.113.7"
    limit, other = RateLimit(2, clock), RateLimit(2, clock)
    for one in (limit, other):
        one.wait(address)
    kept, elsewhere = repr(vars(limit)), repr(vars(other))
    assert address not in kept
    assert kept != elsewhere
